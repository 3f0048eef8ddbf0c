"""Erasure of buyers and vendors. Amounts, ids, states and times stay, because ledger entries refer to them."""

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

# The counterpart of the triggers on orders and products, which acquire this lock shared for both parties.
_LOCK_PARTY: Final = "SELECT pg_advisory_xact_lock(hashtextextended('leaving:' || $1::uuid, 0))"
# A stale event changes nothing: a request that arrives after its own rejection finds a higher sequence.
_SAVE_STATUS: Final = """
INSERT INTO leaving_people AS known (user_id, vendor_id, standing, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET standing = excluded.standing, sequence = excluded.sequence,
    vendor_id = coalesce(excluded.vendor_id, known.vendor_id)
WHERE known.sequence < excluded.sequence AND known.standing <> 'gone'
"""
# The column names are the published matters. A recent sale may be returned, and its money may not have reached the
# wallet yet.
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
        SELECT FROM orders WHERE vendor_id = $2 AND status IN ('paid', 'refunded')
            AND (return_due_at > $4 OR updated_at > $5)
    ) AS recent_sales,
    EXISTS (
        SELECT FROM orders AS sold JOIN order_refunds AS refund ON refund.order_id = sold.id
        WHERE sold.vendor_id = $2 AND refund.status <> 'settled'
    ) AS unsettled_refunds_of_sales
"""
_FINAL_STATES: Final = ("expired", "cancelled", "paid", "refunded")
# A reason of staff may name either party.
_ERASE_RESOLUTIONS: Final = (
    "UPDATE dispute_resolutions AS resolution SET reason = NULL FROM orders AS disputed "
    "WHERE disputed.id = resolution.order_id AND disputed.{} = $1 AND resolution.reason IS NOT NULL"
)
_ERASE_BUYER: Final = (
    "DELETE FROM cart_items WHERE buyer_id = $1",
    "DELETE FROM saved_products WHERE buyer_id = $1",
    "DELETE FROM followed_vendors WHERE buyer_id = $1",
    "DELETE FROM purchase_drafts WHERE buyer_id = $1",
    "DELETE FROM cart_variants WHERE buyer_id = $1",
    # As a buyer or for a vendor. The other party keeps what they wrote.
    "UPDATE conversation_messages SET text = '' WHERE author_id = $1",
    "UPDATE conversations SET buyer_name = NULL WHERE buyer_id = $1",
    "UPDATE reports SET reason = 'erased', details = NULL WHERE reporter_id = $1",
    "UPDATE orders SET delivery_note = NULL WHERE buyer_id = $1 AND delivery_note IS NOT NULL",
    # A refund copies the reason that the user gave for a cancellation.
    "UPDATE order_refunds AS refund SET reason = 'erased' FROM orders AS placed "
    "WHERE placed.id = refund.order_id AND placed.buyer_id = $1",
    "UPDATE order_disputes SET reason = 'erased', details = NULL WHERE buyer_id = $1 AND cause = 'buyer'",
    _ERASE_RESOLUTIONS.format("buyer_id"),
    "UPDATE return_requests SET reason = 'erased', decision_reason = NULL WHERE buyer_id = $1",
    # Ratings stay part of the vendor's and the product's mean.
    (
        "UPDATE reviews SET text = '', hidden_because = CASE WHEN hidden_at IS NOT NULL THEN 'erased' END WHERE "
        "buyer_id = $1"
    ),
    "UPDATE pin_reissues AS reissue SET reason = 'erased' FROM orders AS placed "
    "WHERE placed.id = reissue.order_id AND placed.buyer_id = $1",
    "UPDATE delivery_pins SET sealed = '' WHERE buyer_id = $1",
    "UPDATE issued_documents SET recipient_encrypted = '' WHERE recipient_id = $1",
)
_DELETE_MESSAGE_IMAGES: Final = """
DELETE FROM conversation_images WHERE author_id = $1 RETURNING id, conversation_id
"""
# Evidence may show both parties, so it is deleted with the first of them.
_DELETE_EVIDENCE: Final = """
DELETE FROM dispute_evidence AS evidence USING order_disputes AS dispute
WHERE dispute.order_id = evidence.order_id AND (dispute.buyer_id = $1 OR dispute.vendor_id = $1)
RETURNING evidence.id, evidence.order_id
"""
_CLOSE_VENDOR: Final = """
INSERT INTO vendors AS known (id, business_name, campus_id, sequence, suspended, standing_sequence)
VALUES ($1, '', $2, $3, true, $3)
ON CONFLICT (id) DO UPDATE SET business_name = '', absent_until = NULL, absence_message = NULL,
    sequence = excluded.sequence, suspended = true, standing_sequence = excluded.standing_sequence
