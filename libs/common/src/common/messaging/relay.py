"""The relay: publishes outbox rows to the broker, and marks them after the confirm. Several may run concurrently.

It publishes the rows that its own process commits from memory, and reads only the rows of others from the table:
those of processes that died or have no relay, and those that the broker did not confirm.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

import asyncpg
import msgspec

from common.auth.caller import THE_SERVICE
from common.database.errors import is_unavailable
from common.database.outbox import OutboxRow
from common.database.unit_of_work import Database
from common.messaging.bus import Bus, Outgoing
from common.observability import telemetry
from common.observability.logging import get_logger
from common.observability.outages import Outage
from common.primitives.clock import iso
from common.primitives.waiting import is_cancelled_by_us

log = get_logger(__name__)

# Messages with pending confirms; larger batches were not faster (performance.md).
BATCH: Final = 200
# The poll finds rows of other processes, and rows that waited for the broker. Well within `LEASE_SECONDS`, because it
# also marks what was published from memory.
POLL_SECONDS: Final = 1.0
# While there is nothing to mark or to publish, each pause is twice as long, up to this.
IDLE_SECONDS: Final = 4.0
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
# A row that was not read has no known position, but few rows have no mark. Its commit does not wait for the disk: a
# crash of the server before the mark is durable repeats messages.
_MARK_AND_POLL: Final = """
WITH marked AS (UPDATE outbox SET published_at = now() WHERE published_at IS NULL AND id = ANY ($1::uuid[]))
SELECT set_config('synchronous_commit', 'off', true),
    EXISTS (SELECT FROM outbox WHERE published_at IS NULL AND next_attempt_at <= now()) AS is_waiting
"""
_PUT_BACK: Final = f"""
UPDATE outbox SET next_attempt_at = now() + make_interval(secs => {REFUSED_WAIT_SECONDS})
WHERE position = ANY ($1::bigint[])
"""
_WAITING: Final = """
SELECT count(*) AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age_seconds
FROM (SELECT created_at FROM outbox WHERE published_at IS NULL ORDER BY position LIMIT 10000) AS head
"""
_OLDEST: Final = """
SELECT extract(epoch FROM now() - created_at)::float8 AS age_seconds
FROM outbox WHERE published_at IS NULL ORDER BY position LIMIT 1
"""
_DEAD_LETTERS: Final = """
SELECT count(*) FROM (SELECT FROM dead_letters WHERE resolved_at IS NULL LIMIT 10000) AS waiting
"""


class Relay:
    """Publishes the outbox of a service until cancelled, in one of its processes."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self._database, self._bus = database, bus
        self._unmarked: list[UUID] = []
        self._poll_at = 0.0
        self._pause_seconds = POLL_SECONDS

    async def run(self) -> None:
        pause = Outage(log, "relay failing", "relay recovered")
        with self._database.handover.to_relay():
            try:
                while True:
                    try:
                        await self.run_once()
                        pause.ended()
                    except (Exception, asyncio.CancelledError) as error:
                        if is_cancelled_by_us():
                            raise
                        # `Database` logs its own outage.
                        if not is_unavailable(error):
                            pause.failed(error, is_bug=True)
                        await asyncio.sleep(POLL_SECONDS)
            finally:
                # Without a mark another relay publishes the last messages again, which the inboxes ignore.
                with suppress(Exception):
                    await self._mark_and_poll()

    async def run_once(self) -> None:
        """Publish the rows that are handed over; after `POLL_SECONDS` marks them, and publishes those in the table."""
        clock = asyncio.get_running_loop().time
        is_woken = await self._database.handover.wait(max(0.0, self._poll_at - clock()))
        if rows := self._database.handover.pop(BATCH):
            confirmed = await _publish(self._bus, rows)
            # The others are read from the table when their lease ends.
            self._unmarked += [row.id for row, ok in zip(rows, confirmed, strict=True) if ok]
            self._pause_seconds = POLL_SECONDS
            self._poll_at = min(self._poll_at, clock() + POLL_SECONDS)
        # A timer may fire a little early.
        if not is_woken or clock() >= self._poll_at or len(self._unmarked) >= BATCH:
            self._poll_at = clock() + self._pause_seconds
            self._pause_seconds = min(2 * self._pause_seconds, IDLE_SECONDS)
            if await self._mark_and_poll():
                self._pause_seconds = POLL_SECONDS
                self._poll_at = clock() + POLL_SECONDS
                while await relay_once(self._database, self._bus) == BATCH:
                    pass

    async def _mark_and_poll(self) -> bool:
        """Mark published rows, and returns whether others are due."""
        [row] = await self._database.fetch_for(THE_SERVICE, _MARK_AND_POLL, self._unmarked)
        self._unmarked.clear()
        return bool(row["is_waiting"])


