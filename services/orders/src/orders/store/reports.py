"""Reports, and the subjects that a decision hides."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.reports import Report, ReportedSubject, ReportOutcome, SubjectKind
from orders.store.erasure import refuse_during_erasure
from orders.store.stock import StockLevel

# Under the policies of the caller, who reports only what they see. A message by a party of its conversation.
_SUBJECTS: Final = {
    "product": "SELECT vendor_id, campus_id FROM listed_products WHERE id = $1",
    "review": "SELECT vendor.id, vendor.campus_id FROM reviews AS review JOIN vendors AS vendor ON vendor.id = "
    "review.vendor_id "
    "WHERE review.id = $1",
    "vendor": "SELECT id, campus_id FROM vendors WHERE id = $1 AND business_name <> ''",
    "message": "SELECT vendor.id, vendor.campus_id FROM conversation_messages AS message "
    "JOIN conversations AS conversation ON conversation.id = message.conversation_id "
    "JOIN vendors AS vendor ON vendor.id = conversation.vendor_id "
    "WHERE message.id = $1 AND (conversation.buyer_id = app_user_id() OR conversation.vendor_id = app_vendor_id())",
}
_RECORD: Final = """
INSERT INTO reports (id, reporter_id, kind, subject_id, vendor_id, campus_id, reason, details, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING true
"""
_FIND_OPEN: Final = """
SELECT id FROM reports WHERE reporter_id = $1 AND kind = $2 AND subject_id = $3 AND outcome IS NULL
"""
# All of a subject, so that two decisions about it run one after the other.
_LOCK: Final = """
SELECT report.id, report.reporter_id, report.kind, report.subject_id, report.vendor_id, report.campus_id,
    report.outcome, (SELECT owner_user_id FROM vendors WHERE vendors.id = report.vendor_id) AS vendor_owner_id
FROM reports AS report
WHERE (report.kind, report.subject_id) = (SELECT kind, subject_id FROM reports WHERE id = $1)
ORDER BY report.id FOR UPDATE OF report
"""
# A dismissal is of one report. Any other decision is of the subject, and closes each open report of it but the
# decider's own.
_DECIDE: Final = """
UPDATE reports SET outcome = $2, decided_by = $3, decided_at = $4
WHERE id = $1 OR (
    $2 <> 'dismiss' AND outcome IS NULL AND reporter_id <> $3
    AND (kind, subject_id) = (SELECT kind, subject_id FROM reports WHERE id = $1)
)
"""
# While a takedown is open, a decision on a report replaces its time and reason; the dismissal restores both. The
# time of such a decision is later than the takedown's: equal times mean that the takedown alone hides the product.
_HIDE_PRODUCT: Final = """
UPDATE products AS product SET hidden_at = CASE
        WHEN before.hidden_at IS NOT NULL AND $2::timestamptz IS NOT NULL
            THEN greatest($2, takedown.created_at + interval '1 microsecond')
        ELSE coalesce($2, takedown.created_at) END,
    hidden_because = coalesce($3, takedown.reason), revision = product.revision + 1
FROM (
    SELECT id, hidden_at, removed_at IS NULL AND NOT draft AS published FROM products
    WHERE id = $1 FOR NO KEY UPDATE
) AS before
LEFT JOIN product_takedowns AS takedown ON takedown.product_id = before.id AND takedown.restored_at IS NULL
WHERE product.id = before.id AND CASE
    WHEN $2::timestamptz IS NULL THEN before.hidden_at IS DISTINCT FROM takedown.created_at
    ELSE before.hidden_at IS NULL OR before.hidden_at = takedown.created_at END
RETURNING product.id, product.vendor_id, product.campus_id, product.name, product.price_minor, product.stock,
          before.published AND (before.hidden_at IS NULL) <> (product.hidden_at IS NULL) AS availability_changed,
          product.hidden_at IS NOT NULL AS removed
"""

# The message may have expired since.
_HIDE_MESSAGE: Final = "UPDATE conversation_messages SET hidden_at = $2, hidden_because = $3 WHERE id = $1"


async def find_subject(uow: UnitOfWork, kind: SubjectKind, subject_id: UUID) -> ReportedSubject | None:
    """Return the subject; None when it is absent or invisible to the caller."""
    row = await uow.fetch_row(_SUBJECTS[kind], subject_id)
    return None if row is None else ReportedSubject(kind, subject_id, *row)


async def record_report_if_new(
    uow: UnitOfWork,
    report_id: UUID,
    subject: ReportedSubject,
    *,
    reporter_id: UUID,
    reason: str,
    details: str | None,
    now: datetime,
) -> bool:
    """Record a report; False while another one of the reporter about the subject is open."""
    values = (subject.kind, subject.id, subject.vendor_id, subject.campus_id, reason, details, now)
    with refuse_during_erasure():
        return bool(await uow.fetch_value(_RECORD, report_id, reporter_id, *values))


async def find_open_report(uow: UnitOfWork, subject: ReportedSubject, reporter_id: UUID) -> UUID | None:
    report_id: UUID | None = await uow.fetch_value(_FIND_OPEN, reporter_id, subject.kind, subject.id)
    return report_id


async def lock_report(uow: UnitOfWork, report_id: UUID) -> Report | None:
    """Return the report, locked with the others of its subject until the transaction ends."""
    for row in await uow.fetch(_LOCK, report_id):
        if row["id"] == report_id:
            subject = ReportedSubject(row["kind"], row["subject_id"], row["vendor_id"], row["campus_id"])
            return Report(row["id"], row["reporter_id"], subject, row["outcome"], row["vendor_owner_id"])
    return None


async def save_decision(
    uow: UnitOfWork, report_id: UUID, outcome: ReportOutcome, *, decided_by: UUID, now: datetime
) -> None:
    await uow.execute(_DECIDE, report_id, outcome, decided_by, now)


async def save_hidden_product(
    uow: UnitOfWork, product_id: UUID, hidden_at: datetime | None, because: str | None
) -> list[StockLevel]:
    """Hide the product, or show it again for None unless a takedown is open; return it unless it was so already."""
    return [StockLevel(*row) for row in await uow.fetch(_HIDE_PRODUCT, product_id, hidden_at, because)]


async def save_hidden_message(
    uow: UnitOfWork, message_id: UUID, hidden_at: datetime | None, because: str | None
) -> None:
    """Hide the message, or show it again for None."""
    await uow.execute(_HIDE_MESSAGE, message_id, hidden_at, because)
