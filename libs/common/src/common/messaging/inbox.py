"""The inbox: a message takes effect once in each consumer, however often the broker delivers it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.late_transactions import FirstWrites
from common.database.outbox import Writes
from common.database.unit_of_work import Database, UnitOfWork

MessageKey = tuple[UUID, str]
"""The id of an event, and the name of its consumer."""

# In BEGIN's round trip, where PostgreSQL takes no parameters and returns no rows: ids are hexadecimal digits, consumers
# are names of this code. A PREPARE would belong to one connection behind a pooler.
_RECORD: Final = "INSERT INTO inbox (event_id, consumer) VALUES {keys} ON CONFLICT (event_id, consumer) DO NOTHING"
# Only where some were recorded and others not: the rows of this transaction.
_RECORDED_HERE: Final = """
SELECT event_id, consumer FROM inbox
WHERE event_id = ANY ($1::uuid[]) AND xmin = pg_current_xact_id_if_assigned()::xid
"""
# In the statement that is a whole transaction. A repetition violates the key, so that all is rolled back.
_FIRST_WRITES: Final = Writes(
    """
received AS (INSERT INTO inbox (event_id, consumer) SELECT * FROM unnest($1::uuid[], $2::text[]) RETURNING 1),
first_writes AS MATERIALIZED (SELECT count(*) AS messages FROM received)
""",
    "messages",
    final="true",
)


@asynccontextmanager
async def consuming(
    database: Database, keys: Sequence[MessageKey], *, is_shared: bool = False
) -> AsyncIterator[tuple[UnitOfWork, set[MessageKey]]]:
    """Open the unit of work that handles messages; yield it with the keys that are new. `is_shared` as there.

    A concurrent delivery waits for the first one's commit. The rows are inserted in their order, so that two batches
    with the same messages do not deadlock. A repetition is acknowledged only when the first one's commit is on a second
    machine.

    Raises:
        ValueError: a consumer's name is no identifier.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE, is_shared=is_shared, first=_record(keys)) as uow:
        if uow.first_count == len(keys):
            yield uow, set(keys)
            return
        uow.confirm_earlier()
        rows = await uow.fetch(_RECORDED_HERE, [event_id for event_id, _ in keys]) if uow.first_count else []
        yield uow, {(row["event_id"], row["consumer"]) for row in rows}


@asynccontextmanager
async def consuming_late(
    database: Database, keys: Sequence[MessageKey], *, is_shared: bool = False, is_single: bool = False
) -> AsyncIterator[UnitOfWork]:
    """Open the unit of work that handles new messages; it starts with the first write or lock. `is_single`: the first
    write of their only handler is its last one.

    Raises:
        ValueError: a consumer's name is no identifier.
        TransactionRequired: a message is not new, or something must follow the write that was expected to be the last
            one. Nothing was written.
    """
    statement, ordered = _record(keys), _ordered(keys)
    values = ([event_id for event_id, _ in ordered], [consumer for _, consumer in ordered])
    late = FirstWrites(statement, _FIRST_WRITES, values, len(keys), "inbox_pkey", is_single)
    async with database.unit_of_work(acting_as=THE_SERVICE, is_shared=is_shared, late=late) as uow:
        with uow.repeating_undecided():
            yield uow


def _ordered(keys: Sequence[MessageKey]) -> list[MessageKey]:
    return sorted(keys, key=lambda key: (key[0].int, key[1]))


def _record(keys: Sequence[MessageKey]) -> str:
    if invalid := [consumer for _, consumer in keys if not consumer.isascii() or not consumer.isidentifier()]:
        raise ValueError(f"a consumer's name must be an identifier: {invalid[0]!r}")
    values = ", ".join(f"('{event_id}', '{consumer}')" for event_id, consumer in _ordered(keys))
    return _RECORD.format(keys=values) if keys else ""
