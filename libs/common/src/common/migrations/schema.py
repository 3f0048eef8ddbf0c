"""Create the schema of an empty database: the tables of its metadata, and what SQLAlchemy Core cannot express.

Functions, policies, grants, triggers and partitions are SQL files of the present state: those of this package in
`sql/`, which the metadata requests, and those of the service in its `migrations/sql/`. A file whose name begins with
`0` is executed before the tables, because columns use its functions.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

# The keys of a metadata's `info`: the service whose roles the SQL names, and its SQL of this package.
SERVICE: Final = "service"
SHARED_SQL: Final = "shared_sql"

_SHARED_FOLDER: Final = Path(__file__).parent / "sql"


@dataclass(frozen=True, slots=True)
class SharedSql:
    """A file of `sql/` in this package, with the values of its placeholders; `{service}` is always one of them."""

    name: str
    values: dict[str, str] = field(default_factory=dict)
    before_tables: bool = False


def create_schema(connection: sa.Connection, metadata: sa.MetaData, own_folder: Path | None = None) -> None:
    """Create everything in an empty database, as its owner. `own_folder` has the SQL files of the service."""
    shared: list[SharedSql] = metadata.info[SHARED_SQL]
    own = sorted(own_folder.glob("*.sql")) if own_folder else []
    early = [path for path in own if path.name.startswith("0")]
    service = metadata.info[SERVICE]
    for sql in shared:
        if sql.before_tables:
            _execute(connection, _text_of(sql, service))
    for path in early:
        _execute(connection, path.read_text(encoding="utf-8"))
    metadata.create_all(connection, checkfirst=False)
    for sql in shared:
        if not sql.before_tables:
            _execute(connection, _text_of(sql, service))
    for path in own:
        if path not in early:
            _execute(connection, path.read_text(encoding="utf-8"))


def _text_of(sql: SharedSql, service: str) -> str:
    text = (_SHARED_FOLDER / f"{sql.name}.sql").read_text(encoding="utf-8")
    for name, value in {"service": service, **sql.values}.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _execute(connection: sa.Connection, script: str) -> None:
    """Execute a script of several statements, which only PostgreSQL's simple protocol accepts."""
    driver: Any = connection.connection.dbapi_connection
    driver.run_async(lambda raw: raw.execute(script))
