"""Waits: a long one calls its probe less often."""

import pytest

from operations.waiting import PAUSE_SECONDS_MAX, eventually


@pytest.mark.parametrize(
    ("every", "first", "longest"), [(0.05, 0.05, PAUSE_SECONDS_MAX), (0.01, 0.01, 0.05), (2.0, 2.0, 2.0)]
)
async def test_pauses_of_a_wait_grow_to_their_limit(
    monkeypatch: pytest.MonkeyPatch, every: float, first: float, longest: float
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("operations.waiting.time.monotonic", lambda: sum(pauses))
    monkeypatch.setattr("operations.waiting.asyncio.sleep", sleep)
    await eventually(lambda: len(pauses) == 20, every=every)
    assert (pauses[0], pauses[-1]) == (first, longest)
    assert pauses == sorted(pauses)
