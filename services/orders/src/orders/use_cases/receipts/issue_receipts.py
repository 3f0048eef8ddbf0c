"""Issue the receipts of orders that were paid before receipts existed."""

from collections.abc import Collection
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.store import orders
from orders.store.receipts import ReceiptStore


async def issue_receipts(uow: UnitOfWork, receipts: ReceiptStore, order_ids: Collection[UUID]) -> None:
    """Issue the receipts of paid orders; one that has a receipt keeps it."""
    for order_id in sorted(order_ids):
        if await orders.lock_order(uow, order_id) is not None:
            receipts.issue_later(uow, order_id)
