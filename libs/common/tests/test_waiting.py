"""Waits on another party's code, and loops that may not end silently."""

import asyncio
import gc
from uuid import uuid4

import pytest
from starlette.responses import PlainTextResponse

from common.primitives.waiting import LoopEnded, NoResponse, Wakeups, bounded, is_woken_before, never_ending
from common.process.loops import Loop, run_loop
from common.process.process_settings import ProcessSettings
from common.process.server import serve
from testkit.fixtures import eventually


async def _forever() -> None:
    await asyncio.Event().wait()


async def _cancelled_by_a_library() -> None:
    raise asyncio.CancelledError


async def _deaf() -> None:
    """Ignore the cancellation."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()


async def test_a_call_ends_at_our_limit_also_when_it_ignores_its_cancellation() -> None:
    for call in (_forever, _deaf):
        with pytest.raises(NoResponse):
            await bounded(call(), 0.01)


async def test_a_cancellation_by_the_library_is_a_lost_connection() -> None:
    with pytest.raises(NoResponse):
        await bounded(_cancelled_by_a_library(), None)


async def test_our_own_cancellation_stays_one() -> None:
    waiting = asyncio.create_task(bounded(_forever(), None))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def _returns() -> None:
    return


@pytest.mark.parametrize("loop", [_returns, _cancelled_by_a_library])
async def test_a_process_ends_when_one_of_its_loops_ends_before_the_stop(loop) -> None:
    ended: list[str] = []
    with pytest.raises(BaseExceptionGroup) as raised:
        await serve(
            PlainTextResponse("ok"),
            ProcessSettings.model_construct(port=0),
            [_forever(), never_ending("the relay", loop(), ended.append)],
        )
    assert raised.group_contains(LoopEnded)
    assert ended == ["the relay"]


async def test_a_server_collects_garbage_again_after_imports_without_it() -> None:
    collects: list[bool] = []

    async def loop() -> None:
        collects.append(gc.isenabled())

    gc.disable()
    try:
        with pytest.raises(BaseExceptionGroup):
            await serve(
                PlainTextResponse("ok"), ProcessSettings.model_construct(port=0), [never_ending("loop", loop())]
            )
    finally:
        gc.enable()
    assert collects == [True]


async def test_a_loop_goes_on_after_a_library_cancelled_one_of_its_rounds() -> None:
    rounds: list[int] = []

    async def run_once() -> None:
        rounds.append(1)
        if len(rounds) == 1:
            raise asyncio.CancelledError

    running = asyncio.create_task(run_loop(Loop("loop", run_once, 0.001)))
    await eventually(lambda: len(rounds) > 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


_LATER_SECONDS = 3600.0


async def test_a_wakeup_reaches_all_who_wait_for_its_key_and_no_others() -> None:
    wakeups, key = Wakeups(), uuid4()
    end_at = asyncio.get_running_loop().time() + _LATER_SECONDS
    with wakeups.waiting_for(key) as one, wakeups.waiting_for(key) as two, wakeups.waiting_for(uuid4()) as other:
        wakeups.wake(key)
        assert await is_woken_before(one, end_at)
        assert await is_woken_before(two, end_at)
        assert not other.is_set()


async def test_a_wakeup_before_the_wait_is_noticed_once() -> None:
    wakeups, key = Wakeups(), uuid4()
    with wakeups.waiting_for(key) as event:
        wakeups.wake(key)
        assert await is_woken_before(event, asyncio.get_running_loop().time() + _LATER_SECONDS)
        assert not await is_woken_before(event, 0.0)


async def test_a_key_is_forgotten_with_its_last_wait() -> None:
    wakeups, key = Wakeups(), uuid4()
    with wakeups.waiting_for(key):
        assert wakeups.is_awaited(key)
    wakeups.wake(key)
    assert not wakeups.is_awaited(key)
