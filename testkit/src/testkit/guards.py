"""Every guard of a database with a row, a statement or a caller that it must reject.

A service lists its tables as `GuardedTable`; `Guards` inserts one valid row into each of them, past triggers and
foreign keys, and tries each violation on it. All ids of these rows are `OURS`, so the references between them hold. A
guard that the lists do not name, or that the database does not have, fails `undeclared`.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import asyncpg
import pytest

from operations.connecting import connected
from testkit.guarded_tables import MESSAGING, NOW, OTHERS, OURS, GuardedTable, InsertAfter, Row

# The value of a column that is mandatory, has no default, and is not named in the table's row.
_VALUES: Final[dict[str, Any]] = {
    "uuid": OURS,
    "_uuid": [OURS],
    "text": "x",
    "bpchar": "NGN",
    "int2": 1,
    "int4": 1,
    "int8": 1,
    "bool": False,
    "timestamptz": NOW,
    "date": "2026-01-01",
    "jsonb": {},
    "bytea": "\\x00",
    "_text": [],
}
# The settings of row security by the word that a policy's alternative uses for them.
_IDENTITIES: Final = {name: f"app.{name}_id" for name in ("user", "vendor", "campus", "hub", "packing_vendor")}
_UNKNOWN_CALLER: Final = dict.fromkeys(_IDENTITIES.values(), OTHERS)


@dataclass(frozen=True)
class Violation:
    """One attempt that a guard must reject."""

    table: str
    guard: str
    kind: str
    changes: Any

    def __str__(self) -> str:
        return self.guard


class Guards:
    """The guards of one service's database."""

    def __init__(self, service: str, tables: Mapping[str, GuardedTable], effects: Mapping[str, str]) -> None:
        """`effects`: triggers that reject nothing, with the test that covers each."""
        self.api_role = f"campus_{service}_api"
        self.tables = {
            table: replace(
                guarded,
                unique={f"{table}_pkey": {}, **guarded.unique},
                policies={
                    f"{command} {name.split(' ')[-1]}": words
                    for name, words in guarded.policies.items()
                    for command in name.split(" ")[:-1]
                },
            )
            for table, guarded in {**MESSAGING, **tables}.items()
        }
        self.effects = effects

    async def hold(self, admin_url: str) -> None:
        """Raise AssertionError for a guard without its line, ExceptionGroup for each that rejects or admits wrongly."""
        async with self.opened(admin_url) as connection:
            assert await self.undeclared(connection) == {}
            failed = list[BaseException]()
            tries = [(str(one), partial(self.reject, connection, one)) for one in self.violations()]
            tries += [(" ".join(one), partial(self.admit_and_reject, connection, *one)) for one in self.policies()]
            for name, attempt in tries:
                try:
                    await attempt()
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"the guard: {name}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} guards do not hold", failed)

    def violations(self) -> list[Violation]:
        """Return the violations of all constraints, keys and triggers."""
        return [
            Violation(table, guard, kind, changes)
            for table, guarded in self.tables.items()
            for kind in ("checks", "unique", "references", "triggers")
            for guard, changes in getattr(guarded, kind).items()
        ]

    def policies(self) -> list[tuple[str, str]]:
        """Each table with row security and each command on it that has a policy."""
        return [
            (table, command)
            for table, guarded in self.tables.items()
            for command in sorted({name.partition(" ")[0] for name in guarded.policies})
        ]

    @asynccontextmanager
    async def opened(self, admin_url: str) -> AsyncIterator[asyncpg.Connection]:
        """Yield a connection of the administrator to a database with one valid row in each table."""
        async with connected(admin_url) as connection:
            await connection.execute("SET session_replication_role = replica")
            names = await connection.fetch(_TABLES)
            await connection.execute(f"TRUNCATE {', '.join(row['name'] for row in names)}")
            for row in names:
                await self._insert(connection, row["name"], await self.valid_row(connection, row["name"]))
            await connection.execute("SET session_replication_role = origin")
            yield connection

    async def valid_row(self, connection: asyncpg.Connection, table: str) -> dict[str, Any]:
        """Return the valid row of a table, without the columns that have their default."""
        columns = await connection.fetch(_COLUMNS, table)
        row = {column["name"]: _VALUES[column["type"]] for column in columns if column["needs_value"]}
        return row | dict(self.tables.get(table, GuardedTable()).row)

    async def undeclared(self, connection: asyncpg.Connection) -> dict[str, set[str]]:
        """By kind: the guards that only the database or only the lists name."""
        found: dict[str, set[str]] = {
            kind: set() for kind in ("checks", "unique", "references", "triggers", "policies")
        }
        for row in await connection.fetch(_GUARDS):
            found[row["kind"]].add(f"{row['table_name']}.{row['name']}")
        differences = {}
        for kind, names in found.items():
            declared = {
                f"{table}.{name.split(' ')[-1]}"
                for table, guarded in self.tables.items()
                for name in (*getattr(guarded, kind), *(guarded.restrictions if kind == "policies" else ()))
            }
            if kind == "triggers":
                declared |= set(self.effects)
            if names != declared:
                differences[kind] = names ^ declared
        return differences

    async def reject(self, connection: asyncpg.Connection, violation: Violation) -> None:
        """Fails unless this guard, and no other, rejects the violation. Changes nothing."""
        match violation.kind:
            case "triggers":
                for statement in violation.changes:
                    async with _undone(connection):
                        if isinstance(statement, InsertAfter):
                            await connection.execute(statement.statement)
                            await self._without(connection, violation.table)
                        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
                            if isinstance(statement, InsertAfter):
                                row = await self.valid_row(connection, violation.table)
                                await self._insert(connection, violation.table, row)
                            else:
                                await connection.execute(statement)
            case "unique":
                await self._reject_second_row(connection, violation)
            case _:
                await self._reject_change(connection, violation)

    async def _reject_change(self, connection: asyncpg.Connection, violation: Violation) -> None:
        async with _undone(connection):
            await connection.execute(f"ALTER TABLE {violation.table} DISABLE TRIGGER USER")
            if violation.kind == "checks":
                await connection.execute("SET LOCAL session_replication_role = replica")
            for child in await connection.fetch(_CHILDREN, violation.table):
                # Its own reference would reject the change of a key.
                await self._without(connection, child["name"])
            with pytest.raises(asyncpg.IntegrityConstraintViolationError) as rejected:
                await self._update(connection, violation.table, violation.changes)
                await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
            assert rejected.value.constraint_name == violation.guard

    async def _without(self, connection: asyncpg.Connection, table: str) -> None:
        """Remove the rows of a table, past every guard."""
        role = await connection.fetchval("SELECT current_setting('session_replication_role')")
        await connection.execute(f"SET LOCAL session_replication_role = replica; DELETE FROM {table}")
        await connection.execute(f"SET LOCAL session_replication_role = {role}")

    async def _reject_second_row(self, connection: asyncpg.Connection, violation: Violation) -> None:
        first, second = violation.changes if isinstance(violation.changes, tuple) else ({}, violation.changes)
        async with _undone(connection):
            await connection.execute("SET LOCAL session_replication_role = replica")
            if first:
                await self._update(connection, violation.table, first)
            row = await self.valid_row(connection, violation.table)
            with pytest.raises(asyncpg.UniqueViolationError) as rejected:
                await self._insert(connection, violation.table, row | dict(first) | dict(second))
            assert rejected.value.constraint_name == violation.guard

    async def admit_and_reject(self, connection: asyncpg.Connection, table: str, command: str) -> None:
        """Fails unless the table's policies admit each listed caller to a command, and no other."""
        guarded = self.tables[table]
        policies = {name: words for name, words in guarded.policies.items() if name.startswith(f"{command} ")}
        alternatives = [_words(words) for listed in policies.values() for words in listed]
        for alternative in alternatives:
            assert await self._is_admitted(connection, table, command, alternative), f"{sorted(alternative)} is refused"
        for caller in _near_misses(alternatives):
            assert not await self._is_admitted(connection, table, command, caller), f"{sorted(caller)} is admitted"
        for callers in guarded.restrictions.values():
            for caller in map(_words, callers if command == "INSERT" else ()):
                assert not await self._is_admitted(connection, table, command, caller), f"{sorted(caller)} is admitted"
        for name in policies:
            words = _words(guarded.policies[name][0])
            for changes in guarded.rejected_rows.get(name.split(" ")[-1], ()):
                admitted = await self._is_admitted(connection, table, command, words, changes)
                assert not admitted, f"{sorted(words)} is admitted to {dict(changes)}"

    async def _is_admitted(
        self,
        connection: asyncpg.Connection,
        table: str,
        command: str,
        words: frozenset[str],
        changes: Row | None = None,
    ) -> bool:
        settings = _UNKNOWN_CALLER | {_IDENTITIES[word]: OURS for word in words if word in _IDENTITIES}
        settings["app.permissions"] = ",".join(sorted(words - _IDENTITIES.keys()))
        async with _undone(connection):
            await connection.execute("SET LOCAL session_replication_role = replica")
            row = await self.valid_row(connection, table) | dict(changes or {})
            if command == "INSERT":
                await connection.execute(f"DELETE FROM {table}")
            elif changes:
                await self._update(connection, table, changes)
            granted = [column["name"] for column in await connection.fetch(_GRANTED, table, self.api_role, command)]
            for setting, value in settings.items():
                await connection.execute("SELECT set_config($1, $2, true)", setting, value)
            await connection.execute(f"SET LOCAL ROLE {self.api_role}")
            if command == "SELECT":
                return bool(await connection.fetchval(f"SELECT count(*) FROM {table}"))
            if command in ("UPDATE", "DELETE"):
                # Reads no column: the policies for SELECT do not apply.
                changed = (
                    f"UPDATE {table} SET {_assignment(granted, row)}" if command == "UPDATE" else f"DELETE FROM {table}"
                )
                return await connection.execute(changed) == f"{command} 1"
            try:
                await self._insert(connection, table, {name: row[name] for name in granted if name in row})
            except asyncpg.InsufficientPrivilegeError as error:
                if "row-level security" not in str(error):
                    raise
                return False
            return True

    async def _insert(self, connection: asyncpg.Connection, table: str, row: Row) -> None:
        if not row:
            await connection.execute(f"INSERT INTO {table} DEFAULT VALUES")
            return
        names = ", ".join(f'"{name}"' for name in row)
        await connection.execute(
            (
                f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM "
                f"jsonb_populate_record(NULL::{table}, $1)"
            ),
            json.dumps(dict(row)),
        )

    async def _update(self, connection: asyncpg.Connection, table: str, changes: Row) -> None:
        names = ", ".join(f'"{name}" = made."{name}"' for name in changes)
        await connection.execute(
            f"UPDATE {table} SET {names} FROM jsonb_populate_record(NULL::{table}, $1) AS made",
            json.dumps(dict(changes)),
        )


