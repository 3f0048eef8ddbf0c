"""Writes of deliveries and their attempts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from notifications.domain.deliveries import Channel, EncryptedValue, NotificationRequest, masked
from notifications.store.queue import delivery_queue_of

_RECORD_DELIVERY: Final = """
INSERT INTO notification_deliveries
    (id, notification_id, channel, recipient, template, payload, sealed, status, created_at, due_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'queued', $8, $9)
ON CONFLICT (notification_id, channel, recipient) DO NOTHING
RETURNING id
"""
_LOCK_DELIVERY: Final = """
SELECT d.id, d.notification_id, n.user_id, d.channel, d.recipient, d.template, d.payload, d.sealed, d.status, d.attempts,
       d.claim_id, d.claimed_at, d.due_at, d.created_at
FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id
WHERE d.id = $1 FOR UPDATE OF d
"""
# One round trip: this statement is on the path of every message.
_CLAIM: Final = """
WITH claimed AS (
    UPDATE notification_deliveries SET claim_id = $2, claimed_at = $3, attempts = attempts + 1, due_at = NULL
    WHERE id = $1 RETURNING id, notification_id, channel, template
)
INSERT INTO notification_delivery_logs
    (id, delivery_id, notification_id, user_id, channel, template, recipient, status, provider, attempted_at)
SELECT $2, id, notification_id, $4, channel, template, $5, 'sending', $6, $3 FROM claimed
"""
_REFUSED: Final = """
INSERT INTO notification_delivery_logs
    (id, delivery_id, notification_id, user_id, channel, template, recipient, status, error, attempted_at)
