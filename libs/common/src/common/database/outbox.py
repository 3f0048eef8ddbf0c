"""The transactional outbox: an event is a row of the transaction that caused it; `common.messaging.relay` publishes it.

Every message to the broker is published through the outbox.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import asyncpg
import msgspec

from common.database.parameters import with_places_after
from common.primitives.ids import new_id
from contracts.event import Event

# The relay of the committing process has this long to publish a row. Then any relay publishes it.
LEASE_SECONDS: Final = 5.0
# Rows in memory. During an outage of the broker, further ones are read from the table.
HANDED_OVER_MAX: Final = 1_000
# The subject of the floor of sequences; no event has it.
FLOOR: Final = ""

# The number of a subject without a row: retention has raised the floor, the row of no subject, above the numbers of
# the rows that it removes (decision 210).
_FIRST: Final = f"coalesce((SELECT last FROM outbox_sequences WHERE subject = '{FLOOR}'), 0) + 1"
# `sequence` grows for each subject and publisher (events.md), under the lock of the subject's row here.
APPEND: Final = f"""
WITH next AS (
    INSERT INTO outbox_sequences AS s (subject, last) VALUES ($5, {_FIRST})
    ON CONFLICT (subject) DO UPDATE SET last = s.last + 1, used_at = excluded.used_at
    RETURNING last
), appended AS (
    INSERT INTO outbox (id, queue, type, source, subject, sequence, payload, trace, next_attempt_at)
    SELECT $1, $2, $3, $4, $5, next.last, $6, $7, clock_timestamp() + make_interval(secs => $8) FROM next
)
SELECT last AS sequence, now() AS created_at FROM next
"""
# Work items are not ordered by a sequence.
APPEND_WORK: Final = """
WITH appended AS (
    INSERT INTO outbox (id, queue, type, source, subject, sequence, payload, trace, next_attempt_at)
    VALUES ($1, $2, $3, $4, $5, 1, $6, $7, clock_timestamp() + make_interval(secs => $8))
)
SELECT 1 AS sequence, now() AS created_at
"""
# The row of one event, together with other writes, whose parameters come first.
_APPEND_TO: Final = """
WITH {tables}, next AS (
    INSERT INTO outbox_sequences AS s (subject, last) SELECT ${subject}, {first} WHERE {condition}
    ON CONFLICT (subject) DO UPDATE SET last = s.last + 1, used_at = excluded.used_at
    RETURNING last
), appended AS (
    INSERT INTO outbox (id, queue, type, source, subject, sequence, payload, trace, next_attempt_at)
    SELECT ${id}, NULL, ${type}, ${source}, ${subject}, next.last, ${payload}, ${trace},
        clock_timestamp() + make_interval(secs => ${lease})
    FROM next
)
SELECT {result}, last AS event_sequence, now() AS event_created_at FROM {one} LEFT JOIN next ON true
"""
_NOT_APPENDED: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One message to publish: to the queue, or to the exchange by its type."""

    id: UUID
    queue: str | None
    type: str
    source: str
    subject: str
    payload: bytes
    trace: Mapping[str, str]
    # Set by the database.
    sequence: int = 1
    created_at: datetime = _NOT_APPENDED


def event_row(event: Event, trace: Mapping[str, str], source: str | None) -> OutboxRow:
    """Return an event for the exchange. `source` is its publisher, for types that do not name one (operations)."""
    publisher = source or event.publisher()
    payload = msgspec.json.encode(event)
    return OutboxRow(new_id(), None, event.TYPE, f"/services/{publisher}", event.subject, payload, trace)


def work_row(queue: str, subject: str, payload: Mapping[str, object], trace: Mapping[str, str]) -> OutboxRow:
    """Return a work item for a queue of the same service."""
    service = queue.split(".", 1)[0]
    return OutboxRow(new_id(), queue, queue, f"/services/{service}", subject, msgspec.json.encode(payload), trace)


class Connection(Protocol):
    """The methods of a connection that write the outbox."""

    async def fetch(self, statement: str, /, *values: object, timeout: float | None = None) -> list[asyncpg.Record]: ...

    async def fetchmany(self, statement: str, rows: Sequence[Sequence[object]], /) -> list[asyncpg.Record]: ...


async def append(connection: Connection, rows: Sequence[OutboxRow], lease_seconds: float) -> Sequence[OutboxRow]:
    """Insert the rows in one round trip for events and one for work items; returns them with sequence and time.

    The sequences of the subjects are locked in the order of the subjects; events of one subject keep their order.
    """
    appended: list[OutboxRow] = []
    for statement, part in (
        (APPEND, sorted((row for row in rows if row.queue is None), key=lambda row: row.subject)),
        (APPEND_WORK, [row for row in rows if row.queue is not None]),
    ):
        if part:
            values = [
                (row.id, row.queue, row.type, row.source, row.subject, row.payload, row.trace, lease_seconds)
                for row in part
            ]
            results = await connection.fetchmany(statement, values)
            appended += [
                replace(row, sequence=result["sequence"], created_at=result["created_at"])
                for row, result in zip(part, results, strict=True)
            ]
    return appended


