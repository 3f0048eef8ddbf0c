"""A story beside others: what happens to one order, refund or payout may change no row of another, in any of its
states.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

World = TypeVar("World")

Story = Callable[[World], AsyncIterator[str]]
"""Yields the name of each state that it has reached, and asserts what the state must bring."""

Fetch = Callable[[str], Awaitable[Sequence[Any]]]
"""Rows of the service's database, without row policies."""

# Their rows belong to no order or vendor alone, or change when they are published.
_SHARED: Final = ("alembic_version", "ledger_unsealed", "outbox", "outbox_sequences")
# The account of a part has the id of its owner; the other accounts are those of the platform.
_OF_AN_OWNER: Final = {"ledger_balances": "WHERE account LIKE '%:%'", "ledger_accounts": "WHERE account LIKE '%:%'"}


async def assert_isolated(story: Story[World], new_world: Callable[[], World], fetch: Fetch) -> None:
    """One neighbour stops at each state of the story; then all of it happens to two more, state by state in turn.

    No row of a neighbour changes, and the two reach what the story asserts.
    """
    states, is_whole, before = 0, False, await _rows(fetch)
    while not is_whole:
        is_whole = await _advance(story(new_world()), states := states + 1)
        assert await _changed(before, fetch) == {}, f"the neighbour of {states} states"
        before = await _rows(fetch)
    one, other = story(new_world()), story(new_world())
    async for state in one:
        assert await _changed(before, fetch) == {}, f"before the state {state!r}"
        assert await anext(other) == state
    assert await _advance(other, 1)
    assert await _changed(before, fetch) == {}


async def _advance(story: AsyncIterator[str], states: int) -> bool:
    """Return whether the story had ended before it reached so many states."""
    for _ in range(states):
        try:
            await anext(story)
        except StopAsyncIteration:
            return True
    return False


async def _rows(fetch: Fetch) -> dict[str, set[str]]:
    tables = await fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname"
    )
    names = [row["relname"] for row in tables if row["relname"] not in _SHARED]
    return {
        name: {
            row["row"] for row in await fetch(f"SELECT t::text AS row FROM {name} AS t {_OF_AN_OWNER.get(name, '')}")
        }
        for name in names
    }


async def _changed(before: dict[str, set[str]], fetch: Fetch) -> dict[str, set[str]]:
    """Return the earlier rows that are no more as they were, by table."""
    after = await _rows(fetch)
    return {table: changed for table, rows in before.items() if (changed := rows - after[table])}
