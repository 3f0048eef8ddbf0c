"""The cart: kept here, so that it is the same on every device (contract section 11)."""

from typing import TYPE_CHECKING, Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.answers import answers
from common.http import CurrentCaller, dependencies_of, guarded_router, ok, requires
from orders.queries.carts import cart_of
from orders.schemas.carts import CartAnswer, CartItemRequest
from orders.use_cases.put_in_cart import put_in_cart
from orders.use_cases.take_from_cart import take_from_cart

if TYPE_CHECKING:
    from orders.app import Dependencies

router = guarded_router(tags=["carts"])

CART: Final = "/api/carts/current"
ONE_ITEM: Final = f"{CART}/items/{{product_id}}"


@router.get(CART, responses=answers(CartAnswer, 403))
@requires("orders:place")
async def show_cart(request: Request, caller: CurrentCaller) -> Response:
    """The caller's cart, each line as its product is sold now. Nothing is reserved before checkout."""
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        cart = await cart_of(uow, caller.id, now=dependencies.clock.now())
    return ok(request, cart)


@router.put(ONE_ITEM, responses=answers(CartAnswer, 403, 404, 409, 422))
@requires("orders:place")
async def put_item(request: Request, caller: CurrentCaller, product_id: UUID, body: CartItemRequest) -> Response:
    """Puts so many of a product in the cart, or changes how many. `priceChanged` is false again: the price was seen."""
    dependencies: Dependencies = dependencies_of(request)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await put_in_cart(uow, caller, product_id, body.quantity, now=now)
        cart = await cart_of(uow, caller.id, now=now)
    return ok(request, cart)


@router.delete(ONE_ITEM, responses=answers(CartAnswer, 403))
@requires("orders:place")
async def remove_item(request: Request, caller: CurrentCaller, product_id: UUID) -> Response:
    """Takes a product out of the cart; one that is not in it changes nothing."""
    return await _taken(request, caller, product_id)


@router.delete(CART, responses=answers(CartAnswer, 403))
@requires("orders:place")
async def empty_cart(request: Request, caller: CurrentCaller) -> Response:
    return await _taken(request, caller, None)


async def _taken(request: Request, caller: CurrentCaller, product_id: UUID | None) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await take_from_cart(uow, caller, product_id)
        cart = await cart_of(uow, caller.id, now=dependencies.clock.now())
    return ok(request, cart)
