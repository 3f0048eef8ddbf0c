"""Waits on another party's code, and loops that may not end silently."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse

from common.primitives.waiting import LoopEnded, NoResponse, bounded, never_ending
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
