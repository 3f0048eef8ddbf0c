"""A migration runs while the previous version still serves: it removes nothing that its code uses, and locks no table
for long.

The statements are those that alembic would send, revision by revision. The first revision sends none: an empty database
gets the schema at once.
"""

import importlib.util
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations

from common.migrations.runner import migrations_folder
from operations.services import SERVICES

# (service, revision, statement's start): why this one does not affect the old code.
JUSTIFIED: dict[tuple[str, str, str], str] = {}

_CREATED = re.compile(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.IGNORECASE)
_ALTERED = re.compile(r"^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+)\s+(.*)$", re.IGNORECASE | re.DOTALL)
_INDEXED = re.compile(r"^CREATE (?:UNIQUE )?INDEX (.*?)\s*\bON (?:ONLY )?(\w+)", re.IGNORECASE | re.DOTALL)
_ALTERED_OR_RULED = re.compile(r"^ALTER (?:TABLE (?:IF EXISTS )?(?:ONLY )?|POLICY \w+ ON )(\w+)", re.IGNORECASE)
_REFERENCED = re.compile(r"\bREFERENCES (\w+)", re.IGNORECASE)
# What ALTER TABLE may drop without removing a column.
_NO_COLUMN = r"(?!CONSTRAINT\b|NOT NULL\b|DEFAULT\b|EXPRESSION\b|IDENTITY\b)"


@dataclass(frozen=True)
class Rule:
    """A forbidden change of a table that the old code uses; `why` gives the alternative."""

    name: str
    pattern: re.Pattern[str]
    why: str
    unless: re.Pattern[str] | None = field(default=None)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


ACTIONS = (
    Rule("drops a column", _pattern(rf"\bDROP (?:COLUMN )?{_NO_COLUMN}\w+"), "drop it one release after its last use"),
    Rule("renames", _pattern(r"\bRENAME\b"), "add the new name beside the old one, and drop that one a release later"),
    Rule(
        "asks for a value that the old code does not write",
        _pattern(r"\bADD (?:COLUMN )?(?!CONSTRAINT\b)\w+ .*\bNOT NULL\b"),
        "give it a default",
        _pattern(r"\bDEFAULT\b"),
    ),
    Rule("sets NOT NULL", _pattern(r"\bSET NOT NULL\b"), "a release later, behind a CHECK that was validated"),
    Rule(
        "changes a type",
        _pattern(r"\bALTER (?:COLUMN )?\w+ (?:SET DATA )?TYPE\b"),
        "add a column of the new type beside it",
    ),
    Rule(
        "checks every row under the table's lock",
        _pattern(r"\bADD CONSTRAINT \w+ (?:CHECK|FOREIGN KEY)\b"),
        "add it NOT VALID, and validate it in a migration of its own",
        _pattern(r"\bNOT VALID\b"),
    ),
)


def objections(statements: list[str]) -> Iterator[tuple[str, str]]:
    """(statement, what is wrong with it) of one revision; a table that it creates itself is not in use yet."""
    own = {match[1] for statement in statements if (match := _CREATED.match(statement))}
    altered_tables: set[str] = set()
    referenced: set[str] = set()
    for statement in statements:
        # A request that reads the table and waits to write it would be a deadlock.
        if (locked := _ALTERED_OR_RULED.match(statement)) and locked[1] in referenced - altered_tables - own:
            yield statement, f"alters {locked[1]} after a foreign key locked it: alter it before"
        altered_tables |= {locked[1]} if locked else set()
        referenced |= set(_REFERENCED.findall(statement))
        if re.match(r"DROP TABLE\b", statement, re.IGNORECASE):
            yield statement, "drops a table: a release after its last use"
        altered = _ALTERED.match(statement)
        if altered and altered[1] not in own:
            for action in actions_of(altered[2]):
                for rule in ACTIONS:
                    if rule.pattern.search(action) and not (rule.unless and rule.unless.search(action)):
                        yield statement, f"{rule.name}: {rule.why}"
        indexed = _INDEXED.match(statement)
        # Built by hand with CONCURRENTLY before the roll-out, the migration then finds it.
        if indexed and indexed[2] not in own and "IF NOT EXISTS" not in indexed[1].upper():
            yield (
                statement,
                "builds an index while nobody may write: CONCURRENTLY by hand before, and IF NOT EXISTS here",
            )


