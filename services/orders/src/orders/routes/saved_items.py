"""Saved products and followed vendors of the caller (contract section 11.7)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import RequestedPage, respond_page
from common.web.schemas import EmptyRequest
from orders.dependencies import Dependencies
from orders.queries.saved_items import (
    find_followed_vendor,
    find_saved_product,
    page_of_followed_vendors,
    page_of_saved_products,
)
from orders.responses.saved_items import FollowedVendor, SavedProduct
from orders.use_cases.saved_items.follow_vendor import follow_vendor as follow
from orders.use_cases.saved_items.remove_saved_product import remove_saved_product as remove
from orders.use_cases.saved_items.save_product import save_product as save
from orders.use_cases.saved_items.unfollow_vendor import unfollow_vendor as unfollow

endpoint = Endpoints("products")

SAVED: Final = "/api/saved-products"
FOLLOWED: Final = "/api/followed-vendors"
# A body may be absent, and is an empty object; null is refused.
_NOTHING: Final = EmptyRequest()
ONE_SAVED: Final = f"{SAVED}/{{product_id}}"
ONE_FOLLOWED: Final = f"{FOLLOWED}/{{vendor_id}}"


@endpoint("GET", SAVED, id="savedProducts.list", returns=list[SavedProduct], allow=permission("orders:place"))
async def list_saved_products(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """Return the saved products, the last saved first; `product` is as in the catalog."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_saved_products(
            uow,
            requested,
            caller.id,
            now=dependencies.clock.now(),
            media_url=dependencies.media_url,
        )
    return respond_page(request, page)


@endpoint("PUT", ONE_SAVED, id="savedProducts.save", returns=SavedProduct, allow=permission("orders:place"))
async def save_product(
    request: Request, caller: CurrentCaller, product_id: UUID, body: EmptyRequest = _NOTHING
) -> Response:
    """Save a product: the caller is notified once it is back in stock or its price drops. Again: no effect."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await save(uow, caller, product_id, now=now)
        saved = await find_saved_product(uow, caller.id, product_id, now=now, media_url=dependencies.media_url)
    return ok(request, or_not_found(saved))


@endpoint("DELETE", ONE_SAVED, id="savedProducts.remove", status=204, allow=permission("orders:place"))
async def remove_saved_product(request: Request, caller: CurrentCaller, product_id: UUID) -> Response:
    """Remove a saved product. A product that is not saved changes nothing."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await remove(uow, caller, product_id)
    return Response(status_code=204)


@endpoint("GET", FOLLOWED, id="followedVendors.list", returns=list[FollowedVendor], allow=permission("orders:place"))
async def list_followed_vendors(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """Return the followed vendors, the last followed first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_followed_vendors(uow, requested, caller.id)
    return respond_page(request, page)


@endpoint("PUT", ONE_FOLLOWED, id="followedVendors.follow", returns=FollowedVendor, allow=permission("orders:place"))
async def follow_vendor(
    request: Request, caller: CurrentCaller, vendor_id: UUID, body: EmptyRequest = _NOTHING
) -> Response:
    """Follow a vendor. Again: no effect."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await follow(uow, caller, vendor_id, now=dependencies.clock.now())
        followed = await find_followed_vendor(uow, caller.id, vendor_id)
    return ok(request, or_not_found(followed))


@endpoint("DELETE", ONE_FOLLOWED, id="followedVendors.unfollow", status=204, allow=permission("orders:place"))
async def unfollow_vendor(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    """Unfollow a vendor. A vendor that is not followed changes nothing."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await unfollow(uow, caller, vendor_id)
    return Response(status_code=204)
