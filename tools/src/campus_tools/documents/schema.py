"""The schema of a migrated database as SQL for readers: `services/<service>/migrations/schema.sql`.

It is read from PostgreSQL's catalog, sorted by name. Monthly partitions are left out, because they depend on the date,
and the rights of the audit's login, which follow a rule (`common.migrations.audit_grants`).
"""

import hashlib
import re
from typing import Final

import asyncpg

# What PostgreSQL's versions print differently: casts, qualified names, brackets and white space. A restored constraint
# is not checked against older rows.
_PRINTED_DIFFERENTLY: Final = re.compile(r" NOT VALID|::[a-z ]+(\[\])?|\b\w+\.(?=\w)|[()\s]|,$")
_HEADER = """\
-- Generated from the migrated database by `make schemas`. Do not edit: tables/ and migrations/sql are the source.
-- Every table, view and sequence belongs to {owner}. PostgreSQL {major} wrote the expressions.
"""
_FUNCTIONS = """
SELECT rtrim(pg_get_functiondef(p.oid), E'\n') || ';' AS definition, p.proname AS name, p.proacl::text[] AS grants
FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace ORDER BY p.proname
"""
_RELATIONS = """
SELECT c.oid, c.relname AS name, c.relkind::text AS kind, c.relrowsecurity AS row_security,
       pg_get_partkeydef(c.oid) AS partition_key, array_to_string(c.reloptions, ', ') AS options
FROM pg_class AS c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
  AND NOT c.relispartition AND c.relname <> 'alembic_version'
ORDER BY c.relkind = 'v', c.relname
"""
_COLUMNS = """
SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE "' || l.collname || '"' ELSE '' END
    || CASE WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
    || CASE a.attgenerated WHEN 's' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
       ELSE coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') END
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
FROM pg_attribute AS a
JOIN pg_type AS t ON t.oid = a.atttypid
LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_CONSTRAINTS = """
SELECT 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = $1 AND contype IN ('p', 'u', 'f', 'c') ORDER BY position(contype::text IN 'pufc'), conname
"""
_INDEXES = """
SELECT replace(replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON '), ' public.', ' ') || ';'
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE i.indrelid = $1 AND NOT EXISTS (SELECT FROM pg_constraint AS k
    WHERE k.conindid = i.indexrelid AND k.conrelid = $1)
ORDER BY c.relname
"""
_POLICIES = """
SELECT 'CREATE POLICY ' || policyname || ' ON ' || tablename
    || CASE permissive WHEN 'RESTRICTIVE' THEN ' AS RESTRICTIVE' ELSE '' END || ' FOR ' || cmd
    || CASE WHEN roles <> '{public}' THEN ' TO ' || array_to_string(roles, ', ') ELSE '' END
    || coalesce(E'\n    USING (' || qual || ')', '') || coalesce(E'\n    WITH CHECK (' || with_check || ')', '') || ';'
FROM pg_policies WHERE schemaname = 'public' AND tablename = $1 ORDER BY policyname
"""
_TRIGGERS = """
SELECT replace(pg_get_triggerdef(oid), ' public.', ' ') || ';' FROM pg_trigger
WHERE tgrelid = $1 AND NOT tgisinternal AND tgparentid = 0 ORDER BY tgname
"""
# One line for each role: its privileges on the whole relation, then those on columns.
_GRANTS = """
SELECT 'GRANT ' || string_agg(privilege, ', ' ORDER BY columns <> '', rank) || ' ON ' || $2 || ' TO ' || grantee || ';'
FROM (
    SELECT grantee, rank, columns, privilege_type || coalesce(' (' || nullif(columns, '') || ')', '') AS privilege
    FROM (
        SELECT a.grantee::regrole::text AS grantee, a.privilege_type, '' AS columns
        FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.oid = $1 AND a.grantee <> c.relowner
          AND a.grantee::regrole::text <> 'campus_audit'
        UNION ALL
        SELECT a.grantee::regrole::text, a.privilege_type, string_agg(x.attname, ', ' ORDER BY x.attnum)
        FROM pg_attribute AS x, aclexplode(x.attacl) AS a WHERE x.attrelid = $1 AND NOT x.attisdropped
          AND a.grantee::regrole::text <> 'campus_audit'
        GROUP BY a.grantee, a.privilege_type
    ) AS granted, array_position(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'], privilege_type) AS rank
) AS granted GROUP BY grantee ORDER BY grantee
"""


async def schema_sql(connection: asyncpg.Connection, owner: str) -> str:
    """Return the schema of the connection's database as SQL."""
    major = connection.get_server_version().major
    blocks = [_HEADER.format(owner=owner, major=major)]
    blocks += [_function(row) for row in await connection.fetch(_FUNCTIONS)]
    for relation in await connection.fetch(_RELATIONS):
        oid, name = relation["oid"], relation["name"]
        lines = [await _definition(connection, relation)]
        lines += [row[0] for row in await connection.fetch(_INDEXES, oid)]
        if relation["row_security"]:
            lines.append(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY;")
        lines += [row[0] for row in await connection.fetch(_GRANTS, oid, name)]
        lines += [row[0] for row in await connection.fetch(_POLICIES, name)]
        lines += [row[0] for row in await connection.fetch(_TRIGGERS, oid)]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def comparable(schema: str) -> list[str]:
    """Return the lines of a schema, each with its table or function, without the order of columns."""
    lines, owner = [], ""
    for line in schema.splitlines():
        if line.startswith("CREATE ") and not line.startswith(("CREATE INDEX", "CREATE UNIQUE", "CREATE POLICY")):
            owner = line
        if line and not line.startswith("--"):
            lines.append(f"{owner}: {_PRINTED_DIFFERENTLY.sub('', line)}")
    return sorted(lines)


def digest_of(schema: str) -> str:
    """Return the hexadecimal SHA-256 of a schema's comparable lines."""
    return hashlib.sha256("\n".join(comparable(schema)).encode()).hexdigest()


def _function(row: asyncpg.Record) -> str:
    """Return a function, with its grants when PUBLIC's default right was revoked."""
    grants: list[str] | None = row["grants"]
    text = str(row["definition"])
    if grants is not None and not any(grant.startswith("=") for grant in grants):
        callers = sorted(role for role in (grant.split("=")[0] for grant in grants) if not role.endswith("_owner"))
        text += f"\nREVOKE EXECUTE ON FUNCTION {row['name']} FROM public;"
        text += "".join(f"\nGRANT EXECUTE ON FUNCTION {row['name']} TO {caller};" for caller in callers)
    return text + "\n"


async def _definition(connection: asyncpg.Connection, relation: asyncpg.Record) -> str:
    oid, name = relation["oid"], relation["name"]
    if relation["kind"] == "v":
        options = f" WITH ({relation['options']})" if relation["options"] else ""
        return (
            f"CREATE VIEW {name}{options} AS\n{await connection.fetchval('SELECT pg_get_viewdef($1::oid, true)', oid)}"
        )
    parts = [row[0] for statement in (_COLUMNS, _CONSTRAINTS) for row in await connection.fetch(statement, oid)]
    partitioned = f" PARTITION BY {relation['partition_key']}" if relation["partition_key"] else ""
    return f"CREATE TABLE {name} (\n    " + ",\n    ".join(parts) + f"\n){partitioned};"