def _words(caller: str) -> frozenset[str]:
    return frozenset(caller.split())


def _assignment(granted: list[str], row: Row) -> str:
    """Return an assignment that changes nothing, to a column that the role may update."""
    name = next((name for name in granted if isinstance(row.get(name), str | int)), None)
    if name is None:
        return f'"{granted[0]}" = NULL'
    text = str(row[name]).replace("'", "''")
    return f"\"{name}\" = '{text}'"


def _near_misses(alternatives: list[frozenset[str]]) -> Iterator[frozenset[str]]:
    """Callers who lack one word of an alternative, and one who has every word that is in none."""
    if frozenset({"public"}) in alternatives:
        return
    for alternative in alternatives:
        for word in alternative:
            caller = alternative - {word}
            if not any(other <= caller for other in alternatives):
                yield caller
    words = frozenset().union(*alternatives)
    yield (frozenset(_IDENTITIES) | _all_permissions()) - words


def _all_permissions() -> frozenset[str]:
    from contracts.permissions import PERMISSIONS_BY_ROLE

    return frozenset().union(*PERMISSIONS_BY_ROLE.values())


@asynccontextmanager
async def _undone(connection: asyncpg.Connection) -> AsyncIterator[None]:
    transaction = connection.transaction()
    await transaction.start()
    try:
        yield
    finally:
        await transaction.rollback()


