"""Writes of PIN watches: each forwards an undelivered PIN to the next channel.

Locks are acquired in one order: the watches by order, then the deliveries by id. A transaction that holds a delivery
never locks its watch; a due watch reads the outcome of its deliveries.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.errors import TransactionRequired
from common.database.outbox import Writes
from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.json_records import Json
from notifications.deliveries.domain.pin_texts import PinText, SharedPin, secret_name

_INSERT: Final = "INSERT INTO pin_watches (notification_id, order_id, issue, channel, due_at, is_over)"
_START: Final = f"{_INSERT} VALUES ($1, $2, $3, $4, $5, false) ON CONFLICT (notification_id) DO NOTHING"
# The first PIN of an order takes one round trip.
_LOCK_OR_START: Final = f"""
WITH locked AS MATERIALIZED (
    SELECT issue, is_over FROM pin_watches WHERE order_id = $2 ORDER BY notification_id FOR UPDATE
), started AS (
    {_INSERT} SELECT $1, $2, $3, $4, $5, false WHERE NOT EXISTS (SELECT FROM locked)
    ON CONFLICT (notification_id) DO NOTHING
)
SELECT issue, is_over FROM locked
"""
# Without a lock: the transaction starts again where an order has a watch.
_ARE_FIRST: Final = """
(SELECT count(*) FROM first_watch) = cardinality($1::uuid[])
    AND NOT EXISTS (SELECT FROM pin_watches WHERE order_id = ANY ($2::uuid[]))
"""
_START_FIRST: Final = Writes(
    f"""
first_watch AS (
    {_INSERT}
    SELECT notification_id, order_id, 1, channel, due_at, false
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) AS w (notification_id, order_id, channel, due_at)
    ORDER BY order_id, notification_id ON CONFLICT (notification_id) DO NOTHING RETURNING 1
)
""",
    f"{_ARE_FIRST} AS are_first_watches",
    final=_ARE_FIRST,
)
_CLOSING: Final = """
WITH locked AS MATERIALIZED (
    SELECT notification_id FROM pin_watches WHERE order_id = $1 ORDER BY notification_id FOR UPDATE
), closed AS (
    UPDATE pin_watches w SET due_at = NULL, is_over = true FROM locked WHERE w.notification_id = locked.notification_id
    RETURNING w.notification_id, w.text_id
)
"""
_CLOSE_OF_ORDER: Final = f"{_CLOSING} SELECT notification_id, text_id FROM closed"
# Counting the closed watches ends their locking before the insert may wait.
_CLOSE_FOR_GOOD: Final = f"""
{_CLOSING}, used AS (
    {_INSERT}
    SELECT $2, $1, $3, $4, NULL, true FROM (SELECT count(*) AS watches FROM closed) AS closing WHERE watches >= 0
    ON CONFLICT (notification_id) DO NOTHING
)
SELECT notification_id, text_id FROM closed
"""
# The PIN is obsolete: queued messages fail, and sent ones keep no secret. A text for several orders keeps the others.
_DROP_SECRETS: Final = """
WITH locked AS MATERIALIZED (
    SELECT id, notification_id, sealed FROM notification_deliveries
    WHERE notification_id = ANY ($1) ORDER BY id FOR UPDATE
), kept AS (
    SELECT id, sealed - ARRAY(
        SELECT o.secret FROM unnest($1::uuid[], $2::text[]) AS o (notification_id, secret)
        WHERE o.notification_id = locked.notification_id
    ) AS sealed
    FROM locked
)
UPDATE notification_deliveries d SET
    sealed = kept.sealed,
    due_at = CASE WHEN kept.sealed <> '{}' THEN d.due_at END,
    claim_id = CASE WHEN kept.sealed <> '{}' THEN d.claim_id END,
    claimed_at = CASE WHEN kept.sealed <> '{}' THEN d.claimed_at END,
    status = CASE d.status WHEN 'queued' THEN CASE kept.sealed WHEN '{}' THEN 'failed' ELSE 'queued' END
        ELSE d.status END