class Writes(NamedTuple):
    """Writes of one round trip: common table expressions, and the columns of the one row that they return, each a
    subquery. An event is published where the `condition` holds. Where `final` holds, they may be the last writes of
    their transaction; None: others always follow.
    """

    tables: str
    result: str
    condition: str = "true"
    final: str | None = None

    source: str = "(VALUES (1)) AS one"
    """A table of one row, which is read before the event is written."""

    @property
    def statement(self) -> str:
        """Return the writes without an event."""
        return f"WITH {self.tables} SELECT {self.result}, {self.condition} AS is_published FROM {self.source}"


@cache
def alone(*parts: tuple[Writes, int]) -> Writes:
    """Return several writes as those of one statement that is a whole transaction. The first part is a table
    `first_writes`, which is written before the others; the condition is that of the second. Where others must follow,
    the statement fails: it divides by zero.
    """
    writes = together(*parts)
    return writes._replace(
        result=f"{writes.result}, 1 / ({writes.final})::integer AS is_final",
        condition=parts[1][0].condition if len(parts) > 1 else "false",
        source="first_writes",
    )


@cache
def together(*parts: tuple[Writes, int]) -> Writes:
    """Return several writes, each with the number of its parameters, as one. Its row has the columns of all of them,
    and its condition is that of the first.
    """
    tables, results, finals, count = [], [], [], 0
    for writes, number in parts:
        tables.append(with_places_after(count, writes.tables))
        results.append(with_places_after(count, writes.result))
        finals.append(f"({with_places_after(count, writes.final or 'false')})")
        count += number
    return Writes(", ".join(tables), ", ".join(results), parts[0][0].condition, " AND ".join(finals))


class Attached(NamedTuple):
    """Writes that wait for the next statement of their transaction; `then` has their row."""

    writes: Writes
    values: tuple[object, ...]
    then: Callable[[asyncpg.Record], None]


@cache
def _appending(writes: Writes, count: int) -> str:
    names = ("id", "type", "source", "subject", "payload", "trace", "lease")
    places = {name: place for place, name in enumerate(names, count + 1)}
    return _APPEND_TO.format(
        tables=writes.tables,
        result=writes.result,
        condition=writes.condition,
        first=_FIRST,
        one=writes.source,
        **places,
    )


async def append_with(
    connection: Connection,
    row: OutboxRow,
    lease_seconds: float,
    writes: Writes,
    values: Sequence[object],
    timeout: float | None = None,
) -> tuple[asyncpg.Record, OutboxRow | None]:
    """Run the writes and insert the event's row in one round trip; return the row of the writes, and the event with
    sequence and time, or None where their condition did not hold.

    The subject's sequence is locked after the rows that the transaction has locked before, and after those that the
    condition reads.
    """
    outbox_values = (row.id, row.type, row.source, row.subject, row.payload, row.trace, lease_seconds)
    [result] = await connection.fetch(_appending(writes, len(values)), *values, *outbox_values, timeout=timeout)
    if result["event_sequence"] is None:
        return result, None
    return result, replace(row, sequence=result["event_sequence"], created_at=result["event_created_at"])


class Handover:
    """Committed rows of this process, which its relay publishes without reading the table.

    Other relays skip them for `lease_seconds`. A row that is lost here, with the process or because too many wait, is
    then published from the table.
    """

    def __init__(self) -> None:
        self._rows: deque[OutboxRow] = deque(maxlen=HANDED_OVER_MAX)
        self._wakeup = asyncio.Event()
        # Without a relay in this process, other processes publish at once.
        self.lease_seconds = 0.0

    @contextmanager
    def to_relay(self) -> Iterator[None]:
        """Rows are handed over within this context, which the relay of the process holds."""
        self.lease_seconds = LEASE_SECONDS
        try:
            yield
        finally:
            self.lease_seconds = 0.0
            self._rows.clear()

    @property
    def is_empty(self) -> bool:
        """Return whether no row waits for the relay of this process."""
        return not self._rows

    def add(self, rows: Sequence[OutboxRow], *, wakes_relay: bool = True) -> None:
        """Hands committed rows to the relay of this process, if there is one."""
        if self.lease_seconds:
            self._rows.extend(rows)
            if wakes_relay:
                self._wakeup.set()

    async def wait(self, seconds: float) -> bool:
        """Wait for a commit that wakes the relay, at most `seconds`. Returns whether there was one."""
        # Not `wait_for`: a wake-up at the moment of a cancellation would swallow it, and the loop would never end.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._wakeup.wait()
        return False

    def pop(self, count: int) -> list[OutboxRow]:
        """Remove and returns the oldest rows, at most `count`."""
        popped = [self._rows.popleft() for _ in range(min(count, len(self._rows)))]
        if self.is_empty:
            self._wakeup.clear()
        return popped
