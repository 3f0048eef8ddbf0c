"""Writes of delivery statuses that providers report."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.parameters import with_places_after
from common.database.single_statements import commit_alone
from common.database.state_changes import StateChanged, allows_change, change_state, states_before
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from notifications.deliveries.domain.statuses import ATTEMPT, DELIVERY, AttemptStatus, Status
from notifications.deliveries.store.queue import DELIVERIES_QUEUE

_IS_OURS: Final = "SELECT EXISTS (SELECT FROM notification_deliveries WHERE id = $1 AND channel = $2)"
_ATTEMPT: Final = """
SELECT l.id, l.status, l.attempted_at, l.id = (
    SELECT id FROM notification_delivery_logs WHERE delivery_id = $1 ORDER BY attempted_at DESC, id DESC LIMIT 1
) AS is_newest
FROM notification_delivery_logs l
WHERE l.delivery_id = $1 AND (l.provider_message_id = $2 OR l.provider_message_id IS NULL)
ORDER BY l.provider_message_id NULLS LAST, l.attempted_at DESC, l.id DESC LIMIT 1
"""
_ADVANCE_ATTEMPT: Final = f"""
UPDATE notification_delivery_logs
SET status = $2, told_at = $3, provider_message_id = coalesce(provider_message_id, $4),
    error = coalesce(nullif($5, ''), error)
WHERE id = $1 AND {allows_change(ATTEMPT, "$2")}
"""
_ADVANCE_DELIVERY: Final = f"""
UPDATE notification_deliveries
SET status = $2, provider_message_id = coalesce(provider_message_id, $3), due_at = NULL, claim_id = NULL,
    claimed_at = NULL
WHERE id = $1 AND {allows_change(DELIVERY, "$2")}
"""
# The delivery of an attempt is locked, so both rows are.
_ADVANCE_BOTH: Final = f"""
WITH attempt AS ({_ADVANCE_ATTEMPT} RETURNING id), delivery AS (
    {with_places_after(5, _ADVANCE_DELIVERY)} RETURNING id
)
SELECT (SELECT count(*) FROM attempt), (SELECT count(*) FROM delivery)
"""
# The delivery is locked before its attempt, as in every other transaction.
_RECORD_RECEIPT: Final = f"""
WITH reported AS (
    SELECT id, delivery_id FROM notification_delivery_logs
    WHERE channel = $1 AND provider_message_id = $2 ORDER BY attempted_at DESC LIMIT 1
), locked AS MATERIALIZED (
    SELECT d.id FROM notification_deliveries d JOIN reported ON reported.delivery_id = d.id FOR UPDATE OF d
), attempt AS (
    UPDATE notification_delivery_logs l SET status = $3, told_at = $4
    FROM reported JOIN locked ON locked.id = reported.delivery_id
    WHERE l.id = reported.id AND l.status <> 'sending' AND {allows_change(ATTEMPT, "$3", column="l.status")}
    RETURNING l.delivery_id
), delivery AS (
    UPDATE notification_deliveries d SET status = $3, provider_message_id = coalesce(d.provider_message_id, $2),
        due_at = NULL, claim_id = NULL, claimed_at = NULL
    FROM attempt WHERE d.id = attempt.delivery_id AND {allows_change(DELIVERY, "$3", column="d.status")}
)
SELECT delivery_id FROM attempt
"""
_RECORD_RESEND: Final = """
INSERT INTO notification_resends (id, delivery_id, log_id, asked_by, idempotency_key, asked_at)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (asked_by, idempotency_key) DO NOTHING
"""
_REQUEUE: Final = f"""
UPDATE notification_deliveries
SET status = 'queued', attempts = 0, due_at = $2, claim_id = NULL, claimed_at = NULL, provider_message_id = NULL
WHERE id = $1 AND status IN {states_before(DELIVERY, "resent")}
"""
_REQUEUE_FAILED: Final = f"""
UPDATE notification_deliveries
SET status = 'queued', due_at = $2, claim_id = NULL, claimed_at = NULL, provider_message_id = NULL
WHERE id = $1 AND status IN {states_before(DELIVERY, "retried")}
"""
# Without the id of support's text the approved template is sent. A repetition changes nothing.
_REQUEUE_AS_TEMPLATE: Final = f"""
UPDATE notification_deliveries
SET status = 'queued', payload = payload - 'messageId', due_at = $2, claim_id = NULL, claimed_at = NULL,
    provider_message_id = NULL