def actions_of(altering: str) -> Iterator[str]:
    """Yield the parts of one ALTER TABLE, split at commas outside brackets."""
    depth, begin = 0, 0
    for place, character in enumerate(altering):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield altering[begin:place]
            begin = place + 1
    yield altering[begin:]


def revisions(package: str) -> list[Path]:
    """Return the files of the later migrations, oldest first."""
    [_, *later] = sorted((migrations_folder(package) / "versions").glob("[0-9]*.py"))
    return later


def statements_of(path: Path) -> list[str]:
    """Return what the upgrade of one revision sends."""
    sent = io.StringIO()
    context = MigrationContext.configure(dialect_name="postgresql", opts={"as_sql": True, "output_buffer": sent})
    with Operations.context(context):
        _load(path).upgrade()
    # Functions hold semicolons: alembic ends each statement with one and an empty line.
    plain = re.sub(r"--[^\n]*\n", "\n", sent.getvalue())
    return [" ".join(piece.split()) for piece in plain.split(";\n\n") if piece.strip()]


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"judged_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("service", [service.import_name for service in SERVICES])
def test_each_revision_is_compatible_with_the_previous_code(service) -> None:
    wrong = [
        (path.stem, statement, objection)
        for path in revisions(service)
        for statement, objection in objections(statements_of(path))
        if not any(
            key[:2] == (service, path.stem[:4]) and statement.startswith(key[2]) and reason
            for key, reason in JUSTIFIED.items()
        )
    ]
    assert wrong == []


REFUSED = {
    "drops a table": "DROP TABLE notes",
    "drops a column": "ALTER TABLE notes DROP COLUMN text",
    "drops a column without the word": "ALTER TABLE notes ADD x int, DROP text",
    "renames a column": "ALTER TABLE notes RENAME COLUMN text TO body",
    "renames a table": "ALTER TABLE notes RENAME TO pages",
    "adds a column without a default": "ALTER TABLE notes ADD COLUMN size integer NOT NULL",
    "adds a column without a default beside one with": (
        "ALTER TABLE notes ADD a int NOT NULL, ADD b int NOT NULL DEFAULT 0"
    ),
    "sets NOT NULL": "ALTER TABLE notes ALTER COLUMN text SET NOT NULL",
    "changes a type": "ALTER TABLE notes ALTER COLUMN size TYPE bigint",
    "checks every row": "ALTER TABLE notes ADD CONSTRAINT notes_short CHECK (size < 10)",
    "builds an index": "CREATE UNIQUE INDEX notes_of_owner ON notes (owner_id)",
}
USED = {
    "a new column": "ALTER TABLE notes ADD COLUMN size integer",
    "a new column with a default": "ALTER TABLE notes ADD COLUMN size integer NOT NULL DEFAULT 0, ADD COLUMN more text",
    "a rule taken away": "ALTER TABLE notes DROP CONSTRAINT notes_short",
    "NOT NULL taken away": "ALTER TABLE notes ALTER COLUMN text DROP NOT NULL",
    "a rule for new rows": "ALTER TABLE notes ADD CONSTRAINT notes_short CHECK (size < 10) NOT VALID",
    "a rule checked later": "ALTER TABLE notes VALIDATE CONSTRAINT notes_short",
    "an index built before": "CREATE INDEX IF NOT EXISTS notes_of_owner ON notes (owner_id)",
}


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED)
def test_a_change_that_breaks_the_old_code_is_rejected(statement) -> None:
    assert list(objections([statement]))
    if not statement.startswith("DROP TABLE"):
        assert not list(objections(["CREATE TABLE notes (id int)", statement]))


def test_a_table_is_altered_before_a_foreign_key_locks_it() -> None:
    referring = "CREATE TABLE pages (note_id int REFERENCES notes (id))"
    altering = ["ALTER TABLE notes ADD COLUMN size integer", "ALTER POLICY notes_read ON notes USING (true)"]
    for statement in altering:
        assert list(objections([referring, statement]))
        assert not list(objections([statement, referring]))
        assert not list(objections(["CREATE TABLE notes (id int)", referring, statement]))


@pytest.mark.parametrize("statement", USED.values(), ids=USED)
def test_a_compatible_change_is_accepted(statement) -> None:
    assert not list(objections([statement]))
