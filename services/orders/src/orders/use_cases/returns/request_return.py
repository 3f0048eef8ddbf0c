"""The buyer wants to give goods back."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden, NotFound
from contracts.orders import ReturnRequested
from orders import store
from orders.domain.order_roles import OrderRole
from orders.domain.returns import ReturnedItem, check_request
from orders.store import returns


async def request_return(
    uow: UnitOfWork,
    order_id: UUID,
    roles: frozenset[OrderRole],
    wanted: Sequence[ReturnedItem],
    reason: str,
    now: datetime,
) -> UUID:
    """The buyer of a delivered order asks for some of it to be taken back, within the window (contract section 6).

    The order's row is held, so that requests at the same moment share what is left. Answers the request's id.
    Raises Forbidden (403) and the refusals of `check_request`.
    """
    if "buyer" not in roles:
        raise Forbidden
    order = await store.lock_order(uow, order_id)
    if order is None:
        raise NotFound
    check_request(order, wanted, await returns.list_order_lines(uow, order.id), now)
    request_id = new_id()
    await returns.record_request(uow, request_id, order, reason, wanted, now)
    uow.publish(
        ReturnRequested(
            order_id=order.id, return_request_id=request_id, buyer_id=order.buyer_id, vendor_id=order.vendor_id
        )
    )
    return request_id
