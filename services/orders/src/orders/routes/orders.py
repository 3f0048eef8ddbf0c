"""Orders: checkout, reads, cancellation, dispatch (contract section 6)."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN, permission
from common.database.single_statements import decide_and_write
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import ValidationFailed
from common.web.endpoint_table import Idempotency
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.idempotency import IdempotencyKey
from common.web.pages import RequestedPage, respond_page
from common.web.schemas import EmptyRequest
from orders.dependencies import Dependencies
from orders.domain.checkouts import Checkout, FromCart
from orders.domain.order_roles import roles_of
from orders.domain.orders import Cancellation, LineCancellation
from orders.queries.order_timeline import list_timeline
from orders.queries.orders import ListRole, find_changeable_order, find_order, new_order_of, page_of_orders
from orders.responses.orders import Order, OrderItem, OrderTimelineEntry
from orders.routes.order_commands import buyers_destination, order_after, place, requested_lines, roles_in_order
from orders.routes.order_filters import OrderFilters
from orders.schemas.orders import CancelOrderLineRequest, CancelOrderRequest, CheckoutRequest
from orders.use_cases.orders.arrive_order import arrive_order as arrive
from orders.use_cases.orders.cancel_order import cancel_order as cancel
from orders.use_cases.orders.cancel_order_line import cancel_order_line as cancel_line
from orders.use_cases.orders.dispatch_order import dispatch_order as dispatch

endpoint = Endpoints("orders")

# The convertor excludes `/api/orders/checkout`, so that its GET is 405 and not 404 (contract section 2.2).
ONE_ORDER = "/api/orders/{order_id:uuid}"


@endpoint(
    "POST",
    "/api/orders/checkout",
    id="orders.checkout",
    returns=Order,
    status=201,
    allow=permission("orders:place"),
    idempotency=Idempotency.REQUIRED,
)
async def check_out(request: Request, caller: CurrentCaller, key: IdempotencyKey, body: CheckoutRequest) -> Response:
    """Place an order with frozen prices and reserve its stock until the payment window ends.

    409 when an item is sold out, the total is not `expectedTotalMinor`, or the buyer's unpaid orders reach a limit.
    """
    dependencies = dependencies_of(request, Dependencies)
    requested_items = requested_lines(body)
    if body.cart_id is None and body.vendor_id is not None:
        raise ValidationFailed.of("vendorId", "is allowed with cartId only")
    requested = Checkout(
        requested_items=requested_items,
        campus_id=body.campus_id,
        hub_id=body.hub_id,
        delivery_note=body.delivery_note,
        expected_total_minor=body.expected_total_minor,
        cart=FromCart(body.cart_id, body.vendor_id) if body.cart_id else None,
    )
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        placed = await place(dependencies, uow, caller, requested, key)
        order = (
            or_not_found(await find_order(uow, placed, caller, dependencies.contacts))
            if isinstance(placed, UUID)
            else new_order_of(placed.orders[0], caller, dependencies.contacts)
        )
    return ok(request, order, status=201)


@endpoint(
    "GET",
    "/api/orders",
    id="orders.list",
    returns=list[Order],
    allow=SIGNED_IN.for_keys("shop_orders:read", "orders:read"),
)
async def list_orders(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    filters: OrderFilters,
    role: Annotated[ListRole | None, Query(alias="as", description="Only orders in which the caller is this.")] = None,
) -> Response:
    """Return the caller's orders, newest first: as buyer, vendor or hub agent, or all orders for staff with
    `orders:read`. Finance finds a charged order by its number in `q`.
    """
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    page = await page_of_orders(reads, requested, dependencies.contacts, caller, filters, role)
    return respond_page(request, page)


@endpoint("GET", ONE_ORDER, id="orders.get", returns=Order, allow=SIGNED_IN.for_keys("shop_orders:read", "orders:read"))
async def get_order(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Return one order, for its buyer, its vendor, the agents of its hub and staff."""
    return ok(request, await _visible_order(request, caller, order_id))


@endpoint(
    "GET",
    f"{ONE_ORDER}/items",
    id="orders.listItems",
    returns=list[OrderItem],
    allow=SIGNED_IN.for_keys("shop_orders:read", "orders:read"),
)
async def list_order_items(
    request: Request, caller: CurrentCaller, order_id: UUID, requested: RequestedPage
) -> Response:
    """Return the items of the order in the sequence of its checkout.

    An order has at most 50 items, so each page reads the order.
    """
    order = await _visible_order(request, caller, order_id)
    scope = ["items", order_id, caller.id]
    start: int = (requested.open(scope) or [0])[0]
    end = start + requested.limit
    position = [end] if end < len(order.items) else None
    return respond_page(request, requested.page_up_to(scope, order.items[start:end], position))