WHERE id = $1 AND status IN {states_before(DELIVERY, "retried")} AND payload ? 'messageId'
"""


class ReportedAttempt(NamedTuple):
    id: UUID
    status: AttemptStatus
    attempted_at: datetime
    is_newest: bool


async def is_delivery_of(uow: UnitOfWork, delivery_id: UUID, channel: str) -> bool:
    """Return whether the id is that of a delivery by the channel."""
    return bool(await uow.fetch_value(_IS_OURS, delivery_id, channel))


async def find_reported_attempt(uow: UnitOfWork, delivery_id: UUID, provider_message_id: str) -> ReportedAttempt | None:
    """Return the attempt with that message id, or the newest one without any."""
    row = await uow.fetch_row(_ATTEMPT, delivery_id, provider_message_id)
    return None if row is None else ReportedAttempt(*row)


async def save_attempt_status(
    uow: UnitOfWork, attempt_id: UUID, status: str, at: datetime, provider_message_id: str, error: str = ""
) -> None:
    await change_state(uow, _ADVANCE_ATTEMPT, attempt_id, status, at, provider_message_id, error)


async def save_delivery_status(uow: UnitOfWork, delivery_id: UUID, status: str, provider_message_id: str) -> None:
    await change_state(uow, _ADVANCE_DELIVERY, delivery_id, status, provider_message_id)


async def save_both_statuses(
    uow: UnitOfWork,
    attempt_id: UUID,
    delivery_id: UUID,
    status: str,
    at: datetime,
    provider_message_id: str,
    error: str = "",
) -> None:
    """Advance the attempt and its locked delivery. Raises StateChanged."""
    attempt, delivery = (attempt_id, status, at, provider_message_id, error), (delivery_id, status, provider_message_id)
    [saved] = await uow.fetch(_ADVANCE_BOTH, *attempt, *delivery)
    if tuple(saved) != (1, 1):
        raise StateChanged(f"attempt {attempt_id} or its delivery {delivery_id} cannot become {status}")


async def record_receipt_alone(
    database: Database, channel: str, provider_message_id: str, status: Status, at: datetime
) -> bool:
    """Advance the attempt with that message id, and its delivery where its state allows it, in one round trip.

    Return whether the status of a recorded attempt was older. It may be repeated.
    """
    return bool(await commit_alone(database, _RECORD_RECEIPT, channel, provider_message_id, status, at))


async def record_resend_if_new(
    uow: UnitOfWork, delivery_id: UUID, log_id: UUID, requested_by: UUID, key: str | None, now: datetime
) -> bool:
    """Record who requested the resend; return whether the idempotency key is new."""
    return bool(await uow.execute(_RECORD_RESEND, new_id(), delivery_id, log_id, requested_by, key, now))


async def requeue_delivery(uow: UnitOfWork, delivery_id: UUID, due_at: datetime) -> None:
    """Reset the delivery, so that its retries start again."""
    await change_state(uow, _REQUEUE, delivery_id, due_at)


async def requeue_failed(uow: UnitOfWork, delivery_id: UUID, due_at: datetime) -> None:
    """Queue a message again that was reported as failed. Its attempts go on counting."""
    await change_state(uow, _REQUEUE_FAILED, delivery_id, due_at)


async def requeue_as_template(uow: UnitOfWork, delivery_id: UUID, due_at: datetime) -> None:
    """Queue a rejected free text again as its approved template."""
    await uow.execute(_REQUEUE_AS_TEMPLATE, delivery_id, due_at)


def enqueue_receipt(
    uow: UnitOfWork, channel: str, provider_message_id: str, status: str, at: datetime, error: str
) -> None:
    receipt = {
        "channel": channel,
        "providerMessageId": provider_message_id,
        "status": status,
        "at": iso(at),
        "error": error,
    }
    uow.enqueue_work(DELIVERIES_QUEUE, provider_message_id, {"receipt": receipt})
