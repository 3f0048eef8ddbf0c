"""Each channel has its own limit of concurrent deliveries."""

import asyncio

from notifications.streams.concurrency_limiter import ConcurrencyLimiter


async def test_a_blocked_channel_delays_no_other() -> None:
    limiter, hang, running = ConcurrencyLimiter(3), asyncio.Event(), []

    async def send(queue, number):
        async with limiter.slot(queue):
            running.append(number)
            await hang.wait()

    hanging = [asyncio.create_task(send("deliveries.sms", number)) for number in range(10)]
    await asyncio.sleep(0)
    assert running == [0, 1, 2]
    async with asyncio.timeout(60), limiter.slot("deliveries.email"):
        assert running == [0, 1, 2]
    hang.set()
    await asyncio.gather(*hanging)
    assert running == list(range(10))
