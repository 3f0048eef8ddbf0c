"""What is in hand at once is bounded, each channel by itself."""

import asyncio

from notifications.consumers.lanes import Lanes


async def test_a_lane_that_hangs_is_full_by_itself_and_holds_up_no_other():
    lanes, hang, in_hand = Lanes(3), asyncio.Event(), []

    async def send(queue, number):
        async with lanes.turn(queue):
            in_hand.append(number)
            await hang.wait()

    hanging = [asyncio.create_task(send("deliveries.sms", number)) for number in range(10)]
    await asyncio.sleep(0)
    assert in_hand == [0, 1, 2]
    async with asyncio.timeout(60), lanes.turn("deliveries.email"):
        assert in_hand == [0, 1, 2]
    hang.set()
    await asyncio.gather(*hanging)
    assert in_hand == list(range(10))