async def run_relay(database: Database, bus: Bus) -> None:
    """Publish until cancelled: after each commit of this process, and each second what other processes committed."""
    await Relay(database, bus).run()


async def relay_once(database: Database, bus: Bus) -> int:
    """Publish one batch from the table, and returns the number of its rows.

    A restart of the server shows rows that no second machine has, and a failover may take back: they wait for it
    (decision 83). A crash before the mark is durable repeats messages, which the inboxes ignore. So the commit does not
    wait for the disk.

    Raises:
        OutcomeUnknown: the rows are on no second machine yet.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE, async_commit=True) as uow:
        rows = await uow.fetch(_CLAIM)
        if not rows:
            return 0
        async with database.unit_of_work(acting_as=THE_SERVICE) as durable:
            durable.confirm_earlier()
        confirmed = await _publish(bus, [row_of(record) for record in rows])
        published = [row["position"] for row, ok in zip(rows, confirmed, strict=True) if ok]
        refused = [row["position"] for row, ok in zip(rows, confirmed, strict=True) if not ok]
        if published:
            await uow.execute(_MARK_PUBLISHED, published)
        if refused:
            await uow.execute(_PUT_BACK, refused)
    return len(rows)


async def outbox_age_seconds(database: Database) -> float:
    """Return the age of the oldest unpublished row; 0 without any."""
    rows = await database.fetch_for(THE_SERVICE, _OLDEST)
    return float(rows[0]["age_seconds"]) if rows else 0.0


async def measure_once(database: Database) -> None:
    """Set the metrics of waiting outbox rows and dead letters."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        row = await uow.fetch_row(_WAITING)
        dead_letters = await uow.fetch_value(_DEAD_LETTERS)
    telemetry.DEAD_LETTERS_WAITING.set(dead_letters)
    if row is not None:
        telemetry.OUTBOX_WAITING.set(row["waiting"])
        telemetry.OUTBOX_AGE_SECONDS.set(row["age_seconds"])


async def _publish(bus: Bus, rows: Sequence[OutboxRow]) -> list[bool]:
    confirmed = await bus.publish(
        [Outgoing(cloud_event(row), str(row.id), row.type, row.queue, row.trace) for row in rows]
    )
    telemetry.OUTBOX_PUBLISHED.inc(confirmed.count(True))
    telemetry.OUTBOX_REFUSED.inc(confirmed.count(False))
    return confirmed


def row_of(record: asyncpg.Record) -> OutboxRow:
    """Return a row of the table `outbox`."""
    return OutboxRow(
        record["id"],
        record["queue"],
        record["type"],
        record["source"],
        record["subject"],
        record["payload"],
        record["trace"],
        record["sequence"],
        record["created_at"],
    )


def cloud_event(row: OutboxRow) -> bytes:
    """CloudEvents 1.0 in structured mode (events.md), around the payload as it was written."""
    head = msgspec.json.encode(
        {
            "specversion": "1.0",
            "id": str(row.id),
            "source": row.source,
            "type": row.type,
            "subject": row.subject,
            "time": iso(row.created_at),
            "datacontenttype": "application/json",
            "sequence": row.sequence,
        }
    )
    return head[:-1] + b',"data":' + row.payload + b"}"
