"""The order of a return request, for who may decide on it."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from orders import store
from orders.domain.errors import BuyerCannotDecide
from orders.domain.order_roles import may_decide_returns, roles_of
from orders.store import returns


async def find_returned_order(uow: UnitOfWork, caller: Caller, request_id: UUID) -> UUID:
    """The order of a return request that the caller may decide on: its vendor, or support, and never its buyer.

    Whom an order concerns never changes, so the answer holds after this transaction. Raises NotFound for a request that is absent or
    invisible, Forbidden for who may only see it (a merchant who reads it as its buyer, say).
    """
    order_id = await returns.find_order_of_request(uow, request_id)
    order = None if order_id is None else await store.find_order(uow, order_id)
    if order is None:
        raise NotFound
    roles = roles_of(caller, order)
    if not may_decide_returns(caller, roles):
        raise Forbidden
    if "buyer" in roles:
        raise BuyerCannotDecide
    return order.id