SELECT $2, d.id, d.notification_id, n.user_id, d.channel, d.template, $3, 'failed', $4, $5
FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id WHERE d.id = $1
"""
_LOG_OUTCOME: Final = """
UPDATE notification_delivery_logs SET status = $2, provider_message_id = $3, error = $4 WHERE id = $1
"""
_LOG_UNKNOWN: Final = """
UPDATE notification_delivery_logs SET status = 'unknown', error = 'the worker ended before it could record the outcome'
WHERE id = $1 AND status = 'sending'
"""
# The address of an erased user is deleted with the end of the last delivery (`notify_erased_user`).
_WITHOUT_LAST_ADDRESS: Final = "sealed = CASE WHEN recipient LIKE 'erased:%' THEN '{}' ELSE sealed END"
_MARK_SENT: Final = f"""
WITH logged AS (
    UPDATE notification_delivery_logs SET
        status = CASE WHEN status IN ('sending', 'unknown') THEN 'sent' ELSE status END, provider_message_id = $2, error = NULL
    WHERE id = $3
)
UPDATE notification_deliveries
SET status = 'sent', provider_message_id = $2, claim_id = NULL, claimed_at = NULL, {_WITHOUT_LAST_ADDRESS}
WHERE id = $1 AND status = 'queued'
"""
_RETURN_ATTEMPT: Final = "UPDATE notification_deliveries SET attempts = greatest(attempts - 1, 0) WHERE id = $1"
_RELEASE_CLAIM: Final = """
UPDATE notification_deliveries SET claim_id = NULL, claimed_at = NULL WHERE id = $1 AND claim_id = $2
"""
_POSTPONE: Final = "UPDATE notification_deliveries SET due_at = $2 WHERE id = $1"
_CLAIM_DUE: Final = """
UPDATE notification_deliveries SET due_at = NULL WHERE id IN (
    SELECT id FROM notification_deliveries WHERE due_at <= $1 AND status = 'queued'
    ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
) RETURNING id, channel
"""
_MARK_FAILED: Final = f"""
UPDATE notification_deliveries SET status = 'failed', due_at = NULL, claim_id = NULL, claimed_at = NULL, {_WITHOUT_LAST_ADDRESS}
WHERE id = $1 AND status = 'queued'
"""
_CLAIM_ABANDONED: Final = """
SELECT id, channel, template, status, attempts, claim_id, claimed_at FROM notification_deliveries
WHERE claimed_at < $1 AND status = 'queued'
ORDER BY claimed_at LIMIT $2
FOR UPDATE SKIP LOCKED
"""


class LockedDelivery(NamedTuple):
    """A delivery with its user, locked. `sealed` holds the encrypted secrets by name."""

    id: UUID
    notification_id: UUID
    user_id: UUID | None
    channel: Channel
    recipient: str
    template: str
    payload: Mapping[str, Any]
    sealed: Mapping[str, Mapping[str, str]]
    status: str
    attempts: int
    claim_id: UUID | None
    claimed_at: datetime | None
    due_at: datetime | None
    created_at: datetime


class OldClaim(NamedTuple):
    """A claimed delivery without an outcome."""

    id: UUID
    channel: str
    template: str
    status: str
    attempts: int
    claim_id: UUID
    claimed_at: datetime


async def record_delivery_if_new(
    uow: UnitOfWork,
    request: NotificationRequest,
    recipient: str,
    payload: Mapping[str, object],
    now: datetime,
    due_at: datetime | None = None,
) -> UUID | None:
    """Return the id of the new delivery; None for a known one. With `due_at` the timer enqueues it."""
    sealed = {name: {"text": one.text, "context": one.context} for name, one in request.encrypted.items()}
    delivery_id: UUID | None = await uow.fetch_value(
        _RECORD_DELIVERY,
        new_id(),
        request.notification_id,
        request.channel,
        recipient,
        request.template,
        dict(payload),
        sealed,
        now,
        due_at,
    )
    return delivery_id


def enqueue_delivery(uow: UnitOfWork, delivery_id: UUID, channel: str) -> None:
    """Enqueue the sending; it starts after the commit."""
    uow.enqueue_work(delivery_queue_of(channel), delivery_id, {"deliveryId": str(delivery_id)})


async def lock_delivery(uow: UnitOfWork, delivery_id: UUID) -> LockedDelivery | None:
    row = await uow.fetch_row(_LOCK_DELIVERY, delivery_id)
    return None if row is None else LockedDelivery(*row)


async def claim_delivery(uow: UnitOfWork, delivery: LockedDelivery, provider: str, now: datetime) -> UUID:
    """Log the attempt before the provider is called. The id of the log row is the id of the claim."""
    claim_id = new_id()
    if delivery.claim_id is not None:
        await uow.execute(_LOG_UNKNOWN, delivery.claim_id)
    await uow.execute(_CLAIM, delivery.id, claim_id, now, delivery.user_id, masked(delivery.recipient), provider)
    return claim_id


async def record_refused_attempt(
    uow: UnitOfWork, delivery_id: UUID, recipient: str, reason: str, now: datetime
) -> None:
    """Log an attempt without a provider call; `recipient` is masked."""
    await uow.execute(_REFUSED, delivery_id, new_id(), recipient, reason, now)


async def save_sent(uow: UnitOfWork, delivery_id: UUID, claim_id: UUID, provider_message_id: str) -> bool:
    """Record that the provider accepted the message; return whether it was queued."""
    return bool(await uow.execute(_MARK_SENT, delivery_id, provider_message_id, claim_id))


async def save_failed_attempt(
    uow: UnitOfWork, delivery_id: UUID, claim_id: UUID, error: str, status: str = "failed"
) -> None:
    """Record a failed or `unknown` attempt and release the claim."""
    await uow.execute(_LOG_OUTCOME, claim_id, status, None, error)
    await uow.execute(_RELEASE_CLAIM, delivery_id, claim_id)


async def return_attempt(uow: UnitOfWork, delivery_id: UUID) -> None:
    """Count one attempt less, for one that the provider could not accept from anybody with our account."""
    await uow.execute(_RETURN_ATTEMPT, delivery_id)


async def save_failed(uow: UnitOfWork, delivery: LockedDelivery) -> bool:
    """Mark a queued delivery as failed; return whether it was queued."""
    if delivery.claim_id is not None:
        await uow.execute(_LOG_UNKNOWN, delivery.claim_id)
    return bool(await uow.execute(_MARK_FAILED, delivery.id))


async def lock_old_claims(uow: UnitOfWork, claimed_before: datetime, rows_max: int) -> list[OldClaim]:
    """Lock deliveries that were claimed before that time and have no outcome, oldest first."""
    return [OldClaim(*row) for row in await uow.fetch(_CLAIM_ABANDONED, claimed_before, rows_max)]


async def release_claim(uow: UnitOfWork, delivery_id: UUID, claim_id: UUID) -> None:
    """Release the claim of a dead worker and log its attempt as unknown."""
    await uow.execute(_LOG_UNKNOWN, claim_id)
    await uow.execute(_RELEASE_CLAIM, delivery_id, claim_id)


async def postpone_delivery(uow: UnitOfWork, delivery_id: UUID, due_at: datetime) -> None:
    await uow.execute(_POSTPONE, delivery_id, due_at)


async def claim_due_deliveries(uow: UnitOfWork, now: datetime, rows_max: int) -> list[tuple[UUID, str]]:
    """Claim due deliveries; return id and channel of each."""
    return [(delivery_id, channel) for delivery_id, channel in await uow.fetch(_CLAIM_DUE, now, rows_max)]


def encrypted_of(sealed: Mapping[str, Mapping[str, str]]) -> dict[str, EncryptedValue]:
    """Return the secrets of the column `sealed`."""
    return {name: EncryptedValue(one["text"], one["context"]) for name, one in sealed.items()}
