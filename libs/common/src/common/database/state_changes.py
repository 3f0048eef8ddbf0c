"""Statements that change a stored state name the state before, and fail when the row has another one."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Lifecycle, StateT, TriggerT


class StateChanged(Exception):
    """No row, or not only one, was in the state that the statement changes. The unit of work must not commit."""


async def change_state(uow: UnitOfWork, statement: str, *values: object) -> None:
    """Run an UPDATE of one row whose WHERE names the state before. Raises StateChanged unless it wrote one row."""
    if (count := await uow.execute(statement, *values)) != 1:
        raise StateChanged(f"{count} rows were changed by: {statement.strip()}")


def states_before(lifecycle: Lifecycle[StateT, TriggerT], *triggers: TriggerT) -> str:
    """Return the states that the triggers leave, as the list of an SQL `IN`."""
    return "({})".format(", ".join(f"'{state}'" for state in lifecycle.states_before(*triggers)))


def allows_change(lifecycle: Lifecycle[StateT, TriggerT], after: str, *, column: str = "status") -> str:
    """Return the SQL condition that the lifecycle leads from the column's state to the one of the parameter `after`."""
    pairs = ", ".join(f"('{one}', '{other}')" for one, other in sorted(lifecycle.transitions))
    return f"({column}, {after}::text) IN ({pairs})"
