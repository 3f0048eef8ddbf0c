"""Reviews and their moderation."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.reviews import ReviewContent
from orders.store.erasure import refuse_during_erasure

_FIND_REVIEWED_ORDER: Final = """
SELECT buyer_id, vendor_id, status, delivered_at IS NOT NULL OR status = 'paid' AS delivered,
    array(SELECT product_id FROM order_items WHERE order_id = orders.id AND cancelled_at IS NULL) AS product_ids,
    (SELECT owner_user_id FROM vendors WHERE vendors.id = orders.vendor_id) AS vendor_owner_id
FROM orders WHERE id = $1
"""
_RECORD_REVIEW: Final = """
INSERT INTO reviews (id, order_id, buyer_id, vendor_id, product_id, rating, text, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING true
"""
_LOCK_REVIEW: Final = "SELECT hidden_at IS NOT NULL AS hidden FROM reviews WHERE id = $1 FOR UPDATE"
# The row policy admits the vendor of a shown review without a reply.
_SAVE_REPLY_IF_NEW: Final = """
UPDATE reviews SET reply_text = $2, replied_at = $3 WHERE id = $1 AND replied_at IS NULL RETURNING true
"""
_FIND_REVIEW: Final = "SELECT vendor_id, hidden_at IS NOT NULL AS hidden FROM reviews WHERE id = $1"
_SAVE_HIDDEN: Final = "UPDATE reviews SET hidden_at = $2, hidden_by = $3, hidden_because = $4 WHERE id = $1"


@dataclass(frozen=True, slots=True)
class ReviewedOrder:
    """The facts of an order that decide whether it may be reviewed."""

    buyer_id: UUID
    vendor_id: UUID
    status: str
    delivered: bool
    product_ids: list[UUID]
    vendor_owner_id: UUID | None


async def find_reviewed_order(uow: UnitOfWork, order_id: UUID) -> ReviewedOrder | None:
    """Return the order; None when it is absent or invisible."""
    row = await uow.fetch_row(_FIND_REVIEWED_ORDER, order_id)
    return None if row is None else ReviewedOrder(*row)


async def record_review_if_new(
    uow: UnitOfWork, review_id: UUID, order: ReviewedOrder, content: ReviewContent, *, now: datetime
) -> bool:
    """Record a review; False when the order already has one of this vendor or product."""
    written = (content.product_id, content.rating, content.text)
    with refuse_during_erasure():
        return bool(
            await uow.fetch_value(
                _RECORD_REVIEW, review_id, content.order_id, order.buyer_id, order.vendor_id, *written, now
            )
        )


async def lock_review(uow: UnitOfWork, review_id: UUID) -> bool | None:
    """Return whether the review is hidden; None when it is absent or invisible."""
    hidden: bool | None = await uow.fetch_value(_LOCK_REVIEW, review_id)
    return hidden


class RepliedReview(NamedTuple):
    """A review that a vendor replies to."""

    vendor_id: UUID
    hidden: bool


async def find_replied_review(uow: UnitOfWork, review_id: UUID) -> RepliedReview | None:
    """Return the review; None when it is absent or invisible."""
    row = await uow.fetch_row(_FIND_REVIEW, review_id)
    return None if row is None else RepliedReview(*row)


async def save_reply_if_new(uow: UnitOfWork, review_id: UUID, text: str, now: datetime) -> bool:
    """Save the reply of the vendor; False when the review has one, or is hidden meanwhile."""
    return bool(await uow.fetch_value(_SAVE_REPLY_IF_NEW, review_id, text, now))


async def save_hidden(uow: UnitOfWork, review_id: UUID, staff_id: UUID, because: str, now: datetime) -> None:
    await uow.execute(_SAVE_HIDDEN, review_id, now, staff_id, because)


async def save_shown(uow: UnitOfWork, review_id: UUID) -> None:
    await uow.execute(_SAVE_HIDDEN, review_id, None, None, None)
