"""The relay: publishes outbox rows to the broker, and marks them after the confirm. Several may run concurrently."""

import asyncio
from contextlib import suppress
from typing import Final

import asyncpg
import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, is_unavailable
from common.messaging.bus import Bus, Outgoing
from common.observability import telemetry
from common.observability.logging import get_logger
from common.observability.outages import Outage
from common.primitives.clock import iso

log = get_logger(__name__)

# Messages with pending confirms; larger batches were not faster (performance.md).
BATCH: Final = 200
# The poll finds rows of other processes, and rows that waited for the broker.
POLL_SECONDS: Final = 1.0
# Unconfirmed messages are retried after this delay, so that they do not block the others.
REFUSED_WAIT_SECONDS: Final = 2
MEASURE_EVERY_SECONDS: Final = 10.0

_CLAIM: Final = f"""
SELECT position, id, queue, type, source, subject, sequence, payload, trace, created_at
FROM outbox WHERE published_at IS NULL AND next_attempt_at <= now()
ORDER BY position LIMIT {BATCH}
FOR UPDATE SKIP LOCKED
"""
_MARK_PUBLISHED: Final = "UPDATE outbox SET published_at = now() WHERE position = ANY ($1::bigint[])"
_PUT_BACK: Final = f"""
UPDATE outbox SET next_attempt_at = now() + make_interval(secs => {REFUSED_WAIT_SECONDS})
WHERE position = ANY ($1::bigint[])
"""
_WAITING: Final = """
SELECT count(*) AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age_seconds
FROM (SELECT created_at FROM outbox WHERE published_at IS NULL ORDER BY position LIMIT 10000) AS head
"""
_DEAD_LETTERS: Final = """
SELECT count(*) FROM (SELECT FROM dead_letters WHERE replayed_at IS NULL LIMIT 10000) AS waiting
"""


async def relay_once(database: Database, bus: Bus) -> int:
    """Publishes one batch, and returns the number of its rows.

    A crash before the mark is durable repeats messages, which the inboxes ignore. So the commit does not wait for the
    disk.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE, async_commit=True) as uow:
        rows = await uow.fetch(_CLAIM)
        if not rows:
            return 0
        confirmed = await bus.publish([_outgoing(row) for row in rows])
        published = [row["position"] for row, ok in zip(rows, confirmed, strict=True) if ok]
        refused = [row["position"] for row, ok in zip(rows, confirmed, strict=True) if not ok]
        if published:
            await uow.execute(_MARK_PUBLISHED, published)
        if refused:
            await uow.execute(_PUT_BACK, refused)
    telemetry.OUTBOX_PUBLISHED.inc(len(published))
    telemetry.OUTBOX_REFUSED.inc(len(refused))
    return len(rows)


async def run_relay(database: Database, bus: Bus) -> None:
    """Publishes until cancelled: at the wake-up after a commit, and each second."""
    pause = Outage(log, "relay failing", "relay recovered")
    while True:
        database.outbox_wakeup.clear()
        try:
            while await relay_once(database, bus) == BATCH:
                pass
            pause.ended()
        except Exception as error:
            # `Database` logs its own outage.
            if not is_unavailable(error):
                pause.failed(error, is_bug=True)
        # Not `wait_for`: a wake-up at the moment of a cancellation would swallow it, and the loop would never end.
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_SECONDS):
                await database.outbox_wakeup.wait()


async def measure_once(database: Database) -> None:
    """Sets the metrics of waiting outbox rows and dead letters."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        row = await uow.fetch_row(_WAITING)
        dead_letters = await uow.fetch_value(_DEAD_LETTERS)
    telemetry.DEAD_LETTERS_WAITING.set(dead_letters)
    if row is not None:
        telemetry.OUTBOX_WAITING.set(row["waiting"])
        telemetry.OUTBOX_AGE_SECONDS.set(row["age_seconds"])


def _outgoing(row: asyncpg.Record) -> Outgoing:
    return Outgoing(
        body=cloud_event(row), message_id=str(row["id"]), type=row["type"], queue=row["queue"], headers=row["trace"]
    )


def cloud_event(row: asyncpg.Record) -> bytes:
    """CloudEvents 1.0 in structured mode (events.md), around the payload as it was written."""
    head = msgspec.json.encode(
        {
            "specversion": "1.0",
            "id": str(row["id"]),
            "source": row["source"],
            "type": row["type"],
            "subject": row["subject"],
            "time": iso(row["created_at"]),
            "datacontenttype": "application/json",
            "sequence": row["sequence"],
        }
    )
    payload: bytes = row["payload"]
    return head[:-1] + b',"data":' + payload + b"}"