@endpoint(
    "GET",
    f"{ONE_ORDER}/timeline",
    id="orders.getTimeline",
    returns=list[OrderTimelineEntry],
    allow=SIGNED_IN.for_keys("shop_orders:read", "orders:read"),
)
async def get_order_timeline(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Each transition of the order and each event of its PIN with its instant, oldest first, for readers of the order.

    Transitions before the release that introduced this endpoint are absent.
    """
    dependencies = dependencies_of(request, Dependencies)
    return ok(request, or_not_found(await list_timeline(dependencies.database.reads_for(caller), order_id)))


@endpoint("POST", f"{ONE_ORDER}/cancel", id="orders.cancel", returns=Order, allow=SIGNED_IN)
async def cancel_order(request: Request, caller: CurrentCaller, order_id: UUID, body: CancelOrderRequest) -> Response:
    """Cancel an order: an unpaid one becomes `cancelled`; a paid one becomes `refund_pending` and is refunded in full.

    Staff need a second factor of the last 15 minutes to cancel a paid order.
    """
    dependencies = dependencies_of(request, Dependencies)
    roles = await buyers_destination(request, caller, order_id, body.refund_to)
    requested = Cancellation(body.reason, body.refund_to)
    now, windows = dependencies.clock.now(), dependencies.windows
    return await order_after(
        request,
        caller,
        order_id,
        lambda uow: cancel(uow, order_id, roles, requested, by=caller, now=now, windows=windows),
    )


@endpoint(
    "POST",
    f"{ONE_ORDER}/dispatch",
    id="orders.dispatch",
    returns=Order,
    allow=permission("orders:fulfil").for_keys("shop_orders:dispatch"),
)
async def dispatch_order(
    request: Request, caller: CurrentCaller, order_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Send a paid order on its way, as its vendor. 409 in any other state; repeating it has no further effect."""
    dependencies = dependencies_of(request, Dependencies)
    database, now, windows = dependencies.database, dependencies.clock.now(), dependencies.windows
    found = or_not_found(await find_changeable_order(database.reads_for(caller), order_id))
    roles = roles_of(caller, found.order)

    async def run(uow: UnitOfWork) -> Order | None:
        dispatched = await dispatch(uow, found.order, roles, by=caller.id, now=now, windows=windows)
        if uow.is_unlocked:
            return found.shown_as(dispatched, now, caller, dependencies.contacts)
        return await find_order(uow, order_id, caller, dependencies.contacts)

    return ok(request, or_not_found(await decide_and_write(database, run)))


@endpoint("POST", f"{ONE_ORDER}/arrive", id="orders.arrive", returns=Order, allow=permission("orders:verify"))
async def arrive_order(
    request: Request, caller: CurrentCaller, order_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Receive the parcel of a dispatched order, as an agent of its hub; the buyer is notified where to collect it.

    409 in any other state; repeating it has no further effect.
    """
    dependencies = dependencies_of(request, Dependencies)
    roles = await roles_in_order(request, caller, order_id)
    now = dependencies.clock.now()
    return await order_after(
        request, caller, order_id, lambda uow: arrive(uow, order_id, roles, agent_id=caller.id, now=now)
    )


@endpoint("POST", f"{ONE_ORDER}/items/{{item_id}}/cancel", id="orders.cancelItem", returns=Order, allow=SIGNED_IN)
async def cancel_order_item(
    request: Request, caller: CurrentCaller, order_id: UUID, item_id: UUID, body: CancelOrderLineRequest
) -> Response:
    """Refund the price of one line before the dispatch, such as an item that is sold out, as the vendor or support.

    The last line cancels the order.
    """
    dependencies = dependencies_of(request, Dependencies)
    roles = await roles_in_order(request, caller, order_id)
    requested = LineCancellation(item_id, body.reason)
    now, windows = dependencies.clock.now(), dependencies.windows
    return await order_after(
        request,
        caller,
        order_id,
        lambda uow: cancel_line(uow, order_id, roles, requested, by=caller, now=now, windows=windows),
    )


async def _visible_order(request: Request, caller: CurrentCaller, order_id: UUID) -> Order:
    dependencies = dependencies_of(request, Dependencies)
    reads = dependencies.database.reads_for(caller)
    return or_not_found(await find_order(reads, order_id, caller, dependencies.contacts))
