"""The buyer's cart, the same on every device (contract section 11)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from orders.dependencies import Dependencies
from orders.queries.carts import find_cart
from orders.responses.carts import Cart
from orders.schemas.carts import SetCartItemRequest
from orders.use_cases.carts.remove_cart_item import remove_cart_item as remove
from orders.use_cases.carts.set_cart_item import set_cart_item as replace

endpoint = Endpoints("carts")

CART: Final = "/api/carts/current"
ONE_ITEM: Final = f"{CART}/items/{{product_id}}"


@endpoint("GET", CART, id="carts.get", returns=Cart, allow=permission("orders:place"))
async def get_cart(request: Request, caller: CurrentCaller) -> Response:
    """Return the caller's cart with current prices. Stock is reserved at checkout only."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        cart = await find_cart(uow, caller.id, now=dependencies.clock.now())
    return ok(request, cart)


@endpoint("PUT", ONE_ITEM, id="carts.setItem", returns=Cart, allow=permission("orders:place"))
async def set_cart_item(
    request: Request, caller: CurrentCaller, product_id: UUID, body: SetCartItemRequest
) -> Response:
    """Add a product, or one of its variants, to the cart or change its quantity, and reset `priceChanged`."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await replace(uow, caller, product_id, body.variant_id, body.quantity, now=now)
        cart = await find_cart(uow, caller.id, now=now)
    return ok(request, cart)


@endpoint("DELETE", ONE_ITEM, id="carts.removeItem", returns=Cart, allow=permission("orders:place"))
async def remove_cart_item(
    request: Request,
    caller: CurrentCaller,
    product_id: UUID,
    variant_id: Annotated[
        UUID | None, Query(alias="variantId", description="Only this variant of the product.")
    ] = None,
) -> Response:
    """Remove a product from the cart, or only one of its variants. A product that is not in the cart changes
    nothing.
    """
    return await _remove(request, caller, product_id, variant_id)


@endpoint("DELETE", CART, id="carts.clear", returns=Cart, allow=permission("orders:place"))
async def clear_cart(request: Request, caller: CurrentCaller) -> Response:
    """Remove all lines from the caller's cart."""
    return await _remove(request, caller, None)


async def _remove(
    request: Request, caller: CurrentCaller, product_id: UUID | None, variant_id: UUID | None = None
) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await remove(uow, caller, product_id, variant_id)
        cart = await find_cart(uow, caller.id, now=dependencies.clock.now())
    return ok(request, cart)
