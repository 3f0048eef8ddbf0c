"""Faults of a migrated database: one constraint, index, trigger or policy is missing, or a policy admits every caller.

A mutant exists for each guard that the catalog lists. It is detected when the check of the service's `test_guards.py`
fails that covers the guard. The checks run here, each in a transaction that is rolled back: a mutant takes
milliseconds.
"""

import importlib.util
import sys
from collections.abc import AsyncIterator
from typing import Final

import asyncpg

from lab.mutants.mutants import ROOT, Mutant
from testkit.guards import Guards

SERVICES: Final = ("payments", "payouts", "orders")

_MUTANTS: Final = """
SELECT 'checks' AS kind, r.relname AS table_name, c.conname AS guard, '' AS change,
    format('ALTER TABLE %I DROP CONSTRAINT %I CASCADE', r.relname, c.conname) AS statement
FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
WHERE c.connamespace = 'public'::regnamespace AND NOT r.relispartition AND r.relname <> 'alembic_version'
    AND c.contype IN ('c', 'f', 'p', 'u', 'x')
UNION ALL
SELECT 'checks', r.relname, i.relname, '', format('DROP INDEX %I', i.relname)
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class r ON r.oid = x.indrelid
WHERE x.indisunique AND r.relnamespace = 'public'::regnamespace AND NOT r.relispartition
    AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid)
UNION ALL
SELECT 'checks', r.relname, t.tgname, '', format('DROP TRIGGER %I ON %I', t.tgname, r.relname)
FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid
WHERE NOT t.tgisinternal AND r.relnamespace = 'public'::regnamespace AND NOT r.relispartition
UNION ALL
SELECT 'policies', tablename, policyname, ' is missing', format('DROP POLICY %I ON %I', policyname, tablename)
FROM pg_policies WHERE schemaname = 'public'
UNION ALL
SELECT 'policies', tablename, policyname, ' admits every caller', format('ALTER POLICY %I ON %I', policyname, tablename)
    || CASE WHEN qual IS NULL THEN '' ELSE ' USING (true)' END || CASE WHEN with_check IS NULL THEN ''
        ELSE ' WITH CHECK (true)' END
FROM pg_policies WHERE schemaname = 'public' AND permissive = 'PERMISSIVE' AND coalesce(qual, '') <> 'true'
ORDER BY 1, 2, 3, 4
"""


async def guard_mutants(connection: asyncpg.Connection, service: str) -> list[tuple[Mutant, str, str]]:
    """Return the mutants of a migrated database, each with the kind of its check and its table."""
    return [
        (
            Mutant(
                f"{service}: {row['table_name']}.{row['guard']}{row['change']}", "guard", service,
                name=row["guard"], statement=row["statement"],
            ),
            row["kind"],
            row["table_name"],
        )
        for row in await connection.fetch(_MUTANTS)
    ]  # fmt: skip


def guards_of(service: str) -> Guards:
    """Return the lists of a service's tests."""
    path = ROOT / f"services/{service}/tests/integration/test_guards.py"
    # As a package of its folder, so that it may import the modules beside it.
    spec = importlib.util.spec_from_file_location(
        f"guards_of_{service}", path, submodule_search_locations=[str(path.parent)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    guards: Guards = module.GUARDS
    return guards


async def killed_guards(admin_url: str, service: str) -> AsyncIterator[tuple[Mutant, bool]]:
    """Each mutant of a service's database, and whether the check of its guard detects it."""
    guards = guards_of(service)
    async with guards.opened(admin_url) as connection:
        for mutant, kind, table in await guard_mutants(connection, service):
            transaction = connection.transaction()
            await transaction.start()
            try:
                await connection.execute(mutant.statement)
                yield mutant, await _is_detected(guards, connection, kind, table, mutant.name)
            finally:
                await transaction.rollback()


async def _is_detected(guards: Guards, connection: asyncpg.Connection, kind: str, table: str, guard: str) -> bool:
    checks = [violation for violation in guards.violations() if (violation.table, violation.guard) == (table, guard)]
    try:
        for violation in checks if kind == "checks" else ():
            await guards.reject(connection, violation)
        for name, command in guards.policies() if kind == "policies" else ():
            if name == table:
                await guards.admit_and_reject(connection, name, command)
    except (AssertionError, BaseException) as error:
        if isinstance(error, AssertionError) or type(error).__name__ == "Failed":
            return True
        raise
    return False
