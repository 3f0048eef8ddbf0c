"""The inbox: a message takes effect once in each consumer, however often the broker delivers it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Final
from uuid import UUID

import asyncpg

from common.auth.caller import THE_SERVICE
from common.database.outbox import Writes
from common.database.single_statements import commit_alone
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


def _record(keys: Sequence[MessageKey]) -> str:
    if invalid := [consumer for _, consumer in keys if not consumer.isascii() or not consumer.isidentifier()]:
        raise ValueError(f"a consumer's name must be an identifier: {invalid[0]!r}")
    ordered = sorted((event_id.int, consumer) for event_id, consumer in keys)
    values = ", ".join(f"('{UUID(int=number)}', '{consumer}')" for number, consumer in ordered)
    return _RECORD.format(keys=values) if keys else ""


class AlreadyReceived(Exception):
    """The message has taken effect before."""


class InboxWrite:
    """The only write of a message's handler: one statement, which contains the inbox row and commits itself."""

    def __init__(self, database: Database, key: MessageKey) -> None:
        self._database, self._key = database, key
        self.is_written = False

    async def write(self, writes: Writes, *values: object) -> asyncpg.Record:
        """Commit the writes with the inbox row; return their row. After an error neither of them exists.

        Raises:
            AlreadyReceived: the inbox has the message, and nothing was written.
            AssertionError: a second write of one message.
            DatabaseUnavailable: the outcome is unknown. The inbox ignores a repetition.
        """
        if self.is_written:
            raise AssertionError(f"{self._key[1]} writes more than once")
        self.is_written = True
        try:
            [row] = await commit_alone(self._database, _with_inbox(writes, len(values)), *values, *self._key)
        except asyncpg.UniqueViolationError as error:
            if error.constraint_name == "inbox_pkey":
                raise AlreadyReceived from error
            raise
        return row


@cache
def _with_inbox(writes: Writes, count: int) -> str:
    """Return the writes with the inbox row, which is inserted first: a concurrent delivery waits for its commit, then
    violates the key, so that all is rolled back.
    """
    key = f"${count + 1}, ${count + 2}"
    received = f"received AS (INSERT INTO inbox (event_id, consumer) VALUES ({key}) RETURNING 1)"
    return f"WITH {received}, {writes.tables} SELECT {writes.result} FROM received"
