"""Messages of conversations: live in the reader's stream, and a notice without one (contract section 11.9)."""

from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.orders import MessagePosted
from notifications.deliveries.queries.feed import is_streaming
from testkit.fixtures import eventually

from ..conftest import OpenScenario, Scenario
from ..steps import following, listening


def posted(scenario: Scenario, *, notifies: bool = True) -> MessagePosted:
    return MessagePosted(
        conversation_id=scenario.order_id,
        message_id=new_id(),
        author="vendor",
        reader_id=scenario.buyer_id,
        vendor_id=scenario.vendor_id,
        notifies=notifies,
        posted_at=iso(scenario.clock.now()),
    )


async def titles(scenario: Scenario) -> list[str]:
    return [item["title"] for item in (await scenario.feed()).json()["data"]]


async def streams(scenario: Scenario) -> bool:
    async with scenario.unit_of_work() as uow:
        return await is_streaming(uow, scenario.buyer_id, scenario.clock.now())


async def test_a_reader_without_a_stream_is_notified_once(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive_twice(posted(scenario))
    [item] = (await scenario.feed()).json()["data"]
    assert (item["template"], item["subject"]) == (
        "new_message",
        {"kind": "conversation", "id": str(scenario.order_id)},
    )


async def test_a_message_within_the_minute_of_the_last_notice_is_quiet(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive(posted(scenario, notifies=False))
    assert await titles(scenario) == []


async def test_an_open_stream_gets_the_message_and_no_notice(open_scenario: OpenScenario) -> None:
    async with open_scenario() as scenario, listening(scenario) as client:
        await scenario.project_users()
        async with following(scenario, client) as events, following(scenario, client, scenario.owner_id) as foreign:
            # The stream is announced after its first line.
            await eventually(lambda: streams(scenario))
            event = posted(scenario)
            await scenario.receive(event)
            scenario.dependencies.feed_streams.add_message(event)
            shown = await events.next()
            assert shown == (
                "message",
                None,
                {
                    "id": str(event.message_id),
                    "conversationId": str(event.conversation_id),
                    "author": "vendor",
                    "createdAt": event.posted_at,
                },
            )
            assert not scenario.dependencies.feed_streams._by_user[scenario.owner_id].copy().pop().messages
            assert foreign.start_id is not None
        assert await titles(scenario) == []
