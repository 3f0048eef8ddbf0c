"""What is in hand at once is bounded, each channel by itself."""

import asyncio

from notifications.streams.concurrency_limiter import ConcurrencyLimiter


async def test_a_lane_that_hangs_is_full_by_itself_and_holds_up_no_other():
    limiter, hang, in_hand = ConcurrencyLimiter(3), asyncio.Event(), []

    async def send(queue, number):
        async with limiter.slot(queue):
            in_hand.append(number)
            await hang.wait()

    hanging = [asyncio.create_task(send("deliveries.sms", number)) for number in range(10)]
    await asyncio.sleep(0)
    assert in_hand == [0, 1, 2]
    async with asyncio.timeout(60), limiter.slot("deliveries.email"):
        assert in_hand == [0, 1, 2]
    hang.set()
    await asyncio.gather(*hanging)
    assert in_hand == list(range(10))
