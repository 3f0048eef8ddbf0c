"""Record the changes of state in a database of a test, and compare them with the lifecycles that decide them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, Self

import asyncpg

from common.primitives.lifecycles import Lifecycle

# Only databases that are thrown away have this trigger: those of the product have none that acts.
_RECORD: Final = """
CREATE TABLE recorded_state_changes (
    relation text NOT NULL, before text, after text NOT NULL, id text NOT NULL, subject text NOT NULL,
    at timestamptz NOT NULL
);
CREATE FUNCTION record_state_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
    changed jsonb := to_jsonb(NEW);
    -- A hold of a balance has the id of its payment; the approvals of a day have a key of several columns.
    changed_id text := coalesce(changed->>'id', changed->>'intent_id', TG_ARGV[0]);
BEGIN
    INSERT INTO recorded_state_changes VALUES (
        TG_ARGV[0], to_jsonb(OLD)->>'status', NEW.status, changed_id,
        coalesce(changed->>'payout_id', changed->>'order_id', changed_id), clock_timestamp()
    );
    RETURN NULL;
END $$;
"""
_OBSERVE: Final = """
CREATE TRIGGER record_new_state AFTER INSERT ON {0} FOR EACH ROW EXECUTE FUNCTION record_state_change('{0}');
CREATE TRIGGER record_state_change AFTER UPDATE ON {0} FOR EACH ROW
WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION record_state_change('{0}')
"""
_REFUSE: Final = """
CREATE FUNCTION refuse_state_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% changes from % to %, which no rule allows', TG_TABLE_NAME, OLD.status, NEW.status;
END $$;
"""
_REFUSE_OTHERS: Final = """
CREATE TRIGGER refuse_state_change BEFORE UPDATE ON {0} FOR EACH ROW
WHEN (OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN ({1})) EXECUTE FUNCTION refuse_state_change()
"""
_REMOVE_RECORDED: Final = """
DELETE FROM recorded_state_changes RETURNING at, relation, id, subject, before, after
"""


class StateChange(NamedTuple):
    """A row in a new state; `before` is None for a new row. `subject` is its payout, else its order, else itself."""

    at: datetime
    table: str
    id: str
    subject: str
    before: str | None
    after: str


class StateChanges:
    """The changes of the column `status` in the tables of these lifecycles. `walked` are those that a rule allows.

    `recent` are those before the last call of `forbidden`, with new rows.
    """

    def __init__(self, owner: asyncpg.Connection, lifecycles: Mapping[str, Lifecycle[Any, Any]]) -> None:
        self._owner, self._lifecycles = owner, lifecycles
        self.walked: dict[Lifecycle[Any, Any], set[tuple[str, str]]] = defaultdict(set)
        self.recent: list[StateChange] = []

    @classmethod
    async def recorded(
        cls, owner: asyncpg.Connection, lifecycles: Mapping[str, Lifecycle[Any, Any]], others: Iterable[str] = ()
    ) -> Self:
        """Record them from now on, over a connection of the database's owner. The `others` are tables without rules."""
        changes = cls(owner, lifecycles)
        await changes.start(others)
        return changes

    async def start(self, others: Iterable[str] = ()) -> None:
        """Let the database record them from now on."""
        await self._owner.execute(_RECORD)
        for table in (*self._lifecycles, *others):
            await self._owner.execute(_OBSERVE.format(table))

    async def refuse_others(self, *tables: str) -> None:
        """Let the database refuse the changes of these tables that no rule allows, from now on."""
        await self._owner.execute(_REFUSE)
        for table in tables:
            pairs = ", ".join(f"('{before}', '{after}')" for before, after in self._lifecycles[table].transitions)
            await self._owner.execute(_REFUSE_OTHERS.format(table, pairs))

    async def forbidden(self) -> list[str]:
        """Return the changes since the last call that no rule allows, as sentences."""
        self.recent = sorted(StateChange(*row) for row in await self._owner.fetch(_REMOVE_RECORDED))
        found = set()
        for _, table, _, _, before, after in self.recent:
            if before is None or table not in self._lifecycles:
                continue
            if (before, after) in self._lifecycles[table].transitions:
                self.walked[self._lifecycles[table]].add((before, after))
            else:
                found.add(f"{table} changed from {before} to {after}, which no rule allows")
        return sorted(found)


def coverage(lifecycle: Lifecycle[Any, Any], walked: set[tuple[str, str]]) -> str:
    """Return how many of the lifecycle's changes were walked, as text."""
    changes = {(before, after) for before, after in lifecycle.transitions if before != after}
    return f"{lifecycle.name} {len(walked & changes)} of {len(changes)}"
