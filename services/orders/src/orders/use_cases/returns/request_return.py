"""Request a return."""

from datetime import datetime
from uuid import UUID

from common.database.idempotent_commands import IdempotentCommand, find_command_result, record_command_result
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import ReturnRequested
from orders.domain.order_roles import OrderRole
from orders.domain.returns import NewReturn, check_request
from orders.store import orders, returns


async def request_return(
    uow: UnitOfWork,
    order_id: UUID,
    roles: frozenset[OrderRole],
    requested: NewReturn,
    now: datetime,
    command: IdempotentCommand | None = None,
) -> UUID:
    """Return the buyer requests the return of items within the return window (contract section 6). Returns the
    request's id.

    The lock on the order's row serializes concurrent requests; a repeated command returns the id of the first. Raises
    Forbidden (403), IdempotencyKeyReused (422) and the errors of `check_request`.
    """
    if "buyer" not in roles:
        raise Forbidden
    order = await orders.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    if (earlier := await find_command_result(uow, command)) is not None:
        return earlier
    check_request(order, requested.items, await returns.list_order_lines(uow, order.id), now)
    request_id = new_id()
    await returns.record_request(uow, request_id, order, requested, now)
    await record_command_result(uow, command, request_id)
    uow.publish(
        ReturnRequested(
            order_id=order.id,
            return_request_id=request_id,
            buyer_id=order.buyer_id,
            vendor_id=order.vendor_id,
            number=order.number,
        )
    )
    return request_id
