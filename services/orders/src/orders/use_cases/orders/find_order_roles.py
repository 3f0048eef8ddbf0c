"""Who the caller is in an order."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders import store
from orders.domain.order_roles import OrderRole, roles_of


async def find_order_roles(uow: UnitOfWork, caller: Caller, order_id: UUID) -> frozenset[OrderRole]:
    """The roles that the caller plays in an order that they may see, by the row policies of their own unit of work.

    Whom an order concerns never changes, so the answer holds after this transaction: the effect follows in one of the service's
    own. Raises NotFound for an order that is absent or invisible.
    """
    order = await store.find_order(uow, order_id)
    if order is None:
        raise NotFound
    return roles_of(caller, order)
