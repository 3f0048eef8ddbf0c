"""Writes of deliveries and their attempts. A delivery with `due_at` waits in the queue; workers claim it in batches."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

import asyncpg

from common.database.state_changes import states_before
from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.ids import new_id
from common.primitives.json_records import Json
from contracts.channels import Channel
from notifications.deliveries.domain.deliveries import EncryptedValue, masked
from notifications.deliveries.domain.statuses import DELIVERY, DeliveryStatus
from notifications.deliveries.store.queue import DELIVERIES_QUEUE

_COLUMNS: Final = """
d.id, d.notification_id, (SELECT n.user_id FROM notifications n WHERE n.id = d.notification_id) AS user_id, d.channel,
d.recipient, d.template, d.payload, d.sealed, d.status, d.attempts, d.claim_id, d.claimed_at, d.due_at, d.created_at,
d.traceparent, CASE WHEN d.channel = 'push'
    THEN (SELECT n.subject FROM notifications n WHERE n.id = d.notification_id) END AS subject
"""
_LOCK_DELIVERY: Final = f"SELECT {_COLUMNS} FROM notification_deliveries d WHERE d.id = $1 FOR UPDATE"
_LOCK_REPORTED: Final = f"""
SELECT {_COLUMNS} FROM notification_deliveries d WHERE d.id = (
    SELECT delivery_id FROM notification_delivery_logs
    WHERE channel = $1 AND provider_message_id = $2 ORDER BY attempted_at DESC LIMIT 1
) FOR UPDATE
"""
# Each channel has its own limit, so that a hanging one delays no other. Other workers skip the locked rows.
_LOCK_DUE: Final = f"""
SELECT {_COLUMNS} FROM unnest($2::text[], $3::int[]) AS limits (channel, free)
CROSS JOIN LATERAL (
    SELECT * FROM notification_deliveries
    WHERE channel = limits.channel AND due_at <= $1 AND status = 'queued' AND claim_id IS NULL
    ORDER BY is_urgent DESC, due_at, id LIMIT limits.free FOR UPDATE SKIP LOCKED
) AS d
"""
# The conditions of `_LOCK_DUE`: a row that it would not find starts no transaction.
_HAS_DUE: Final = """
SELECT EXISTS (
    SELECT FROM notification_deliveries
    WHERE due_at <= $1 AND status = 'queued' AND claim_id IS NULL AND channel = ANY ($2::text[])
)
"""
_LOCK_OLD_CLAIMS: Final = f"""
SELECT {_COLUMNS} FROM notification_deliveries d WHERE d.claimed_at < $1 AND d.status = 'queued'
ORDER BY d.claimed_at LIMIT $2 FOR UPDATE SKIP LOCKED
"""
_CLAIM: Final = """
UPDATE notification_deliveries d SET claim_id = c.claim_id, claimed_at = $3, attempts = d.attempts + 1, due_at = NULL
FROM unnest($1::uuid[], $2::uuid[]) AS c (id, claim_id) WHERE d.id = c.id
"""
_POSTPONE: Final = """
UPDATE notification_deliveries d SET due_at = p.due_at
FROM unnest($1::uuid[], $2::timestamptz[]) AS p (id, due_at) WHERE d.id = p.id
"""
_LOG_COLUMNS: Final = """
id, delivery_id, notification_id, user_id, channel, template, recipient, status, provider, provider_message_id, error,
attempted_at
"""
_REFUSED: Final = f"""
INSERT INTO notification_delivery_logs ({_LOG_COLUMNS})
SELECT $2, d.id, d.notification_id, n.user_id, d.channel, d.template, $3, 'failed', NULL, NULL, $4, $5
FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id WHERE d.id = $1
"""
# A status may be reported before the outcome is recorded: such a row exists and has its status.
_LOG_CLAIM: Final = f"""
INSERT INTO notification_delivery_logs AS log ({_LOG_COLUMNS})
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, $9, $10)
ON CONFLICT (id, attempted_at) DO UPDATE SET status = excluded.status, error = excluded.error
WHERE log.status = 'sending'
"""
_OUTCOME_UNKNOWN: Final = "the worker ended before it could record the outcome"
# The address of an erased user is deleted with the end of the last delivery (`notify_erased_user`).
_WITHOUT_LAST_ADDRESS: Final = "sealed = CASE WHEN d.recipient LIKE 'erased:%' THEN '{}' ELSE d.sealed END"
# One statement for a batch: the rows are locked by id, and an address that has been erased is not logged. A late
# acceptance counts even if the claim was released; any other outcome only for its own claim.
_SAVE_ATTEMPTS: Final = f"""
WITH attempt AS (
    SELECT * FROM unnest(
        $1::uuid[], $2::uuid[], $3::timestamptz[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::timestamptz[], $12::int[]
    ) AS a (delivery_id, claim_id, claimed_at, user_id, recipient, masked, status, provider, message_id, error, due_at,
    counted)
), locked AS MATERIALIZED (
    SELECT id, notification_id, channel, template, recipient FROM notification_deliveries
    WHERE id = ANY ($1) ORDER BY id FOR UPDATE
), logged AS (
    INSERT INTO notification_delivery_logs AS log ({_LOG_COLUMNS})
    SELECT a.claim_id, d.id, d.notification_id, a.user_id, d.channel, d.template,
        CASE WHEN d.recipient = a.recipient THEN a.masked ELSE 'erased' END, a.status, a.provider, a.message_id,
        CASE WHEN d.recipient = a.recipient THEN a.error END, a.claimed_at
    FROM attempt a JOIN locked d ON d.id = a.delivery_id
    ON CONFLICT (id, attempted_at) DO UPDATE SET status = excluded.status, provider = excluded.provider,
        provider_message_id = excluded.provider_message_id, error = excluded.error
    WHERE log.status IN ('sending', 'unknown')
)
UPDATE notification_deliveries d SET
    status = CASE a.status WHEN 'sent' THEN 'sent' ELSE d.status END,
    provider_message_id = coalesce(a.message_id, d.provider_message_id),
    due_at = a.due_at, attempts = d.attempts - 1 + a.counted, claim_id = NULL, claimed_at = NULL,
    sealed = CASE WHEN a.status = 'sent' AND d.recipient LIKE 'erased:%' THEN '{{}}' ELSE d.sealed END
FROM attempt a JOIN locked ON locked.id = a.delivery_id
WHERE d.id = a.delivery_id AND d.status = 'queued' AND (a.status = 'sent' OR d.claim_id = a.claim_id)
RETURNING d.id
"""
_REQUEUE_ABANDONED: Final = """
UPDATE notification_deliveries SET claim_id = NULL, claimed_at = NULL, due_at = $2 WHERE id = $1
"""
# Deliveries of the release before wait without `due_at`: their work items were the queue.
_MAKE_DUE: Final = """
UPDATE notification_deliveries SET due_at = $2
WHERE id = $1 AND status = 'queued' AND due_at IS NULL AND claim_id IS NULL
"""
_MARK_FAILED: Final = f"""
UPDATE notification_deliveries d
SET status = 'failed', due_at = NULL, claim_id = NULL, claimed_at = NULL, {_WITHOUT_LAST_ADDRESS}
WHERE id = $1 AND status IN {states_before(DELIVERY, "withdrawn")}
"""


class LockedDelivery(NamedTuple):
    """A delivery with its user, locked. `sealed` holds the encrypted secrets by name; a push has its `subject`."""

    id: UUID
    notification_id: UUID
    user_id: UUID | None
    channel: Channel
    recipient: str
    template: str
    payload: Mapping[str, Json]
    sealed: Mapping[str, Mapping[str, str]]
    status: DeliveryStatus
    attempts: int
    claim_id: UUID | None
    claimed_at: datetime | None
    due_at: datetime | None
    created_at: datetime
    traceparent: str | None
    subject: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a provider with its outcome.

    `due_at`: when the message is tried again; None after an acceptance or a final failure. An attempt that is not
    `counted` uses up no retry.
    """

    delivery: LockedDelivery
    claim_id: UUID
    claimed_at: datetime
    provider: str
    status: Literal["sent", "failed", "unknown"]
    message_id: str | None = None
    error: str | None = None
    due_at: datetime | None = None
    counted: bool = True


def enqueue_wakeup(uow: UnitOfWork, delivery_id: UUID) -> None:
    """Wake a worker after the commit, in a process that sends no deliveries itself."""
    uow.enqueue_work(DELIVERIES_QUEUE, delivery_id, {})


async def lock_delivery(uow: UnitOfWork, delivery_id: UUID) -> LockedDelivery | None:
    row = await uow.fetch_row(_LOCK_DELIVERY, delivery_id)
    return None if row is None else LockedDelivery(*row)


async def lock_reported_delivery(uow: UnitOfWork, channel: str, provider_message_id: str) -> LockedDelivery | None:
    """Lock the delivery of the newest attempt with the provider's message id."""
    row = await uow.fetch_row(_LOCK_REPORTED, channel, provider_message_id)
    return None if row is None else LockedDelivery(*row)


async def lock_due_deliveries(uow: UnitOfWork, now: datetime, free: Mapping[str, int]) -> list[LockedDelivery]:
    """Lock the due deliveries of each channel, at most its number in `free`: urgent ones, then the oldest."""
    rows = await uow.fetch(_LOCK_DUE, now, list(free), list(free.values()))
    return [LockedDelivery(*row) for row in rows]


async def has_due_deliveries(reads: Reads, now: datetime, channels: Collection[str]) -> bool:
    """Return whether an unclaimed delivery of these channels is due."""
    return bool(await reads.fetch_value(_HAS_DUE, now, list(channels)))


async def claim_deliveries(uow: UnitOfWork, claims: Mapping[UUID, UUID], now: datetime) -> None:
    """Claim locked deliveries: the id of each claim by that of its delivery. It is the id of the log row as well."""
    await uow.execute(_CLAIM, list(claims), list(claims.values()), now)


async def postpone_deliveries(uow: UnitOfWork, due_times: Mapping[UUID, datetime]) -> None:
    """Set the time from which each delivery is due."""
    if due_times:
        await uow.execute(_POSTPONE, list(due_times), list(due_times.values()))


async def save_attempts(
    fetch: Callable[..., Awaitable[Sequence[asyncpg.Record]]], attempts: Sequence[Attempt]
) -> Collection[UUID]:
    """Log the attempts and update their deliveries; return the deliveries that they changed. It may be repeated.

    `fetch` is that of a unit of work, or `commit_alone` of a database.
    """
    columns = zip(
        *(
            (
                one.delivery.id,
                one.claim_id,
                one.claimed_at,
                one.delivery.user_id,
                one.delivery.recipient,
                masked(one.delivery.recipient),
                one.status,
                one.provider,
                one.message_id,
                one.error,
                one.due_at,
                int(one.counted),
            )
            for one in attempts
        ),
        strict=True,
    )
    return {delivery_id for (delivery_id,) in await fetch(_SAVE_ATTEMPTS, *map(list, columns))}


async def record_refused_attempt(
    uow: UnitOfWork, delivery_id: UUID, recipient: str, reason: str, now: datetime
) -> None:
    """Log an attempt without a provider call; `recipient` is masked."""
    await uow.execute(_REFUSED, delivery_id, new_id(), recipient, reason, now)


async def log_claim(uow: UnitOfWork, delivery: LockedDelivery, status: str = "sending", error: str = "") -> None:
    """Log the attempt of a claim whose outcome is not recorded. A row with an outcome stays as it is."""
    await uow.execute(
        _LOG_CLAIM,
        delivery.claim_id,
        delivery.id,
        delivery.notification_id,
        delivery.user_id,
        delivery.channel,
        delivery.template,
        masked(delivery.recipient),
        status,
        error or None,
        delivery.claimed_at,
    )


async def save_failed(uow: UnitOfWork, delivery: LockedDelivery) -> bool:
    """Mark a queued delivery as failed; return whether it was queued."""
    if delivery.claim_id is not None:
        await log_claim(uow, delivery, "unknown", _OUTCOME_UNKNOWN)
    return bool(await uow.execute(_MARK_FAILED, delivery.id))


async def lock_old_claims(uow: UnitOfWork, claimed_before: datetime, rows_max: int) -> list[LockedDelivery]:
    """Lock deliveries that were claimed before that time and have no outcome, oldest first."""
    return [LockedDelivery(*row) for row in await uow.fetch(_LOCK_OLD_CLAIMS, claimed_before, rows_max)]


async def release_claim(uow: UnitOfWork, delivery: LockedDelivery, due_at: datetime) -> None:
    """Release the claim of a dead worker and log its attempt as unknown."""
    await log_claim(uow, delivery, "unknown", _OUTCOME_UNKNOWN)
    await uow.execute(_REQUEUE_ABANDONED, delivery.id, due_at)


async def make_due(uow: UnitOfWork, delivery_id: UUID, now: datetime) -> None:
    """Queue a delivery of the release before, whose work item has arrived."""
    await uow.execute(_MAKE_DUE, delivery_id, now)


def encrypted_of(sealed: Mapping[str, Mapping[str, str]]) -> dict[str, EncryptedValue]:
    """Return the secrets of the column `sealed`."""
    return {name: EncryptedValue(one["text"], one["context"]) for name, one in sealed.items()}