FROM kept WHERE d.id = kept.id
"""
# The receipt is overdue, or the channel has failed.
_DUE: Final = """
w.due_at IS NOT NULL AND (w.due_at <= $1 OR EXISTS (
    SELECT FROM notification_deliveries d
    WHERE d.notification_id = ANY (ARRAY[w.notification_id, w.text_id]) AND d.channel = w.channel
        AND d.status IN ('failed', 'bounced')
))
"""
_LIST_DUE: Final = f"SELECT w.notification_id FROM pin_watches w WHERE {_DUE} ORDER BY w.due_at LIMIT $2"
_LOCK_DUE: Final = f"""
SELECT w.channel, EXISTS (
    SELECT FROM notification_deliveries d
    WHERE d.notification_id = ANY (ARRAY[w.notification_id, w.text_id]) AND d.status IN ('delivered', 'read')
) AS has_arrived
FROM pin_watches w WHERE w.notification_id = $2 AND {_DUE} FOR UPDATE OF w SKIP LOCKED
"""
_FIRST_DELIVERY: Final = """
SELECT n.user_id, w.order_id, d.payload, d.sealed
FROM pin_watches w
JOIN notification_deliveries d ON d.notification_id = ANY (ARRAY[w.notification_id, w.text_id])
JOIN notifications n ON n.id = d.notification_id
WHERE w.notification_id = $1 ORDER BY d.created_at, d.id LIMIT 1
"""
_STEP: Final = "UPDATE pin_watches SET channel = $2, due_at = $3 WHERE notification_id = $1"
# Orders the PINs of a payment: each finds the texts that the others have made.
_LOCK_PAYMENT: Final = "SELECT pg_advisory_xact_lock(hashtextextended('pin texts:' || $1, 0))"
_LOCK_TEXTS: Final = """
SELECT notification_id, id, recipient,
    ARRAY(SELECT o ->> 'orderId' FROM jsonb_array_elements(coalesce(payload -> 'orders', '[]')) AS o) AS order_ids,
    status = 'queued' AND claim_id IS NULL AND attempts = 0 AS is_waiting
FROM notification_deliveries WHERE notification_id = ANY ($1) ORDER BY id FOR UPDATE
"""
_ADD_TO_TEXT: Final = """
UPDATE notification_deliveries
SET payload = jsonb_set(payload, '{orders}', payload -> 'orders' || $2::jsonb), sealed = sealed || $3::jsonb,
    due_at = coalesce($4, due_at)
WHERE id = $1 AND status = 'queued' AND claim_id IS NULL
"""
_SAVE_TEXT: Final = "UPDATE pin_watches SET text_id = $2 WHERE notification_id = $1"
_FINISH: Final = "UPDATE pin_watches SET due_at = NULL WHERE notification_id = $1"


class PinWatch(NamedTuple):
    issue: int
    is_over: bool


class DueWatch(NamedTuple):
    channel: str
    has_arrived: bool


class ObsoletePin(NamedTuple):
    """A PIN to delete: the notification whose deliveries contain it, and its name among their secrets."""

    notification_id: UUID
    secret: str


class PinDelivery(NamedTuple):
    """The first delivery of a PIN, or of the text that contains it. `sealed` lacks the PIN after its use."""

    user_id: UUID
    order_id: UUID | None
    payload: Mapping[str, Json]
    sealed: Mapping[str, Mapping[str, str]]


async def lock_watches_or_start(
    uow: UnitOfWork, notification_id: UUID, order_id: UUID, issue: int, channel: str, due_at: datetime
) -> list[PinWatch]:
    """Lock the watches of an order's PINs and return them; without any, start the first one."""
    rows = await uow.fetch(_LOCK_OR_START, notification_id, order_id, issue, channel, due_at)
    return [PinWatch(*row) for row in rows]


class FirstWatch(NamedTuple):
    """The watch of an order's first PIN."""

    notification_id: UUID
    order_id: UUID
    channel: str
    due_at: datetime


def start_first_watches(uow: UnitOfWork, watches: Sequence[FirstWatch]) -> None:
    """Start the watches with the next statement that takes further writes, which raises TransactionRequired where one
    of the orders has a watch.
    """

    def check(row: asyncpg.Record) -> None:
        if not row["are_first_watches"]:
            raise TransactionRequired

    uow.attach(_START_FIRST, *map(list, zip(*watches, strict=True)), then=check)


