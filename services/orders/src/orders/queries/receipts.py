"""The caller's paid orders and purchases, which have receipts."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Reads
from orders.domain.purchases import purchase_status

# Payments reports an escrow with its first charge.
_FIND_PAID_ORDER: Final = "SELECT id FROM orders WHERE id = $1 AND buyer_id = $2 AND escrow_sequence > 0"
_LIST_ORDERS: Final = """
SELECT purchases.number, orders.id, orders.status, orders.escrow_sequence > 0 AS is_paid
FROM purchases JOIN orders ON orders.purchase_id = purchases.id
WHERE purchases.id = $1 AND purchases.buyer_id = $2 ORDER BY orders.id
"""


async def is_own_paid_order(reads: Reads, order_id: UUID, caller: Caller) -> bool:
    return await reads.fetch_value(_FIND_PAID_ORDER, order_id, caller.id) is not None


async def find_paid_purchase(reads: Reads, purchase_id: UUID, caller: Caller) -> tuple[str, Sequence[UUID]] | None:
    """Return number and paid orders of the caller's purchase; None unless one was paid and none is unpaid."""
    rows = await reads.fetch(_LIST_ORDERS, purchase_id, caller.id)
    paid = [row["id"] for row in rows if row["is_paid"]]
    if not paid or purchase_status([row["status"] for row in rows]) == "unpaid":
        return None
    return rows[0]["number"], paid
