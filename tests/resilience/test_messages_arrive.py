"""Messages over four channels, one of which is down for a while, and their worker killed: what was taken arrives, by every channel, but for
what the worker may have sent when it died."""

from campus_tools.launcher.system import System
from lab.soak.notifications import MessageLoad, soak_messages
from operations.journey import Marketplace


async def test_every_message_arrives_despite_a_failed_channel_and_a_killed_worker(
    system: System, market: Marketplace
) -> None:
    load = MessageLoad(count=60, rate=20, down="sms", down_seconds=2, kills=1)
    figures = await soak_messages(system, market, load, lambda _: None)
    assert figures.holds, figures
    for name, line in figures.channels.items():
        # What the dead worker had in hand may have gone out or not, and is not sent again (decision 26).
        assert (line.accepted, line.arrived + line.uncertain >= 15) == (15, True), (name, figures)
