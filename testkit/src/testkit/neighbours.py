"""A story beside others: what happens to one order, refund or payout may change no row of another, in any of its states."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

World = TypeVar("World")

Story = Callable[[World], AsyncIterator[str]]
"""Yields the name of each stage that it has reached."""


async def run_beside_neighbours(
    story: Story[World], new_world: Callable[[], World], rows_of: Callable[[list[World]], Awaitable[object]]
) -> None:
    """One neighbour stops at each stage of the story; then all of it happens once more, and no row of theirs changes."""
    neighbours: list[World] = []
    while True:
        neighbour = new_world()
        is_whole = await _advance(story(neighbour), len(neighbours) + 1)
        neighbours.append(neighbour)
        if is_whole:
            break
    before = await rows_of(neighbours)
    assert before
    async for stage in story(new_world()):
        assert await rows_of(neighbours) == before, f"the rows of a neighbour changed before the stage {stage!r}"


async def _advance(story: AsyncIterator[str], stages: int) -> bool:
    """Whether the story had ended before it reached so many stages."""
    for _ in range(stages):
        try:
            await anext(story)
        except StopAsyncIteration:
            return True
    return False