_TABLES: Final = """
SELECT relname AS name FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND relname <> 'alembic_version'
ORDER BY relname
"""
_COLUMNS: Final = """
SELECT a.attname AS name, t.typname AS type,
    a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AND a.attgenerated = '' AS needs_value
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_CHILDREN: Final = """
SELECT DISTINCT conrelid::regclass::text AS name FROM pg_constraint
WHERE confrelid = $1::text::regclass AND conrelid <> confrelid AND contype = 'f'
"""
_GRANTED: Final = """
SELECT a.attname AS name FROM pg_attribute a
WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    AND CASE WHEN $3 IN ('INSERT', 'UPDATE') THEN has_column_privilege($2, a.attrelid, a.attnum, $3) ELSE true END
ORDER BY a.attidentity, a.attnum
"""
_GUARDS: Final = """
SELECT CASE c.contype WHEN 'c' THEN 'checks' WHEN 'f' THEN 'references' ELSE 'unique' END AS kind,
    r.relname AS table_name, c.conname AS name
FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
WHERE c.connamespace = 'public'::regnamespace AND c.contype IN ('c', 'f', 'p', 'u', 'x') AND NOT r.relispartition
    AND r.relname <> 'alembic_version'
UNION ALL
SELECT 'unique', r.relname, i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class r ON r.oid = x.indrelid
WHERE x.indisunique AND r.relnamespace = 'public'::regnamespace AND NOT r.relispartition
    AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid)
UNION ALL
SELECT 'triggers', r.relname, t.tgname FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid
WHERE NOT t.tgisinternal AND r.relnamespace = 'public'::regnamespace AND NOT r.relispartition
UNION ALL
SELECT 'policies', tablename, policyname FROM pg_policies WHERE schemaname = 'public'
"""
