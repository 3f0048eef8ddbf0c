"""Find the order of a return request to decide on."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from orders.domain.order_roles import may_decide_returns, roles_of
from orders.domain.return_errors import BuyerCannotDecide
from orders.store import orders, returns


async def find_returned_order(uow: UnitOfWork, caller: Caller, request_id: UUID) -> UUID:
    """Return the order of a return request that the caller may decide on, as its vendor or as support, never as its
    buyer.

    The parties of an order never change, so the result stays valid for the next transaction. Raises NotFound for an
    absent or invisible request, Forbidden for a caller who may only read it, BuyerCannotDecide (403).
    """
    order_id = await returns.find_order_of_request(uow, request_id)
    order = None if order_id is None else await orders.find_order(uow, order_id)
    if order is None:
        raise NotFound
    roles = roles_of(caller, order)
    if not may_decide_returns(caller, roles):
        raise Forbidden
    if "buyer" in roles:
        raise BuyerCannotDecide
    return order.id
