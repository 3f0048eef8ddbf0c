"""Delta debugging of a plan: drop halves, then smaller parts, then single steps, while the promise stays broken."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


async def shrink(items: Sequence[Item], is_broken: Callable[[Sequence[Item]], Awaitable[bool]]) -> list[Item]:
    """Return a part of the items that is still broken, and of which no single item can be dropped."""
    kept = list(items)
    size = max(1, len(kept) // 2)
    while True:
        dropped_any = False
        start = 0
        while start < len(kept):
            candidate = kept[:start] + kept[start + size :]
            if candidate and await is_broken(candidate):
                kept, dropped_any = candidate, True
            else:
                start += size
        if size == 1 and not dropped_any:
            return kept
        if not dropped_any:
            size = max(1, size // 2)
