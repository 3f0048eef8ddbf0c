"""A random walk repeats by its seed and names the steps that are needed to fail."""

from typing import Any

import pytest

from testkit.walks import Walker, walk

STEPS = [("add", (1, 2, 3)), ("rest",)]


class Counter:
    """It fails above five."""

    def __init__(self, steps: list[tuple[Any, ...]]) -> None:
        self.steps, self.total = steps, 0

    async def run_step(self, name: str, *arguments: Any) -> None:
        self.steps.append((name, *arguments))
        self.total += sum(arguments)
        assert self.total <= 5


async def steps_of(seed: int, *, length: int = 2) -> list[tuple[Any, ...]]:
    steps: list[tuple[Any, ...]] = []

    async def start() -> Walker:
        return Counter(steps)

    await walk(start, STEPS, seed, walks=3, length=length)
    return steps


async def test_a_seed_repeats_its_walks() -> None:
    first = await steps_of(1)
    assert len(first) == 6
    assert await steps_of(1) == first
    assert await steps_of(2) != first


async def test_a_failed_walk_names_only_the_steps_that_are_needed() -> None:
    with pytest.raises(AssertionError) as failure:
        await steps_of(1, length=40)
    heading, *needed = str(failure.value).splitlines()
    assert heading == "seed 1:"
    assert {step.split(",")[0] for step in needed} == {"('add'"}
    assert len(needed) <= 3
