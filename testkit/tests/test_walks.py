"""A random walk repeats by its seed and names the steps that are needed to fail."""

from typing import Any

import pytest

from testkit.walks import Walker, walk

STEPS = [("add", (1, 2, 3)), ("rest",)]


class Counter:
    """It fails above five."""

    def __init__(self, taken: list[tuple[Any, ...]]) -> None:
        self.taken, self.total = taken, 0

    async def take(self, name: str, *arguments: Any) -> None:
        self.taken.append((name, *arguments))
        self.total += sum(arguments)
        assert self.total <= 5


async def taken_by(seed: int, *, length: int = 2) -> list[tuple[Any, ...]]:
    taken: list[tuple[Any, ...]] = []

    async def start() -> Walker:
        return Counter(taken)

    await walk(start, STEPS, seed, walks=3, length=length)
    return taken


async def test_a_seed_repeats_its_walks() -> None:
    first = await taken_by(1)
    assert len(first) == 6
    assert await taken_by(1) == first
    assert await taken_by(2) != first


async def test_a_failed_walk_names_only_the_steps_that_are_needed() -> None:
    with pytest.raises(AssertionError) as failure:
        await taken_by(1, length=40)
    heading, *steps = str(failure.value).splitlines()
    assert heading == "seed 1:"
    assert {step.split(",")[0] for step in steps} == {"('add'"}
    assert sum(int(step[-2]) for step in steps) == 6 or len(steps) <= 3
