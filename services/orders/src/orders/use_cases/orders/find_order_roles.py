"""Find the caller's roles in an order."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Reads
from common.primitives.problems import NotFound
from orders.domain.order_roles import OrderRole, roles_of
from orders.store import orders


async def find_order_roles(reads: Reads, caller: Caller, order_id: UUID) -> frozenset[OrderRole]:
    """Return the caller's roles in an order that row policies show to the caller. Raises NotFound.

    The parties of an order never change, so the roles stay valid for the service's own transaction that follows.
    """
    order = await orders.find_order(reads, order_id)
    if order is None:
        raise NotFound
    return roles_of(caller, order)