"""
_LIST_IMAGES: Final = """
SELECT image.id::uuid AS image_id, products.id AS product_id
FROM products CROSS JOIN jsonb_array_elements_text(images) AS image (id)
WHERE vendor_id = $1 FOR UPDATE OF products
"""
_ERASE_VENDOR: Final = (
    (
        "UPDATE products SET vendor_name = '', description = '', images = '[]', removed_at = coalesce(removed_at, "
        "$2) WHERE vendor_id = $1"
    ),
    "UPDATE return_requests SET decision_reason = NULL WHERE vendor_id = $1",
    _ERASE_RESOLUTIONS.format("vendor_id"),
    "UPDATE reviews SET reply_text = NULL, replied_at = NULL WHERE vendor_id = $1 AND replied_at IS NOT NULL",
    "UPDATE issued_documents SET content = content - 'vendor_name' WHERE vendor_id = $1",
    # Reasons of cancellations and resolutions may name the vendor. The buyer's own texts are erased with the buyer.
    (
        "UPDATE order_refunds AS refund SET reason = 'erased' FROM orders AS sold WHERE sold.id = refund.order_id "
        "AND sold.vendor_id = $1"
    ),
)


async def lock_party(uow: UnitOfWork, party_id: UUID) -> None:
    """Wait for running transactions that create orders or products of this party, and block new ones."""
    await uow.execute(_LOCK_PARTY, party_id)


async def save_erasure_status(
    uow: UnitOfWork, user_id: UUID, status: ErasureStatus, sequence: int, vendor_id: UUID | None = None
) -> bool:
    """Save the status; False for a stale sequence or an erased user."""
    return bool(await uow.execute(_SAVE_STATUS, user_id, vendor_id, status, sequence))


async def list_open_matters(
    uow: UnitOfWork, user_id: UUID, vendor_id: UUID | None, *, now: datetime, settled_before: datetime
) -> list[str]:
    """Return the open matters of the buyer and of their vendor. A sale that ended after `settled_before` counts as
    open.
    """
    row = await uow.fetch_row(_FIND_OPEN_MATTERS, user_id, vendor_id, list(_FINAL_STATES), now, settled_before)
    return [] if row is None else [matter for matter, is_open in row.items() if is_open]


async def erase_buyer(uow: UnitOfWork, user_id: UUID, now: datetime) -> None:
    """Erase the texts that the user wrote, their cart, and the images of their messages and disputes."""
    for statement in _ERASE_BUYER:
        await uow.execute(statement, user_id)
    images = await uow.fetch(_DELETE_MESSAGE_IMAGES, user_id)
    await schedule_image_removal(uow, [(image_id, conversation_id) for image_id, conversation_id in images], now)
    await _delete_evidence(uow, user_id, now)


async def close_vendor(uow: UnitOfWork, vendor_id: UUID, campus_id: UUID, sequence: int, now: datetime) -> None:
    """Erase the vendor's name and the images of its disputes, and remove its products.

    Order items keep the names of their products.
    """
    await uow.execute(_CLOSE_VENDOR, vendor_id, campus_id, sequence)
    images = await uow.fetch(_LIST_IMAGES, vendor_id)
    await schedule_image_removal(uow, [(image_id, product_id) for image_id, product_id in images], now)
    products, *reasons = _ERASE_VENDOR
    await uow.execute(products, vendor_id, now)
    for statement in reasons:
        await uow.execute(statement, vendor_id)
    await _delete_evidence(uow, vendor_id, now)


async def _delete_evidence(uow: UnitOfWork, party_id: UUID, now: datetime) -> None:
    deleted = await uow.fetch(_DELETE_EVIDENCE, party_id)
    await schedule_image_removal(uow, [(evidence_id, order_id) for evidence_id, order_id in deleted], now)


@contextmanager
def refuse_during_erasure() -> Iterator[None]:
    """Translate the erasure trigger's constraint violation. Raises ErasureInProgress (409)."""
    try:
        yield
    except asyncpg.CheckViolationError as violation:
        if violation.constraint_name != "nobody_who_leaves":
            raise
        raise ErasureInProgress from violation
