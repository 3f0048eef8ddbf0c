"""The statements that a path sends, as a script for pgbench.

The statements are recorded from the path, so that the limit follows the code. The path runs twice: equal values become
literals; pgbench generates different ones (ids, keys, times) for each transaction.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from common.database.unit_of_work import Database
from lab.bench.environment import BenchDatabase, opened_database
from lab.bench.programs import BenchFailed
from operations.connecting import connected

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PARAMETER = re.compile(r"\$(\d+)")
_NUMBER = "lpad(to_hex(:n::bigint), 12, '0')"
_ORDER_NUMBER = re.compile(r"CM-[0-9A-Z]{4}-[0-9A-Z]{4}")
# Unique for sixteen clients and three quarters of an hour: enough for a run.
_NEW_ORDER_NUMBER = (
    f"'CM-' || upper(to_hex(:client_id::bigint) || substr({_NUMBER}, 6, 3)) || '-' || upper(substr({_NUMBER}, 9, 4))"
)


@dataclass(frozen=True, slots=True)
class Sent:
    """A sent statement with its values; a statement for many rows appears once for each row."""

    statement: str
    values: tuple[Any, ...]


async def record(pool: Any, path: Callable[[], Awaitable[Any]]) -> list[Sent]:
    """Return the statements that `path` sends over the single connection of a new pool."""
    recorded: list[Sent] = []

    def on_query(query: Any) -> None:
        # asyncpg gives the values of one statement as a tuple, and those of many rows as a list.
        rows = query.args if isinstance(query.args, list) else [query.args]
        recorded.extend(Sent(query.query, tuple(row or ())) for row in rows)

    # The first run of a connection also queries the types of the statements, which is not part of the path.
    await path()
    async with pool.connection() as connection:
        connection.add_query_logger(on_query)
    await path()
    # The listener is called in the next round of the loop.
    await asyncio.sleep(0.01)
    async with pool.connection() as connection:
        connection.remove_query_logger(on_query)
    if not recorded:
        raise BenchFailed("the path sent no statement over the recorded connection")
    return recorded


async def repeatable(
    urls: BenchDatabase,
    pool: str,
    path: Callable[[Database], Awaitable[Any]],
    expressions: Mapping[UUID, str] | None = None,
) -> list[str]:
    """Return the statements of a path, recorded twice over the pool `api` or `service`, as SQL for pgbench."""
    recorded = []
    for _ in range(2):
        async with opened_database(urls) as database:
            recorded.append(await record(getattr(database, pool), partial(path, database)))
    first, second = recorded
    return await Repeatable(first, second, expressions or {}).statements(urls.admin)


@dataclass
class Repeatable:
    """Statements with SQL expressions for their values."""

    first: Sequence[Sent]
    second: Sequence[Sent]
    expressions: Mapping[UUID, str] = field(default_factory=dict)
    """SQL that replaces certain ids, for example a random product."""
    _fresh: dict[str, int] = field(default_factory=dict)

    async def statements(self, url: str) -> list[str]:
        """Return the statements as SQL for pgbench; the database at `url` provides the parameter types."""
        # The scope of a transaction has the caller's id in its text.
        if [_UUID.sub("", sent.statement) for sent in self.first] != [
            _UUID.sub("", sent.statement) for sent in self.second
        ]:
            raise BenchFailed("the two runs of the path sent different statements")
        async with connected(url) as connection:
            return [
                await self._statement(connection, one, other)
                for one, other in zip(self.first, self.second, strict=True)
            ]

    async def _statement(self, connection: Any, one: Sent, other: Sent) -> str:
        text = self._with_fresh_ids(one.statement, other.statement)
        if not one.values:
            return text
        types = [place.name for place in (await connection.prepare(one.statement)).get_parameters()]
        shown = [
            f"({self._expression(value, again)})::{_sql_type(type_name)}"
            for value, again, type_name in zip(one.values, other.values, types, strict=True)
        ]
        return _PARAMETER.sub(lambda place: shown[int(place[1]) - 1], text)

    def _with_fresh_ids(self, statement: str, again: str) -> str:
        """Return the statement with SQL in place of the quoted ids that differ between the runs."""
        pieces, end = [], 0
        for found, other in zip(_UUID.finditer(statement), _UUID.finditer(again), strict=True):
            if found[0] != other[0]:
                # With the quotes around it.
                pieces += [_without_variables(statement[end : found.start() - 1]), f"({self._fresh_id(found[0])})"]
                end = found.end() + 1
        return "".join([*pieces, _without_variables(statement[end:])])

    def _expression(self, value: Any, again: Any) -> str:
        if isinstance(value, list | tuple):
            inner = ", ".join(self._expression(a, b) for a, b in zip(value, again, strict=True))
            return f"ARRAY[{inner}]"
        if isinstance(value, UUID):
            return self._id(str(value), str(again))
        if isinstance(value, datetime):
            return "now()"
        if isinstance(value, str) and value != again:
            return self._text(value, again)
        return literal(value)

    def _id(self, value: str, again: str) -> str:
        given = self.expressions.get(UUID(value))
        if given is not None:
            return given
        return f"'{value}'" if value == again else f"({self._fresh_id(value)})::uuid"

    def _fresh_id(self, value: str) -> str:
        number = self._fresh.setdefault(value, len(self._fresh))
        return f"lpad(to_hex(:client_id::bigint), 4, '0') || '{number:04x}-0000-4000-8000-' || {_NUMBER}"

    def _text(self, value: str, again: str) -> str:
        """Return a text that contains ids, or a text with a unique suffix."""
        if _ORDER_NUMBER.fullmatch(value):
            return _NEW_ORDER_NUMBER
        pieces, end = [], 0
        for found, other in zip(_UUID.finditer(value), _UUID.finditer(again), strict=True):
            pieces.append(literal(value[end : found.start()]))
            is_same = found[0] == other[0]
            pieces.append(literal(found[0]) if is_same else self._fresh_id(found[0]))
            end = found.end()
        if not pieces:
            return f"{literal(value)} || {self._fresh_id(value)}"
        return " || ".join([*pieces, literal(value[end:])])


def _without_variables(statement: str) -> str:
    """Escape `:word` inside quotes, which pgbench would replace as a variable."""
    return re.sub(r"(?<!:):(?=\w)", "' || chr(58) || '", statement)


def literal(value: Any) -> str:
    """Return a value as SQL without `:word`, which pgbench replaces as a variable even inside quotes."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, msgspec.Raw):
        return literal(bytes(value).decode())
    if isinstance(value, bytes):
        return f"decode('{value.hex()}', 'hex')"
    if isinstance(value, Mapping):
        return literal(msgspec.json.encode(value).decode())
    text = str(value)
    if re.fullmatch(r"[\w .,/-]*", text, re.ASCII):
        return f"'{text}'"
    # A literal, not `convert_from`: the result of that function has the collation "C", with which PostgreSQL uses no
    # index of the tables.
    return "U&'" + "".join(sign if sign.isalnum() and sign.isascii() else f"\\+{ord(sign):06x}" for sign in text) + "'"


def _sql_type(name: str) -> str:
    return f"{name[1:]}[]" if name.startswith("_") else name
