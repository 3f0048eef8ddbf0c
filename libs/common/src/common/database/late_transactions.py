"""Transactions that start with their first write or lock, so that one write of messages is a statement alone."""

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import asyncpg

from common.database import outbox
from common.database.commits import row_count, uncancelled
from common.database.errors import BROKEN, UNAVAILABLE, OutcomeUnknown, TransactionRequired

# Neither writes nor locks. Every other statement starts the transaction.
_READ: Final = re.compile(
    r"\s*SELECT\b(?!.*\b(?:FOR\s+(?:UPDATE|NO|SHARE|KEY)|\w*lock\w*\s*\(|set_config|nextval)\b)", re.S | re.I
)


class FirstWrites(NamedTuple):
    """The writes with which a transaction starts: as `statement` in BEGIN's round trip, or as `writes`, a part of the
    statement that is the whole transaction. TransactionRequired is raised unless they change `row_count` rows.

    `key` is the constraint that a repetition violates. `is_single`: the first write that follows is the last one.
    """

    statement: str
    writes: outbox.Writes
    values: tuple[object, ...]
    row_count: int
    key: str
    is_single: bool


class LateConnection:
    """A connection whose transaction starts with its first write or lock. Each read before is a transaction of its own,
    with the snapshot that it has at READ COMMITTED in any case.
    """

    def __init__(self, connection: asyncpg.Connection, first: FirstWrites, commit_seconds_max: float) -> None:
        self.connection, self._first, self._commit_seconds_max = connection, first, commit_seconds_max
        self.is_started = self.is_sent = self.is_committed = False
        # Set where the decision depends on a row that is read without a lock.
        self._reads_left: int | None = None
        self.stop: asyncio.CancelledError | None = None
        """The cancellation of the caller while the statement committed."""
        self.appended: outbox.OutboxRow | None = None
        """The event of the statement that committed."""

    @property
    def is_open(self) -> bool:
        """Return whether nothing is written yet."""
        return not self.is_started and not self.is_committed

    @property
    def is_unlocked(self) -> bool:
        """Return whether the decision depends on a row that was read without a lock."""
        return self._reads_left is not None

    @property
    def is_undecided(self) -> bool:
        """Return whether a row was read without a lock, and no statement has checked its version."""
        return self.is_unlocked and not self.is_sent

    def decide_unlocked(self, reads_max: int) -> bool:
        """Let the decision depend on at most `reads_max` rows that are read without a lock; False where the
        transaction has started, or is not of one handler.
        """
        if self._first.is_single and self.is_open and self._reads_left is None:
            self._reads_left = reads_max
            return True
        return False

    @property
    def is_single(self) -> bool:
        return self._first.is_single

    async def fetch(self, statement: str, *values: object, timeout: float | None = None) -> list[asyncpg.Record]:
        await self._start_unless_read(statement)
        return await self.connection.fetch(statement, *values, timeout=timeout)

    async def fetchrow(self, statement: str, *values: object) -> asyncpg.Record | None:
        await self._start_unless_read(statement)
        return await self.connection.fetchrow(statement, *values)

    async def fetchval(self, statement: str, *values: object) -> Any:
        await self._start_unless_read(statement)
        return await self.connection.fetchval(statement, *values)

    async def fetchmany(self, statement: str, rows: Sequence[Sequence[object]]) -> list[asyncpg.Record]:
        await self._start_unless_read(statement)
        return await self.connection.fetchmany(statement, rows)

    async def execute(self, statement: str, *values: object) -> str:
        await self._start_unless_read(statement)
        return await self.connection.execute(statement, *values)

    async def executemany(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        await self._start_unless_read(statement)
        await self.connection.executemany(statement, rows)

    async def _start_unless_read(self, statement: str) -> None:
        if self.is_committed:
            raise AssertionError("a statement follows the one that was the whole transaction")
        if self._reads_left is not None:
            # The version of one row is checked: a decision that depends on another one is made under locks.
            self._reads_left -= 1
            if self._reads_left < 0 or not _is_read(statement):
                raise TransactionRequired
            return
        if self.is_started or _is_read(statement):
            return
        self.is_started = True
        changed = row_count(await self.connection.execute(f"BEGIN; {self._first.statement}"))
        if changed != self._first.row_count:
            raise TransactionRequired

    async def commit_alone(
        self, parts: Sequence[outbox.Attached], event: outbox.OutboxRow | None = None, lease_seconds: float = 0.0
    ) -> asyncpg.Record:
        """Run the first writes and these as the whole transaction, with the event; return the row of these. It is never
        cancelled.

        Raises:
            TransactionRequired: the first writes repeat earlier ones, or something must follow. Nothing was written.
            OutcomeUnknown: the database did not respond.
        """
        first = self._first
        writes = outbox.alone((first.writes, len(first.values)), *((one.writes, len(one.values)) for one in parts))
        values = [*first.values, *(value for one in parts for value in one.values)]

        async def run(timeout: float) -> tuple[asyncpg.Record, outbox.OutboxRow | None]:
            if event is not None:
                return await outbox.append_with(self.connection, event, lease_seconds, writes, values, timeout)
            [row] = await self.connection.fetch(writes.statement, *values, timeout=timeout)
            return row, None

        self.is_sent = True
        try:
            (row, self.appended), self.stop = await uncancelled(self.connection, run, self._commit_seconds_max)
        except asyncpg.DivisionByZeroError as error:
            raise TransactionRequired from error
        except asyncpg.UniqueViolationError as error:
            if error.constraint_name == first.key:
                raise TransactionRequired from error
            raise
        except (*BROKEN, *UNAVAILABLE) as error:
            raise OutcomeUnknown from error
        self.is_committed = True
        return row


@lru_cache(1_024)
def _is_read(statement: str) -> bool:
    return _READ.match(statement) is not None
