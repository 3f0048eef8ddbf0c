"""Record the changes of state in a database of a test, and compare them with the lifecycles that decide them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, Self

import asyncpg

from common.primitives.lifecycles import Lifecycle

# Only databases that are thrown away have this trigger: those of the product have none that acts.
_RECORD: Final = """
CREATE TABLE recorded_state_changes (relation text NOT NULL, before text NOT NULL, after text NOT NULL);
CREATE FUNCTION record_state_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
    INSERT INTO recorded_state_changes VALUES (TG_ARGV[0], OLD.status, NEW.status);
    RETURN NULL;
END $$;
"""
_OBSERVE: Final = """
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
_REMOVE_RECORDED: Final = "DELETE FROM recorded_state_changes RETURNING relation, before, after"


class StateChanges:
    """The changes of the column `status` in the tables of these lifecycles. `walked` are those that a rule allows."""

    def __init__(self, owner: asyncpg.Connection, lifecycles: Mapping[str, Lifecycle[Any, Any]]) -> None:
        self._owner, self._lifecycles = owner, lifecycles
        self.walked: dict[Lifecycle[Any, Any], set[tuple[str, str]]] = defaultdict(set)

    @classmethod
    async def recorded(cls, owner: asyncpg.Connection, lifecycles: Mapping[str, Lifecycle[Any, Any]]) -> Self:
        """Record them from now on, over a connection of the database's owner."""
        await owner.execute(_RECORD)
        for table in lifecycles:
            await owner.execute(_OBSERVE.format(table))
        return cls(owner, lifecycles)

    async def refuse_others(self, *tables: str) -> None:
        """Let the database refuse the changes of these tables that no rule allows, from now on."""
        await self._owner.execute(_REFUSE)
        for table in tables:
            pairs = ", ".join(f"('{before}', '{after}')" for before, after in self._lifecycles[table].transitions)
            await self._owner.execute(_REFUSE_OTHERS.format(table, pairs))

    async def forbidden(self) -> list[str]:
        """Return the changes since the last call that no rule allows, as sentences."""
        found = set()
        for table, before, after in await self._owner.fetch(_REMOVE_RECORDED):
            if (before, after) in self._lifecycles[table].transitions:
                self.walked[self._lifecycles[table]].add((before, after))
            else:
                found.add(f"{table} changed from {before} to {after}, which no rule allows")
        return sorted(found)


def coverage(lifecycle: Lifecycle[Any, Any], walked: set[tuple[str, str]]) -> str:
    """Return how many of the lifecycle's changes were walked, as text."""
    changes = {(before, after) for before, after in lifecycle.transitions if before != after}
    return f"{lifecycle.name} {len(walked & changes)} of {len(changes)}"
