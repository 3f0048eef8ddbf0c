"""Queries that share round trips: each gets its own result, and none is lost."""

import asyncio
from collections.abc import Sequence

import pytest

from api_gateway.batches import Batches


class Store:
    """Doubles numbers, and records the batches that it received."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def double(self, numbers: Sequence[int]) -> Sequence[int]:
        self.batches.append([*numbers])
        await self.gate.wait()
        if 13 in numbers:
            raise LookupError
        return [2 * number for number in numbers]


@pytest.mark.parametrize("concurrency_max", [1, 2])
async def test_questions_one_after_the_other_are_all_served(concurrency_max: int) -> None:
    store = Store()
    batches = Batches(store.double, size_max=4, concurrency_max=concurrency_max)
    async with asyncio.timeout(60):
        assert [await batches.submit(number) for number in range(12)] == [2 * number for number in range(12)]


async def test_questions_that_come_meanwhile_share_the_next_round_trip_within_its_size() -> None:
    store = Store()
    store.gate.clear()
    batches = Batches(store.double, size_max=4, concurrency_max=1)
    probes = asyncio.gather(*(batches.submit(number) for number in range(10)))
    await asyncio.sleep(0)
    store.gate.set()
    async with asyncio.timeout(60):
        assert await probes == [2 * number for number in range(10)]
    assert [len(batch) for batch in store.batches] == [4, 4, 2]


async def test_a_failure_affects_only_its_batch() -> None:
    store = Store()
    batches = Batches(store.double, size_max=2, concurrency_max=1)
    async with asyncio.timeout(60):
        found = await asyncio.gather(*(batches.submit(number) for number in (12, 13, 14)), return_exceptions=True)
        assert [type(one) for one in found] == [LookupError, LookupError, int]
        assert await batches.submit(1) == 2


async def test_waiting_items_are_cancelled_at_the_end() -> None:
    store = Store()
    store.gate.clear()
    batches = Batches(store.double, size_max=1, concurrency_max=1)
    probes = [asyncio.ensure_future(batches.submit(number)) for number in range(3)]
    await asyncio.sleep(0)
    await batches.close()
    async with asyncio.timeout(60):
        found = await asyncio.gather(*probes, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in found)
