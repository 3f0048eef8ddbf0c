"""The statements of a transaction, and writes that wait for the round trip of others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import asyncpg

from common.database import outbox
from common.database.commits import row_count
from common.database.errors import SharedTransaction, TransactionRequired
from common.database.late_transactions import LateConnection


class TransactionStatements:
    """The statements of one transaction."""

    def __init__(self, connection: asyncpg.Connection | LateConnection, *, is_shared: bool) -> None:
        self._connection = connection
        self._late = connection if isinstance(connection, LateConnection) else None
        self._is_shared = is_shared
        self._attached: list[outbox.Attached] = []
        self._is_ending = False

    async def fetch(self, statement: str, *values: object) -> list[asyncpg.Record]:
        """All rows of a bounded statement."""
        return await self._connection.fetch(statement, *values)

    async def fetch_row(self, statement: str, *values: object) -> asyncpg.Record | None:
        """Return the first row, or None."""
        return await self._connection.fetchrow(statement, *values)

    async def fetch_value(self, statement: str, *values: object) -> Any:
        """Return the first column of the first row, or None."""
        return await self._connection.fetchval(statement, *values)

    async def execute(self, statement: str, *values: object) -> int:
        """Run a statement, and returns the number of affected rows."""
        return row_count(await self._connection.execute(statement, *values))

    async def execute_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement for each row, in one round trip."""
        await self._connection.executemany(statement, rows)

    async def write(self, writes: outbox.Writes, *values: object) -> asyncpg.Record:
        """Run the writes in one round trip. Return their row."""
        if self._late is not None and self._late.is_single:
            return await self._fetch_joined([outbox.Attached(writes, values, _ignored)], is_last=True)
        row: asyncpg.Record
        [row] = await self._connection.fetch(writes.statement, *values)
        return row

    def attach(self, writes: outbox.Writes, *values: object, then: Callable[[asyncpg.Record], None]) -> outbox.Attached:
        """Run the writes in the round trip of the next `fetch_row_with_attached`, or alone before the commit; `then`
        receives their row.

        The writes see the rows before that statement. They must lock no row that the other writes lock.
        """
        attached = outbox.Attached(writes, values, then)
        self._attached.append(attached)
        return attached

    def withdraw(self, attached: outbox.Attached) -> bool:
        """Remove attached writes; return False when they have run."""
        waiting = [one for one in self._attached if one is not attached]
        was_waiting, self._attached = len(waiting) < len(self._attached), waiting
        return was_waiting

    async def write_with_next(self, writes: outbox.Writes, *values: object) -> None:
        """Run the writes in the round trip of the next `fetch_row_and_publish`, or alone before the commit; at once in
        a transaction of several messages, whose handlers may read them. Locks and rows are as in `attach`.
        """
        if self._is_shared:
            await self.write(writes, *values)
        else:
            self.attach(writes, *values, then=_ignored)

    async def fetch_row_with_attached(self, writes: outbox.Writes, *values: object) -> asyncpg.Record:
        """Run the writes and the attached ones in one round trip; return their row."""
        return await self._fetch_joined(self._with_attached(writes, values), is_last=self._is_ending)

    def decides_unlocked(self, *, is_read: bool = False) -> bool:
        """Return whether a decision may depend on one row that the next statement reads without a lock, or that was
        read before the transaction (`is_read`).

        Only one `fetch_row_and_publish` may follow, whose writes are `final` where the row is unchanged. After anything
        else, and after an error, the unit of work raises TransactionRequired: the decision is made again under locks.
        """
        return self._late is not None and not self._is_shared and self._late.decide_unlocked(0 if is_read else 1)

    def _with_attached(self, writes: outbox.Writes, values: tuple[object, ...]) -> list[outbox.Attached]:
        """Return the writes with the attached ones, which wait no longer."""
        attached, self._attached = self._attached, []
        return [outbox.Attached(writes, values, _ignored), *attached]

    def _is_followed(self) -> bool:
        """Return whether other writes or events wait for the end of the transaction."""
        return False

    async def _fetch_joined(self, parts: Sequence[outbox.Attached], *, is_last: bool) -> asyncpg.Record:
        """Run the writes; return their row. Where nothing follows, they are a transaction that has not started."""
        follows = self._attached or self._is_followed() or any(not one.writes.final for one in parts)
        if self._late is not None and self._late.is_open and is_last and not follows:
            row = await self._late.commit_alone(parts)
        else:
            statement = outbox.together(*((one.writes, len(one.values)) for one in parts)).statement
            [row] = await self._connection.fetch(statement, *(value for one in parts for value in one.values))
        for one in parts:
            one.then(row)
        return row

    @property
    def is_shared(self) -> bool:
        """Return whether several messages are handled in this transaction."""
        return self._is_shared

    @property
    def is_started(self) -> bool:
        """Return whether the transaction has started: one for messages may start with its first write."""
        return self._late is None or self._late.is_started

    @property
    def is_unlocked(self) -> bool:
        """Return whether the decision depends on a row that was read without a lock."""
        return self._late is not None and self._late.is_unlocked

    @contextmanager
    def repeating_undecided(self) -> Iterator[None]:
        """Raise TransactionRequired in place of an error that depends on a row that was read without a lock."""
        try:
            yield
        except Exception as error:
            if self._late is not None and self._late.is_undecided:
                raise TransactionRequired from error
            raise

    def require_alone(self) -> None:
        """Raise SharedTransaction when messages share this transaction, before a lock outside of their order."""
        if self._is_shared:
            raise SharedTransaction


def _ignored(row: asyncpg.Record) -> None:
    """Leave the row of writes unread."""
