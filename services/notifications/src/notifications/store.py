"""The writes of this service: SQL by name, without decisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id
from notifications.domain.alerts import Alert
from notifications.domain.deliveries import Contact, FeedLine, Sealed, Wanted, masked

# The work of this service's own worker: one message to send, or one alert to page (contracts.topology).
DELIVERIES_QUEUE: Final = "notifications.deliveries"

_SAVE_CONTACT: Final = """
INSERT INTO contacts AS c (user_id, email, phone, full_name, sequence) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (user_id) DO UPDATE
SET email = excluded.email, phone = excluded.phone, full_name = excluded.full_name, sequence = excluded.sequence
WHERE c.sequence < excluded.sequence
"""
# What was on its way is not sent any more; a recipient stays unlike every other of its notification and channel.
_FORGET_RECIPIENT: Final = """
UPDATE notification_deliveries d
SET recipient = 'erased:' || d.id, payload = d.payload - $2, sealed = '{}', claim_id = NULL, claimed_at = NULL,
    status = CASE d.status WHEN 'queued' THEN 'failed' ELSE d.status END
FROM notifications n WHERE n.id = d.notification_id AND n.user_id = $1
"""
_SAVE_VENDOR: Final = """
INSERT INTO vendors AS v (vendor_id, owner_user_id, business_name, sequence) VALUES ($1, $2, $3, $4)
ON CONFLICT (vendor_id) DO UPDATE
SET owner_user_id = excluded.owner_user_id, business_name = excluded.business_name, sequence = excluded.sequence
WHERE v.sequence < excluded.sequence
"""
_SAVE_ORDER: Final = """
INSERT INTO order_summaries (order_id, vendor_id, total_minor, delivery_fee_minor, items) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (order_id) DO NOTHING
"""
_RECORD_NOTIFICATION: Final = """
INSERT INTO notifications (id, user_id, template, title, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO NOTHING
"""
_NOTIFICATION_OWNER: Final = "SELECT user_id FROM notifications WHERE id = $1"
_RECORD_DELIVERY: Final = """
INSERT INTO notification_deliveries
    (id, notification_id, channel, recipient, template, payload, sealed, status, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'queued', $8)
ON CONFLICT (notification_id, channel, recipient) DO NOTHING
RETURNING id
"""
_LOCK_DELIVERY: Final = """
SELECT d.id, d.notification_id, n.user_id, d.channel, d.recipient, d.template, d.payload, d.sealed, d.status, d.attempts,
       d.claim_id, d.claimed_at
FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id
WHERE d.id = $1 FOR UPDATE OF d
"""
_CLAIM: Final = """
UPDATE notification_deliveries SET claim_id = $2, claimed_at = $3, attempts = attempts + 1 WHERE id = $1
"""
_LOG_ATTEMPT: Final = """
INSERT INTO notification_delivery_logs
    (id, delivery_id, notification_id, user_id, channel, template, recipient, status, provider, attempted_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'sending', $8, $9)
"""
_LOG_OUTCOME: Final = """
UPDATE notification_delivery_logs SET status = $2, provider_message_id = $3, error = $4 WHERE id = $1
"""
_LOG_UNKNOWN: Final = """
UPDATE notification_delivery_logs SET status = 'unknown', error = 'the worker ended before it could record the outcome'
WHERE id = $1 AND status = 'sending'
"""
_MARK_SENT: Final = """
UPDATE notification_deliveries
SET status = 'sent', provider_message_id = $2, claim_id = NULL, claimed_at = NULL
WHERE id = $1 AND status = 'queued'
"""
_RELEASE_CLAIM: Final = """
UPDATE notification_deliveries SET claim_id = NULL, claimed_at = NULL WHERE id = $1 AND claim_id = $2
"""
_MARK_FAILED: Final = """
UPDATE notification_deliveries SET status = 'failed', claim_id = NULL, claimed_at = NULL
WHERE id = $1 AND status = 'queued'
"""
_TAKE_ABANDONED: Final = """
SELECT id, claim_id FROM notification_deliveries
WHERE claimed_at < $1 AND status = 'queued'
ORDER BY claimed_at LIMIT $2
FOR UPDATE SKIP LOCKED
"""
_MARK_READ: Final = """
UPDATE notifications SET read_at = coalesce(read_at, $2) WHERE id = $1 AND title IS NOT NULL
RETURNING id, template, title, body, created_at, read_at
"""
_LOCK_OPEN_ALERT: Final = """
SELECT id, severity, paged_at FROM alerts WHERE dedup_key = $1 AND closed_at IS NULL FOR UPDATE
"""
_RECORD_ALERT: Final = """
INSERT INTO alerts (id, severity, title, detail, subject, runbook, dedup_key, source, raised_at, last_raised_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
ON CONFLICT (dedup_key) WHERE closed_at IS NULL DO NOTHING
"""
_REPEAT_ALERT: Final = """
UPDATE alerts
SET repetitions = repetitions + 1, severity = least(severity, $2), detail = $3, last_raised_at = greatest(last_raised_at, $4)
WHERE id = $1
"""
_MARK_PAGED: Final = "UPDATE alerts SET paged_at = $2, page_error = NULL WHERE id = $1"
_MARK_PAGE_FAILED: Final = "UPDATE alerts SET page_error = $2 WHERE id = $1"


async def save_contact(uow: UnitOfWork, contact: Contact, sequence: int) -> bool:
    """Keeps the newest of what identity said; whether this was news."""
    return bool(
        await uow.execute(_SAVE_CONTACT, contact.user_id, contact.email, contact.phone, contact.full_name, sequence)
    )


async def forget_contact(uow: UnitOfWork, user_id: UUID, sequence: int, *, named_in: str) -> bool:
    """Leaves an empty contact, which older news cannot fill again; whether this was news.

    `named_in` is the parameter by which messages greet.
    """
    if not await save_contact(uow, Contact(user_id, "", None, None), sequence):
        return False
    await uow.execute(_FORGET_RECIPIENT, user_id, named_in)
    return True


async def save_vendor(uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, business_name: str, sequence: int) -> bool:
    """Keeps the newest of what identity said; whether this was news."""
    return bool(await uow.execute(_SAVE_VENDOR, vendor_id, owner_user_id, business_name, sequence))


async def save_order_summary(
    uow: UnitOfWork,
    order_id: UUID,
    vendor_id: UUID,
    total_minor: int,
    delivery_fee_minor: int,
    items: Sequence[Mapping[str, Any]],
) -> None:
    """Keeps what a confirmation tells of an order. It never changes: prices are frozen at checkout."""
    await uow.execute(_SAVE_ORDER, order_id, vendor_id, total_minor, delivery_fee_minor, list(items))


async def record_notification_once(uow: UnitOfWork, wanted: Wanted, shown: FeedLine | None, now: datetime) -> bool:
    """Whether the notification is this user's: it was written now, or before for the same user."""
    title, body = (shown.title, shown.body) if shown else (None, None)
    await uow.execute(_RECORD_NOTIFICATION, wanted.notification_id, wanted.user_id, wanted.template, title, body, now)
    owner: UUID | None = await uow.fetch_value(_NOTIFICATION_OWNER, wanted.notification_id)
    return owner == wanted.user_id


async def record_delivery_once(
    uow: UnitOfWork, wanted: Wanted, recipient: str, payload: Mapping[str, object], now: datetime
) -> UUID | None:
    """The id of the new delivery; None when this recipient has it already."""
    sealed = {name: {"text": one.text, "context": one.context} for name, one in wanted.sealed.items()}
    delivery_id: UUID | None = await uow.fetch_value(
        _RECORD_DELIVERY,
        new_id(),
        wanted.notification_id,
        wanted.channel,
        recipient,
        wanted.template,
        dict(payload),
        sealed,
        now,
    )
    return delivery_id


def leave_delivery(uow: UnitOfWork, delivery_id: UUID) -> None:
    """Leaves the sending to the worker; it begins when this transaction has committed."""
    uow.leave_work(DELIVERIES_QUEUE, delivery_id, {"deliveryId": str(delivery_id)})


def leave_page(uow: UnitOfWork, alert_id: UUID) -> None:
    """Leaves the paging of an alert to the worker."""
    uow.leave_work(DELIVERIES_QUEUE, alert_id, {"alertId": str(alert_id)})


async def lock_delivery(uow: UnitOfWork, delivery_id: UUID) -> Any:
    """The delivery's row with its user, locked; None when there is none."""
    return await uow.fetch_row(_LOCK_DELIVERY, delivery_id)


async def claim_delivery(uow: UnitOfWork, row: Any, provider: str, now: datetime) -> UUID:
    """Writes the attempt down before the provider is called; the claim's id is the log row's."""
    claim_id = new_id()
    if row["claim_id"] is not None:
        await uow.execute(_LOG_UNKNOWN, row["claim_id"])
    await uow.execute(_CLAIM, row["id"], claim_id, now)
    await uow.execute(
        _LOG_ATTEMPT,
        claim_id,
        row["id"],
        row["notification_id"],
        row["user_id"],
        row["channel"],
        row["template"],
        masked(row["recipient"]),
        provider,
        now,
    )
    return claim_id


async def save_sent(uow: UnitOfWork, delivery_id: UUID, claim_id: UUID, provider_message_id: str) -> bool:
    """Records that the provider took the message; whether that was news."""
    await uow.execute(_LOG_OUTCOME, claim_id, "sent", provider_message_id, None)
    return bool(await uow.execute(_MARK_SENT, delivery_id, provider_message_id))


async def save_failed_attempt(uow: UnitOfWork, delivery_id: UUID, claim_id: UUID, error: str) -> None:
    """Records that one attempt failed, and gives the claim back."""
    await uow.execute(_LOG_OUTCOME, claim_id, "failed", None, error)
    await uow.execute(_RELEASE_CLAIM, delivery_id, claim_id)


async def save_given_up(uow: UnitOfWork, row: Any) -> bool:
    """Records that nobody will try again; whether that was news."""
    if row["claim_id"] is not None:
        await uow.execute(_LOG_UNKNOWN, row["claim_id"])
    return bool(await uow.execute(_MARK_FAILED, row["id"]))


async def release_abandoned_claims(uow: UnitOfWork, claimed_before: datetime, rows_max: int) -> list[UUID]:
    """Gives back the claims of workers that died with a message in hand; the ids of those deliveries."""
    rows = await uow.fetch(_TAKE_ABANDONED, claimed_before, rows_max)
    for row in rows:
        await uow.execute(_LOG_UNKNOWN, row["claim_id"])
        await uow.execute(_RELEASE_CLAIM, row["id"], row["claim_id"])
    return [row["id"] for row in rows]


async def save_read(uow: UnitOfWork, notification_id: UUID, now: datetime) -> Any:
    """Marks a notification of the caller as read, once; its row, or None when the caller has none such."""
    return await uow.fetch_row(_MARK_READ, notification_id, now)


async def lock_open_alert(uow: UnitOfWork, dedup_key: str) -> Any:
    """The open alert of that key, locked; None when there is none."""
    return await uow.fetch_row(_LOCK_OPEN_ALERT, dedup_key)


async def record_alert_once(uow: UnitOfWork, alert: Alert, raised_at: datetime) -> bool:
    """Whether the alert is new: no open one has its key. Two at once: the second waits for the first to commit or fail."""
    return bool(
        await uow.execute(
            _RECORD_ALERT,
            UUID(alert.alert_id),
            alert.severity,
            alert.title,
            alert.detail,
            alert.about,
            alert.runbook,
            alert.dedup_key,
            alert.source,
            raised_at,
        )
    )


async def save_repetition(uow: UnitOfWork, alert_id: UUID, alert: Alert, raised_at: datetime) -> None:
    """Counts a repetition; the worst severity (the smallest number) stays."""
    await uow.execute(_REPEAT_ALERT, alert_id, alert.severity, alert.detail, raised_at)


async def save_paged(uow: UnitOfWork, alert_id: UUID, now: datetime) -> None:
    await uow.execute(_MARK_PAGED, alert_id, now)


async def save_page_failed(uow: UnitOfWork, alert_id: UUID, error: str) -> None:
    await uow.execute(_MARK_PAGE_FAILED, alert_id, error)


def sealed_of(row: Any) -> dict[str, Sealed]:
    """The secrets of a delivery's row, still sealed."""
    return {name: Sealed(one["text"], one["context"]) for name, one in row["sealed"].items()}
