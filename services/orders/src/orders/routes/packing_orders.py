"""Orders for the packers of a shop, without any amount (decision 206)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import permission
from common.primitives.problems import NotFound
from common.web.endpoint_table import Idempotency
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.idempotency import IdempotencyKey
from common.web.pages import RequestedPage, respond_page
from common.web.schemas import EmptyRequest
from orders.dependencies import Dependencies
from orders.domain.order_roles import PACKER
from orders.domain.packing_orders import PackingStatus
from orders.queries.packing_orders import (
    find_changed_packing_order,
    find_packing_order,
    page_of_packing_orders,
    was_changed_by_packer,
)
from orders.responses.packing_orders import PackingOrder
from orders.routes.order_commands import order_after_pin
from orders.schemas.delivery import VerifyDeliveryRequest
from orders.use_cases.delivery.verify_delivery import PinAttempt
from orders.use_cases.orders.dispatch_packed_order import dispatch_packed_order

endpoint = Endpoints("packing orders")

PACKING_ORDERS: Final = "/api/packing-orders"
PACKS: Final = permission("orders:pack")


@endpoint("GET", PACKING_ORDERS, id="packingOrders.list", returns=list[PackingOrder], allow=PACKS)
async def list_packing_orders(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    status: Annotated[PackingStatus | None, Query(description="Without it: `paid_escrow` and `dispatched`.")] = None,
) -> Response:
    """Return the orders to pack of the shop that the caller works for, oldest first, without amounts."""
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    return respond_page(request, await page_of_packing_orders(reads, requested, caller, status))


@endpoint("GET", f"{PACKING_ORDERS}/{{order_id}}", id="packingOrders.get", returns=PackingOrder, allow=PACKS)
async def get_packing_order(request: Request, caller: CurrentCaller, order_id: UUID) -> Response:
    """Return one order of the shop that the caller works for, without amounts."""
    return ok(request, or_not_found(await _find(request, caller, order_id)))


@endpoint(
    "POST", f"{PACKING_ORDERS}/{{order_id}}/dispatch", id="packingOrders.dispatch", returns=PackingOrder, allow=PACKS
)
async def dispatch_packing_order(
    request: Request, caller: CurrentCaller, order_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Send a packed order on its way. 409 in any other state; repeating it has no further effect."""
    dependencies = dependencies_of(request, Dependencies)
    await _check_commanded(request, caller, order_id)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await dispatch_packed_order(uow, order_id, caller.id, dependencies.clock.now(), dependencies.windows)
        dispatched = await find_changed_packing_order(uow, order_id)
    return ok(request, or_not_found(dispatched))


@endpoint(
    "POST",
    f"{PACKING_ORDERS}/{{order_id}}/verify-delivery",
    id="packingOrders.verifyDelivery",
    returns=PackingOrder,
    allow=PACKS,
    idempotency=Idempotency.REQUIRED,
)
async def verify_packing_order(
    request: Request, caller: CurrentCaller, order_id: UUID, key: IdempotencyKey, body: VerifyDeliveryRequest
) -> Response:
    """Hand the order over against the buyer's PIN. Five wrong attempts in total lock the PIN."""
    await _check_commanded(request, caller, order_id)
    attempt = PinAttempt(order_id, body.pin, caller.id, key)
    return await order_after_pin(request, attempt, PACKER, lambda uow: find_changed_packing_order(uow, order_id))


async def _find(request: Request, caller: Caller, order_id: UUID) -> PackingOrder | None:
    reads = dependencies_of(request, Dependencies).database.reads_for(caller)
    return await find_packing_order(reads, order_id)


async def _check_commanded(request: Request, caller: Caller, order_id: UUID) -> None:
    """Raise NotFound unless the caller sees the order, or has changed it: a command is sent again after a lost
    response, and the order may be disputed meanwhile.
    """
    if await _find(request, caller, order_id) is not None:
        return
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await was_changed_by_packer(uow, order_id, caller):
            raise NotFound
