"""People who want to be erased, and what is taken away of them. Amounts, ids, states and times stay: the books name them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

import asyncpg

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import schedule_image_removal
from orders.domain.errors import ErasureInProgress

ErasureStatus = Literal["stays", "leaves", "gone"]

# The other half of what the triggers do: whoever writes an order or a product shares the lock of both its parties.
_LOCK_NEW_BUSINESS: Final = "SELECT pg_advisory_xact_lock(hashtextextended('leaving:' || $1::uuid, 0))"
# Older news never overtakes: a request that comes after its own refusal finds a higher sequence.
_SAVE_STANDING: Final = """
INSERT INTO leaving_people AS known (user_id, vendor_id, standing, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET standing = excluded.standing, sequence = excluded.sequence,
    vendor_id = coalesce(excluded.vendor_id, known.vendor_id)
WHERE known.sequence < excluded.sequence AND known.standing <> 'gone'
"""
# The names are the matters as they are told. A sale of late may still come back, and its money may still be on its way to the wallet.
_FIND_OPEN_MATTERS: Final = """
SELECT
    EXISTS (SELECT FROM orders WHERE buyer_id = $1 AND status <> ALL ($3)) AS open_orders,
    EXISTS (SELECT FROM return_requests WHERE buyer_id = $1 AND status = 'requested') AS undecided_returns,
    EXISTS (
        SELECT FROM orders AS placed JOIN order_refunds AS refund ON refund.order_id = placed.id
        WHERE placed.buyer_id = $1 AND refund.status <> 'settled'
    ) AS unsettled_refunds,
    EXISTS (SELECT FROM orders WHERE vendor_id = $2 AND status <> ALL ($3)) AS open_sales,
    EXISTS (
        SELECT FROM orders WHERE vendor_id = $2 AND status IN ('paid', 'refunded') AND (return_due_at > $4 OR updated_at > $5)
    ) AS recent_sales,
    EXISTS (
        SELECT FROM orders AS sold JOIN order_refunds AS refund ON refund.order_id = sold.id
        WHERE sold.vendor_id = $2 AND refund.status <> 'settled'
    ) AS unsettled_refunds_of_sales
"""
_ENDED: Final = ("expired", "cancelled", "paid", "refunded")
_FORGET_BUYER: Final = (
    "DELETE FROM cart_items WHERE buyer_id = $1",
    "UPDATE orders SET delivery_note = NULL WHERE buyer_id = $1 AND delivery_note IS NOT NULL",
    # Who cancels says why, and why is given on to the refund.
    "UPDATE order_refunds AS refund SET reason = 'erased' FROM orders AS placed "
    "WHERE placed.id = refund.order_id AND placed.buyer_id = $1",
    "UPDATE order_disputes SET reason = 'erased', details = NULL WHERE buyer_id = $1 AND cause = 'buyer'",
    "UPDATE return_requests SET reason = 'erased', decision_reason = NULL WHERE buyer_id = $1",
    # The stars stay in the vendor's and the product's count.
    "UPDATE reviews SET text = '', hidden_because = CASE WHEN hidden_at IS NOT NULL THEN 'erased' END WHERE buyer_id = $1",
    "UPDATE delivery_pins SET sealed = '' WHERE buyer_id = $1",
)
_CLOSE_VENDOR: Final = """
INSERT INTO vendors AS known (id, business_name, campus_id, sequence, suspended, standing_sequence) VALUES ($1, '', $2, $3, true, $3)
ON CONFLICT (id) DO UPDATE SET business_name = '', sequence = excluded.sequence, suspended = true,
    standing_sequence = excluded.standing_sequence
"""
_LIST_PICTURES: Final = """
SELECT image.id::uuid AS picture_id, products.id AS product_id
FROM products CROSS JOIN jsonb_array_elements_text(images) AS image (id)
WHERE vendor_id = $1 FOR UPDATE OF products
"""
_FORGET_VENDOR: Final = (
    "UPDATE products SET vendor_name = '', description = '', images = '[]', removed_at = coalesce(removed_at, $2) WHERE vendor_id = $1",
    "UPDATE return_requests SET decision_reason = NULL WHERE vendor_id = $1",
    # Who cancels a sale or settles its dispute says why, of the vendor too. What the buyer wrote leaves with the buyer.
    "UPDATE order_refunds AS refund SET reason = 'erased' FROM orders AS sold WHERE sold.id = refund.order_id AND sold.vendor_id = $1",
)


async def lock_party(uow: UnitOfWork, party_id: UUID) -> None:
    """Waits for what is being begun with this buyer or vendor at this moment, and makes what comes next wait."""
    await uow.execute(_LOCK_NEW_BUSINESS, party_id)


async def save_erasure_status(
    uow: UnitOfWork, user_id: UUID, status: ErasureStatus, sequence: int, vendor_id: UUID | None = None
) -> bool:
    """Whether this was news: nobody comes back who is gone."""
    return bool(await uow.execute(_SAVE_STANDING, user_id, vendor_id, status, sequence))


async def list_open_matters(
    uow: UnitOfWork, user_id: UUID, vendor_id: UUID | None, *, now: datetime, settled_before: datetime
) -> list[str]:
    """What is under way of the buyer and of their vendor, in words. A sale that ended after `settled_before` is not over yet."""
    row = await uow.fetch_row(_FIND_OPEN_MATTERS, user_id, vendor_id, list(_ENDED), now, settled_before)
    return [] if row is None else [matter for matter, is_open in row.items() if is_open]


async def erase_buyer(uow: UnitOfWork, user_id: UUID) -> None:
    """Whatever they wrote goes."""
    for statement in _FORGET_BUYER:
        await uow.execute(statement, user_id)


async def close_vendor(uow: UnitOfWork, vendor_id: UUID, campus_id: UUID, sequence: int, now: datetime) -> None:
    """The vendor has no name any more, shows nothing and sells nothing; what was bought keeps its name in the orders."""
    await uow.execute(_CLOSE_VENDOR, vendor_id, campus_id, sequence)
    pictures = await uow.fetch(_LIST_PICTURES, vendor_id)
    await schedule_image_removal(uow, [(row["picture_id"], row["product_id"]) for row in pictures], now)
    products, *reasons = _FORGET_VENDOR
    await uow.execute(products, vendor_id, now)
    for statement in reasons:
        await uow.execute(statement, vendor_id)


@contextmanager
def refuse_during_erasure() -> Iterator[None]:
    """Around what begins new business: the database's refusal by its name. Raises SomebodyLeaves (409)."""
    try:
        yield
    except asyncpg.CheckViolationError as refusal:
        if refusal.constraint_name != "nobody_who_leaves":
            raise
        raise ErasureInProgress from refusal
