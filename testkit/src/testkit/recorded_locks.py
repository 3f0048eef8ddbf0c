"""Check that each transaction of a service locks its rows in the declared order.

Transactions that all keep one order of rows cannot deadlock, so each use case needs to run only once, not against each
other one. After each statement that may lock, a second connection reads which rows the transaction holds
(`pgrowlocks`), also those that foreign keys and triggers lock. Rows that the transaction inserts are invisible to
others, and are left out.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, NamedTuple
from unittest.mock import patch
from weakref import WeakKeyDictionary

import asyncpg

from common.database.late_transactions import LateConnection
from common.database.outbox import Attached
from common.database.retention import REMOVING
from common.database.unit_of_work import UnitOfWork
from operations.connecting import connected
from testkit.service_kit import OpenService

_EXTENSION: Final = (
    "CREATE SCHEMA IF NOT EXISTS lock_tests; CREATE EXTENSION IF NOT EXISTS pgrowlocks SCHEMA lock_tests"
)
_LOCKED: Final = """
SELECT c.oid::regclass::text AS relation, coalesce(i.inhparent, c.oid)::regclass::text AS table_name,
    array_agg(l.locked_row) AS places, l.modes <> '{"For Key Share"}' AS is_strong
FROM pg_locks k
JOIN pg_class c ON c.oid = k.relation AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
CROSS JOIN LATERAL lock_tests.pgrowlocks(c.relname) l
WHERE k.pid = $1 AND k.mode IN ('RowShareLock', 'RowExclusiveLock') AND $1 = ANY (l.pids)
    AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
GROUP BY 1, 2, 4
"""
_MAY_LOCK: Final = re.compile(r"\b(INSERT|UPDATE|DELETE|FOR (KEY )?SHARE)\b")
_STATEMENTS: Final = ("fetch", "fetch_row", "fetch_value", "execute", "execute_many", "fetch_row_with_attached")
_IS_TEST: Final = ContextVar("statement of a test, not of the service", default=False)


@dataclass(frozen=True, slots=True)
class LockOrder:
    """The order in which each transaction locks.

    `places` are the tables in their order, each with the column that orders its rows; rows of the tables of one place
    are ordered together. Rows of a `guarded` table need no order after a lock of its guard, or with it in one
    statement: a transaction that locks several of them holds the guard.
    """

    places: Sequence[Mapping[str, str]]
    guarded: Mapping[str, str] = field(default_factory=dict)

    def place_of(self, table: str) -> int | None:
        """Return the place of a table; None without one."""
        return next((number for number, tables in enumerate(self.places) if table in tables), None)

    def key_of(self, table: str) -> str:
        """Return the column that orders the rows of a table."""
        return next(tables[table] for tables in self.places if table in tables)


class _Row(NamedTuple):
    place: int
    key: str
    table: str


_NOTHING: Final = _Row(-1, "", "nothing")


@dataclass(slots=True)
class _Held:
    """The locks of a transaction: its rows, and the last one in the order."""

    rows: set[_Row] = field(default_factory=set)
    guards: set[str] = field(default_factory=set)
    last: _Row = _NOTHING


@asynccontextmanager
async def checked_lock_order(admin_url: str, order: LockOrder) -> AsyncIterator[None]:
    """Check the transactions that units of work run on the database; raise AssertionError at the end of the context.

    Retention is left out: it removes only rows that ended long ago, and skips locked ones.
    """
    faults: list[str] = []
    async with connected(admin_url) as connection:
        await connection.execute(_EXTENSION)
        with ExitStack() as stack:
            recorder = _Recorder(connection, order, faults)
            for name in _STATEMENTS:
                stack.enter_context(patch.object(UnitOfWork, name, recorder.recording(getattr(UnitOfWork, name))))
            stack.enter_context(
                patch.object(LateConnection, "commit_alone", recorder.open(LateConnection.commit_alone))
            )
            stack.enter_context(patch.object(OpenService, "fetch", _unrecorded(OpenService.fetch)))
            yield
    assert not faults, "\n".join(sorted(set(faults)))


class _Recorder:
    def __init__(self, connection: Any, order: LockOrder, faults: list[str]) -> None:
        self._connection, self._order, self._faults = connection, order, faults
        self._held: WeakKeyDictionary[object, _Held] = WeakKeyDictionary()
        self._reading = asyncio.Lock()

    def recording(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def run(uow: UnitOfWork, statement: Any, *values: Any, **named: Any) -> Any:
            result = await method(uow, statement, *values, **named)
            text = statement if isinstance(statement, str) else statement.statement
            if _MAY_LOCK.search(text) and uow.acting_as != REMOVING and not _IS_TEST.get():
                connection = uow._connection
                raw = connection.connection if isinstance(connection, LateConnection) else connection
                async with self._reading:
                    await self._check(uow, raw.get_server_pid(), " ".join(text.split()))
            return result

        return run

    def open(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Return the method, whose statement is a transaction that ends after its locks are checked."""

        @wraps(method)
        async def run(late: LateConnection, parts: Sequence[Attached], *event: Any) -> Any:
            await late.connection.execute("BEGIN")
            try:
                result = await method(late, parts, *event)
                async with self._reading:
                    statement = " ".join(" ".join(one.writes.tables for one in parts).split())
                    await self._check(late, late.connection.get_server_pid(), statement)
            except BaseException:
                await late.connection.execute("ROLLBACK")
                raise
            await late.connection.execute("COMMIT")
            return result

        return run

    async def _check(self, transaction: object, backend: int, statement: str) -> None:
        held = self._held.setdefault(transaction, _Held())
        before, counts = held.last, dict[str, int]()
        try:
            locks = await self._connection.fetch(_LOCKED, backend)
        except (asyncpg.InterfaceError, asyncpg.PostgresConnectionError, OSError):
            # A test of an outage has ended this connection, too.
            return
        held.guards |= {table for _, table, _, _ in locks}
        for relation, table, places, is_strong in locks:
            if self._order.guarded.get(table) in held.guards:
                continue
            for row in await self._rows(relation, table, places, statement):
                if row in held.rows:
                    continue
                held.rows.add(row)
                counts[table] = counts.get(table, 0) + is_strong
                if row < before:
                    self._faults.append(f"{table} {row.key} is locked after {before.table} {before.key}: {statement}")
                held.last = max(held.last, row)
        for table, count in counts.items():
            if count > 1 and "ORDER BY" not in statement:
                self._faults.append(f"{count} rows of {table} are locked without an order: {statement}")

    async def _rows(self, relation: str, table: str, places: Sequence[object], statement: str) -> Sequence[_Row]:
        place = self._order.place_of(table)
        if place is None:
            self._faults.append(f"{table} has no place in the order of locks: {statement}")
            return []
        key = f"SELECT DISTINCT {self._order.key_of(table)}::text FROM {relation} WHERE ctid = ANY ($1)"
        return [_Row(place, value or "", table) for (value,) in await self._connection.fetch(key, places)]


def _unrecorded(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(method)
    async def run(*values: Any) -> Any:
        before = _IS_TEST.set(True)
        try:
            return await method(*values)
        finally:
            _IS_TEST.reset(before)

    return run
