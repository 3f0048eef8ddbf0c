"""Shared steps of endpoints: a checkout, the roles of the caller, and a command on an order under the caller's
roles.
"""

from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import ValidationFailed
from common.web.http import dependencies_of, ok, or_not_found
from common.web.response_models import ResponseModel
from orders.dependencies import Dependencies
from orders.domain.checkouts import Checkout, CheckoutRules, Placement
from orders.domain.errors import DeliveryPinInvalid
from orders.domain.order_roles import OrderRole
from orders.domain.quotes import RequestedItem
from orders.domain.refund_destinations import RefundTo, check_destination
from orders.queries.orders import find_order
from orders.schemas.orders import CheckoutRequest
from orders.schemas.purchases import PurchaseRequest
from orders.use_cases.carts.check_out_cart import check_out_cart
from orders.use_cases.delivery.verify_delivery import PinAttempt, verify_delivery
from orders.use_cases.orders.find_order_roles import find_order_roles
from orders.use_cases.orders.place_orders import place_orders
from orders.use_cases.purchase_drafts.check_out_purchase_draft import check_out_purchase_draft


def requested_lines(body: CheckoutRequest | PurchaseRequest) -> list[RequestedItem]:
    """Return the lines of the request, none for a cart. Raises ValidationFailed unless it has either items or a
    cart.
    """
    if (body.items is None) == (body.cart_id is None):
        raise ValidationFailed.of("items", "send either items or cartId")
    return [RequestedItem(line.product_id, line.quantity, line.variant_id, line.offer_id) for line in body.items or ()]


async def place(
    dependencies: Dependencies, uow: UnitOfWork, caller: Caller, checkout: Checkout, key: UUID
) -> Placement | UUID:
    """Check out the cart, the draft or the items of the request."""
    run = check_out_cart if checkout.cart else check_out_purchase_draft if checkout.draft else place_orders
    return await run(
        uow,
        caller,
        checkout,
        key=key,
        now=dependencies.clock.now(),
        rules=CheckoutRules(dependencies.windows, dependencies.unpaid_limits, dependencies.cells),
    )


async def roles_in_order(request: Request, caller: Caller, order_id: UUID) -> frozenset[OrderRole]:
    """Return the caller's roles, read under the caller's row policies. Raises NotFound for an absent or invisible
    order.
    """
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    return await find_order_roles(reads, caller, order_id)


async def buyers_destination(
    request: Request, caller: Caller, order_id: UUID, refund_to: RefundTo | None
) -> frozenset[OrderRole]:
    """Return the caller's roles in the order. Raises NotFound, and the errors of `check_destination`."""
    roles = await roles_in_order(request, caller, order_id)
    is_enabled = dependencies_of(request, Dependencies).balance_refunds_enabled
    check_destination(refund_to, roles, is_enabled=is_enabled)
    return roles


async def order_after(
    request: Request, caller: Caller, order_id: UUID, command: Callable[[UnitOfWork], Awaitable[object]]
) -> Response:
    """Run the command in a transaction of the service, and respond with the order as the caller sees it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await command(uow)
        order = await find_order(uow, order_id, caller, dependencies.contacts)
    return ok(request, or_not_found(order))


async def order_after_pin(
    request: Request,
    attempt: PinAttempt,
    roles: frozenset[OrderRole],
    find: Callable[[UnitOfWork], Awaitable[ResponseModel | None]],
) -> Response:
    """Verify the PIN, and respond with the order as `find` reads it in the same transaction. Raises the errors of
    `verify_delivery`, and DeliveryPinInvalid (400).
    """
    dependencies = dependencies_of(request, Dependencies)
    now, windows = dependencies.clock.now(), dependencies.windows
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        wrong = await verify_delivery(uow, dependencies.pins.key, attempt, roles, now=now, windows=windows)
        shown = await find(uow)
    # After the commit, which counts the wrong attempt.
    if wrong is not None:
        raise DeliveryPinInvalid(wrong.attempts_remaining)
    return ok(request, or_not_found(shown))
