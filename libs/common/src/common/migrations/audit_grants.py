"""The rights of the audit's login: SELECT on every column that holds no secret (decision 107)."""

import re
from collections import defaultdict
from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa

AUDIT_ROLE: Final = "campus_audit"
# The key of a metadata's `info`: columns of `_MESSAGES` that the audit reads there, because they hold nothing sealed.
AUDIT_READS: Final = "audit_reads"

# What a column with a secret is named. Its type holds text or bytes: a time or a number of this name says nothing.
_SECRET: Final = re.compile(r"password|secret|sealed|encrypted|digest|fingerprint|challenge|token|(?<!^content)_hash$")
_TYPES: Final = frozenset({"text", "character varying", "bytea", "json", "jsonb", "text[]", "bytea[]"})
# Whole messages and answers: sealed codes and PINs, and secrets that are shown once.
_MESSAGES: Final = frozenset({"outbox.payload", "dead_letters.body", "idempotency_records.body"})

_ROLE_EXISTS: Final = sa.text("SELECT true FROM pg_roles WHERE rolname = :role")
# Rights on a partition come from its table.
_COLUMNS: Final = sa.text("""
SELECT c.relname AS relation, a.attname AS name, format_type(a.atttypid, NULL) AS type,
       EXISTS (
           SELECT FROM aclexplode(a.attacl) AS g WHERE g.grantee = r.oid AND g.privilege_type = 'SELECT'
       ) AS is_granted,
       EXISTS (SELECT FROM aclexplode(c.relacl) AS g WHERE g.grantee = r.oid) AS is_granted_whole
FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_roles AS r ON r.rolname = :role
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
  AND pg_has_role(current_user, c.relowner, 'USAGE')
ORDER BY c.relname, a.attnum
""")


def holds_secret(relation: str, column: str, kind: str, audit_reads: Collection[str] = ()) -> bool:
    """Return whether a column of this name and type holds a password's hash, a sealed value or another secret."""
    if f"{relation}.{column}" in _MESSAGES:
        return f"{relation}.{column}" not in audit_reads
    return kind in _TYPES and _SECRET.search(column) is not None


def grant_audit(connection: sa.Connection, audit_reads: Collection[str] = ()) -> None:
    """Give the audit's login the columns without secrets, and take from it all others.

    Runs after every migration: a new table is readable, and a new secret is not. A server that no audit reads has no
    such login.
    """
    if not connection.scalar(_ROLE_EXISTS, {"role": AUDIT_ROLE}):
        return
    connection.execute(sa.text(f"GRANT USAGE ON SCHEMA public TO {AUDIT_ROLE}"))
    relations: dict[str, list[sa.Row[Any]]] = defaultdict(list)
    for row in connection.execute(_COLUMNS, {"role": AUDIT_ROLE}):
        relations[row.relation].append(row)
    for relation, rows in relations.items():
        readable = {row.name for row in rows if not holds_secret(relation, row.name, row.type, audit_reads)}
        granted = {row.name for row in rows if row.is_granted}
        if rows[0].is_granted_whole or granted - readable:
            connection.execute(sa.text(f'REVOKE ALL ON "{relation}" FROM {AUDIT_ROLE}'))
            granted = set()
        if missing := sorted(readable - granted):
            names = ", ".join(f'"{name}"' for name in missing)
            connection.execute(sa.text(f'GRANT SELECT ({names}) ON "{relation}" TO {AUDIT_ROLE}'))
