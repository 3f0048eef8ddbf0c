"""Changes of state in the databases of a simulation, compared with the lifecycles that decide them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, Self

import asyncpg

from campus_tools.documents.lifecycles import LIFECYCLES
from common.primitives.lifecycles import Lifecycle
from payouts.domain.transitions import TRANSFER

# The databases of a simulation are thrown away. The product has no trigger that acts.
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
_TAKE: Final = "DELETE FROM recorded_state_changes RETURNING relation, before, after"
# A transfer's row has the gateway's last response, also one that contradicts an earlier response (decision 114).
_OF_RESPONSES: Final = {TRANSFER}


class StateChanges:
    """The changes of state since the start of a simulation. Walked are the transitions that a statement has written."""

    def __init__(self, databases: Mapping[str, asyncpg.Connection]) -> None:
        self._databases = databases
        self._walked: dict[Lifecycle[Any, Any], set[tuple[str, str]]] = defaultdict(set)

    @classmethod
    async def recorded(cls, databases: Mapping[str, asyncpg.Connection]) -> Self:
        """Record the changes of all lifecycles of these services from now on."""
        for connection in databases.values():
            await connection.execute(_RECORD)
        for tables in LIFECYCLES.values():
            for service, table in (name.split(".") for name in tables):
                if service in databases:
                    await databases[service].execute(_OBSERVE.format(table))
        return cls(databases)

    async def forbidden(self) -> list[str]:
        """Return the changes since the last call that no rule allows."""
        by_table = {table: lifecycle for lifecycle, tables in LIFECYCLES.items() for table in tables}
        found = set()
        for service, connection in self._databases.items():
            for relation, before, after in await connection.fetch(_TAKE):
                lifecycle = by_table[f"{service}.{relation}"]
                if (before, after) in lifecycle.transitions:
                    self._walked[lifecycle].add((before, after))
                elif lifecycle not in _OF_RESPONSES:
                    found.add(f"{service}.{relation} changed from {before} to {after}, which no rule allows")
        return sorted(found)

    @property
    def line(self) -> str:
        """The number of walked transitions of each lifecycle."""
        parts = []
        for lifecycle in LIFECYCLES:
            changes = {(before, after) for before, after in lifecycle.transitions if before != after}
            if walked := self._walked.get(lifecycle):
                parts.append(f"{lifecycle.name} {len(walked)} of {len(changes)}")
        return f"transitions: {', '.join(parts)}"
