"""Takedowns of products by the admin of their campus (contract section 11.11)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import one_of, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import RequestedPage, respond_page
from orders.dependencies import Dependencies
from orders.queries.takedowns import find_takedown, page_of_takedowns
from orders.responses.takedowns import ProductTakedown
from orders.routes.order_filters import given_filters
from orders.schemas.takedowns import DelistProductRequest, RestoreProductRequest
from orders.use_cases.takedowns.delist_product import delist_product as delist
from orders.use_cases.takedowns.restore_listing import restore_listing

endpoint = Endpoints("product takedowns")

TAKEDOWNS: Final = "/api/product-takedowns"


@endpoint(
    "GET",
    TAKEDOWNS,
    id="productTakedowns.list",
    returns=list[ProductTakedown],
    allow=one_of("listings:delist", "reports:read"),
)
async def list_product_takedowns(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    product_id: Annotated[UUID | None, Query(alias="productId")] = None,
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    is_open: Annotated[
        bool | None, Query(alias="open", description="Only those that are not restored, or only restored ones.")
    ] = None,
) -> Response:
    """Return the takedowns, newest first: of the own campus for a campus admin, all for support and auditors."""
    dependencies = dependencies_of(request, Dependencies)
    filters = given_filters(productId=product_id, vendorId=vendor_id, open=is_open)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_takedowns(uow, requested, caller, filters)
    return respond_page(request, page)


@endpoint(
    "POST",
    "/api/products/{product_id}/delist",
    id="products.delist",
    returns=ProductTakedown,
    status=201,
    allow=permission("listings:delist"),
)
async def delist_product(
    request: Request, caller: CurrentCaller, product_id: UUID, body: DelistProductRequest
) -> Response:
    """Hide a product of the own campus from buyers, with a reason for its vendor. Open orders go on."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        takedown_id = await delist(uow, caller, product_id, body.reason, now=now)
        takedown = await find_takedown(uow, takedown_id)
    return ok(request, or_not_found(takedown), status=201)


@endpoint(
    "POST",
    f"{TAKEDOWNS}/{{takedown_id}}/restore",
    id="productTakedowns.restore",
    returns=ProductTakedown,
    allow=permission("listings:delist"),
)
async def restore_product_takedown(
    request: Request, caller: CurrentCaller, takedown_id: UUID, body: RestoreProductRequest
) -> Response:
    """End a takedown of the own campus. The product stays hidden where a decision on a report hides it."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await restore_listing(uow, caller, takedown_id, body.reason, now=now)
        takedown = await find_takedown(uow, takedown_id)
    return ok(request, or_not_found(takedown))
