"""Wake-ups between the tasks of a process."""

import asyncio
from uuid import uuid4

from common.primitives.wakeups import Wakeups, is_woken_before

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
