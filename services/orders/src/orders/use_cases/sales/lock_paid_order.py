"""Lock a paid order with what its receipt contains."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.order_updates import require_order
from orders.store import receipts
from orders.store.orders import SoldOrder
from orders.store.receipts import NewReceipt


async def lock_paid_order(uow: UnitOfWork, order_id: UUID) -> tuple[SoldOrder, NewReceipt]:
    """Return the locked order as `lock_sold_order` does, with the facts of its receipt. Raises OrderNotReceived."""
    return require_order(await receipts.lock_paid_order(uow, order_id), about=order_id)
