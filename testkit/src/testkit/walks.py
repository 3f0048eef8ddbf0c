"""Random walks: bounded in steps, repeated by a seed, and shrunk to the fewest steps that fail."""

import os
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

SEEDS: Final = tuple(int(number) for number in os.environ.get("LIFECYCLE_SEEDS", "1 2").split())

Path = Sequence[tuple[Any, ...]]


class Walker(Protocol):
    """The subject of a walk."""

    async def run_step(self, name: str, *arguments: Any) -> None:
        """Run one step, and check its result."""


async def walk(start: Callable[[], Awaitable[Walker]], steps: Path, seed: int, *, walks: int, length: int) -> None:
    """Run `length` steps with each of `walks` new walkers.

    A step is a name and the choices for each of its arguments. Raises AssertionError with the steps that are needed to
    fail.
    """
    draw = random.Random(seed)
    for _ in range(walks):
        path = [
            (name, *(draw.choice(choices) for choices in arguments))
            for name, *arguments in draw.choices(steps, k=length)
        ]
        if (fault := await _fault_of(start, path)) is not None:
            needed, fault = await _shrunk(start, path, fault)
            raise AssertionError("\n".join([f"seed {seed}:", *map(str, needed)])) from fault


async def _fault_of(start: Callable[[], Awaitable[Walker]], path: Path) -> Exception | None:
    walker = await start()
    try:
        for chosen in path:
            await walker.run_step(*chosen)
    except Exception as fault:
        return fault
    return None


async def _shrunk(start: Callable[[], Awaitable[Walker]], path: Path, fault: Exception) -> tuple[Path, Exception]:
    """Leave out each step once, the last first, while the walk still fails."""
    for position in reversed(range(len(path))):
        shorter = [*path[:position], *path[position + 1 :]]
        if (found := await _fault_of(start, shorter)) is not None:
            path, fault = shorter, found
    return path, fault