async def start_watch(
    uow: UnitOfWork,
    notification_id: UUID,
    order_id: UUID | None,
    issue: int,
    channel: str,
    due_at: datetime,
) -> None:
    """Insert a watch if it is new."""
    await uow.execute(_START, notification_id, order_id, issue, channel, due_at)


async def close_watches(uow: UnitOfWork, order_id: UUID) -> list[ObsoletePin]:
    """Close the watches of an order; return the places of its PINs."""
    return _obsolete(order_id, await uow.fetch(_CLOSE_OF_ORDER, order_id))


async def close_watches_for_good(
    uow: UnitOfWork, order_id: UUID, used_id: UUID, last_issue: int, channel: str
) -> list[ObsoletePin]:
    """Close the watches of an order; return the places of its PINs. A closed watch of the last issue, with the id
    `used_id`, rejects the PINs that arrive later.
    """
    return _obsolete(order_id, await uow.fetch(_CLOSE_FOR_GOOD, order_id, used_id, last_issue, channel))


def _obsolete(order_id: UUID, closed: Sequence[asyncpg.Record]) -> list[ObsoletePin]:
    own = [ObsoletePin(notification_id, "pin") for notification_id, _ in closed]
    return own + [ObsoletePin(text_id, secret_name(order_id)) for _, text_id in closed if text_id is not None]


async def drop_secrets(uow: UnitOfWork, pins: Collection[ObsoletePin]) -> None:
    """Delete obsolete PINs from queued and sent messages."""
    await uow.execute(_DROP_SECRETS, *map(list, zip(*pins, strict=True)))


async def lock_payment(uow: UnitOfWork, payment_reference: str) -> None:
    """Order the PINs of a payment: until the transaction ends, no other one makes or changes a text of it."""
    await uow.execute(_LOCK_PAYMENT, payment_reference)


async def lock_pin_texts(uow: UnitOfWork, text_ids: Collection[UUID]) -> list[PinText]:
    """Lock those of the texts that exist."""
    return [PinText(*row) for row in await uow.fetch(_LOCK_TEXTS, list(text_ids))]


async def add_to_text(uow: UnitOfWork, delivery_id: UUID, pin: SharedPin, due_at: datetime | None) -> None:
    """Add an order to a locked text that no worker has claimed; with `due_at` the text is sent then."""
    encrypted = {secret_name(pin.order_id): {"text": pin.secret.text, "context": pin.secret.context}}
    await uow.execute(_ADD_TO_TEXT, delivery_id, [pin.entry], encrypted, due_at)


async def save_text_of_watch(uow: UnitOfWork, notification_id: UUID, text_id: UUID) -> None:
    """Record the text that contains the PIN of a locked watch."""
    await uow.execute(_SAVE_TEXT, notification_id, text_id)


async def list_due_watches(reads: Reads, now: datetime, rows_max: int) -> list[UUID]:
    """Return the notifications whose PIN needs another channel."""
    return [notification_id for (notification_id,) in await reads.fetch(_LIST_DUE, now, rows_max)]


async def lock_due_watch(uow: UnitOfWork, notification_id: UUID, now: datetime) -> DueWatch | None:
    """Lock the watch; None when it is not due or another worker holds it."""
    row = await uow.fetch_row(_LOCK_DUE, now, notification_id)
    return None if row is None else DueWatch(*row)


async def find_first_delivery(uow: UnitOfWork, notification_id: UUID) -> PinDelivery | None:
    row = await uow.fetch_row(_FIRST_DELIVERY, notification_id)
    return None if row is None else PinDelivery(*row)


async def save_step(uow: UnitOfWork, notification_id: UUID, channel: str, due_at: datetime | None) -> None:
    await uow.execute(_STEP, notification_id, channel, due_at)


async def finish_watch(uow: UnitOfWork, notification_id: UUID) -> None:
    """Stop forwarding the PIN."""
    await uow.execute(_FINISH, notification_id)
