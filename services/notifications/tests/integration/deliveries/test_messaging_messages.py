"""Messages of customers in the messaging app: every kind, exactly once, in any order."""

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import UserErased
from notifications.support.use_cases.messaging.process_messaging_item import process_messaging_item
from testkit.service_kit import OpenService

from ..conftest import OpenScenario, Scenario
from ..messaging_app import BUYER, QUEUE, body_of, messages, outcomes, post, process, text, tickets
from ..providers import Providers


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, messaging_settings: dict[str, Any]):
    async with open_scenario(**messaging_settings) as scenario:
        yield scenario


# Each kind of message, and its text for support.
KINDS = [
    ({"type": "text", "text": {"body": "Where is it?"}}, "Where is it?"),
    ({"type": "text", "text": {"body": "a\x00b \ud800"}}, "a\ufffdb ?"),
    ({"type": "text", "text": {}}, "[empty text]"),
    ({"type": "text"}, "[empty text]"),
    ({"type": "text", "text": {"body": "x" * 5000}}, "x" * 4096),
    ({"type": "image", "image": {"id": "7", "mime_type": "image/jpeg", "caption": "broken"}}, "[image] broken"),
    ({"type": "audio", "audio": {"id": "8", "voice": True}}, "[audio]"),
    ({"type": "video", "video": {"caption": "see"}}, "[video] see"),
    ({"type": "document", "document": {"filename": "receipt.pdf"}}, "[document] receipt.pdf"),
    ({"type": "sticker", "sticker": {"id": "9"}}, "[sticker]"),
    (
        {"type": "location", "location": {"latitude": 6.5, "longitude": 3.4, "name": "Akoka"}},
        "[location] Akoka",
    ),
    ({"type": "location", "location": None}, "[location]"),
    ({"type": "contacts", "contacts": [{"name": {"formatted_name": "Dami"}}, 7, {}]}, "[contacts] Dami"),
    ({"type": "interactive", "interactive": {"type": "button_reply", "button_reply": {"title": "Yes"}}}, "Yes"),
    (
        {"type": "interactive", "interactive": {"list_reply": {"title": "Refund", "description": "by card"}}},
        "Refund by card",
    ),
    ({"type": "interactive"}, "[interactive]"),
    ({"type": "button", "button": {"text": "Stop"}}, "Stop"),
    ({"type": "unsupported", "errors": [{"code": 131051}]}, "[unsupported]"),
    ({"type": "unsupported", "errors": [{"code": "131060"}], "unsupported": {"type": "poll"}}, "[unsupported] poll"),
    ({"type": "unsupported", "errors": "x", "unsupported": 7}, "[unsupported]"),
    ({"type": "order", "order": {"catalog_id": "1"}}, "[order]"),
    ({"type": "order", "order": {"catalog_id": "1", "text": "Two please"}}, "[order] Two please"),
    ({"type": "edit", "edit": {"message": {"type": "text", "text": {"body": "Not today"}}}}, "[edited] Not today"),
    (
        {"type": "edit", "edit": {"message": {"type": "image", "image": {"caption": "See"}}}},
        "[edited] [image] See",
    ),
    ({"type": "edit", "edit": {"message": {"type": "edit", "edit": {}}}}, "[edited]"),
    ({"type": "edit", "edit": None}, "[edited]"),
    ({"type": "revoke", "revoke": {"original_message_id": "wamid.0"}}, "[revoke] The customer deleted a message."),
    (
        {"type": "reaction", "reaction": {"message_id": "wamid.0", "emoji": "\N{THUMBS UP SIGN}"}},
        "[reaction] \N{THUMBS UP SIGN}",
    ),
    ({"type": "reaction", "reaction": {"message_id": "wamid.0"}}, "[reaction]"),
    (
        {"type": "system", "system": {"type": "user_changed_number", "body": "A changed", "wa_id": "2348030000002"}},
        "[system] The customer has another phone number now.",
    ),
    (
        {"type": "system", "system": {"type": "user_changed_user_id", "user_id": "NG.2"}},
        "[system] The customer has another id in the app now.",
    ),
    (
        {"type": "interactive", "interactive": {"type": "nfm_reply", "nfm_reply": {"body": "Sent"}}},
        "[interactive] Sent",
    ),
    ({"type": "button", "button": {"payload": "x"}}, "[button]"),
    ({"type": "hologram", "hologram": {"body": "new"}}, "[hologram] new"),
    ({"type": 7}, "[unknown]"),
    ({}, "[unknown]"),
]


async def test_every_kind_of_message_is_processed(scenario: Scenario) -> None:
    sent = [
        {"from": BUYER, "id": f"wamid.{number}", "timestamp": str(1767225600 - 100 + number), **kind}
        for number, (kind, _) in enumerate(KINDS)
    ]
    odd = [7, None, {}, {"id": "x"}, {"from": 7, "id": "y"}, {"from": "no number", "id": "z"}, [], {"id": {"a": 1}}]
    value = {
        "messages": [*odd, *sent],
        "statuses": [{"id": "n", "status": "typing"}, {"status": "read"}, {}, {"id": "l", "status": ["a"]}],
    }
    await process(scenario, {"messages": [odd[2]]}, value)
    assert [row["body"] for row in await messages(scenario)] == [words for _, words in KINDS]
    assert len(await tickets(scenario)) == 1
    found = await outcomes(scenario)
    assert {key for key, outcome in found.items() if outcome == "done"} == {f"message:{one['id']}" for one in sent}
    assert {found["message:x"], found["message:y"], found["message:z"], found["status:n:typing"]} == {"ignored"}
    assert "queued" not in found.values()


async def test_a_kind_that_is_new_in_the_app_is_shown_as_unknown(scenario: Scenario) -> None:
    new = {"type": "hologram", "hologram": {"body": "new"}}
    await process(scenario, {"messages": [{"from": BUYER, "id": "wamid.1", **new}, text("wamid.2", "Hello")]})
    (ticket,) = await tickets(scenario)
    path = f"/api/support-tickets/{ticket['id']}/messages"
    response = await scenario.client.get(path, headers=scenario.headers(new_id(), roles=["auditor"]))
    shown = response.json()["data"]
    assert [(one["kind"], one["text"]) for one in shown] == [("unknown", "[hologram] new"), ("text", "Hello")]


async def test_a_message_with_an_invalid_time_has_the_time_of_arrival(scenario: Scenario, clock: ManualClock) -> None:
    now = clock.now()
    future = str(int(now.timestamp()) + 86_400)
    await process(
        scenario,
        {
            "messages": [
                text("a", "1", timestamp=future),
                text("b", "2", timestamp="soon"),
                text("c", "3", timestamp=-5),
            ]
        },
    )
    assert {row["created_at"] for row in await messages(scenario)} == {now}


async def test_a_repeated_message_is_processed_once(scenario: Scenario) -> None:
    first = text("wamid.1", "Hello")
    await process(scenario, {"messages": [first, first]})
    await process(scenario, {"messages": [first]})
    await process(
        scenario,
        {"contacts": [{"wa_id": BUYER, "profile": {"name": "C"}}], "messages": [first, text("wamid.2", "Again")]},
    )
    assert [row["body"] for row in await messages(scenario)] == ["Hello", "Again"]
    assert len(await scenario.published("notifications.ticket_opened.v1")) == 1


async def test_fifty_concurrent_copies_are_one_message(scenario: Scenario, app: OpenService) -> None:
    bodies = [body_of({"messages": [text("wamid.1", "Hello")], "copy": number % 10}) for number in range(50)]
    responses = await asyncio.gather(*(post(scenario, body) for body in bodies))
    assert {response.status_code for response in responses} == {200}
    assert len(await scenario.fetch("SELECT 1 FROM processed_webhook_events")) == 10
    while await app.work(QUEUE):
        pass
    dependencies = app.dependencies

    async def again():
        async with scenario.unit_of_work() as uow:
            encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
            return await process_messaging_item(uow, "message:wamid.1", dependencies.phone_hasher, encryptor, now)

    assert set(await asyncio.gather(*(again() for _ in range(10)))) == {"done"}
    assert [row["body"] for row in await messages(scenario)] == ["Hello"]


async def test_concurrent_first_messages_open_one_ticket(scenario: Scenario) -> None:
    await process_concurrently(scenario, [text(f"wamid.{number}", f"Part {number}") for number in range(10)])
    [ticket] = await tickets(scenario)
    assert (ticket["unread_by_staff"], ticket["user_id"], ticket["source"]) == (10, None, "messaging")
    assert len(await scenario.published("notifications.ticket_opened.v1")) == 1


async def process_concurrently(scenario: Scenario, sent):
    """Process the items of one body, each by its own worker at once."""
    await post(scenario, body_of({"messages": sent}))
    await scenario.work(QUEUE)
    dependencies = scenario.dependencies

    async def process_item(key):
        async with scenario.unit_of_work() as uow:
            encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
            return await process_messaging_item(uow, key, dependencies.phone_hasher, encryptor, now)

    assert set(await asyncio.gather(*(process_item(f"message:{one['id']}") for one in sent))) == {"done"}


async def test_a_crash_before_the_commit_is_retried(scenario: Scenario, app: OpenService) -> None:
    await post(scenario, body_of({"messages": [text("wamid.1", "Hello")]}))
    await app.work(QUEUE)
    dependencies = app.dependencies
    encryptor, now = dependencies.delivery_sender.encryptor, dependencies.clock.now()
    with pytest.raises(ZeroDivisionError):
        async with scenario.unit_of_work() as uow:
            await process_messaging_item(uow, "message:wamid.1", dependencies.phone_hasher, encryptor, now)
            raise ZeroDivisionError
    assert await tickets(scenario) == []
    assert await outcomes(scenario) == {"message:wamid.1": "queued"}
    assert await scenario.published("notifications.ticket_opened.v1") == []
    await app.work(QUEUE)
    assert len(await messages(scenario)) == 1


USER_ID = "NG.13491208655302741918"


async def test_kinds_without_a_text_are_ignored(scenario: Scenario) -> None:
    await process(scenario, {"messages": [text("wamid.0", "Hello")]})
    ignored = [
        {"type": "request_welcome"},
        {"type": "system", "system": {"type": "customer_identity_changed", "body": "x"}},
        {"type": "system", "system": None},
        {"type": "system"},
    ]
    sent = [{"from": BUYER, "id": f"wamid.{number}", **kind} for number, kind in enumerate(ignored, start=1)]
    group = text("wamid.group", "To all of us", group_id="Y2FwaV9ncm91cDo")
    await process(scenario, {"messages": [*sent, group]})
    assert [row["body"] for row in await messages(scenario)] == ["Hello"]
    assert set((await outcomes(scenario)).values()) == {"done", "ignored"}


@pytest.mark.parametrize("kind", ["reaction", "revoke", "system"])
async def test_some_kinds_open_no_ticket(scenario: Scenario, kind: str) -> None:
    content = {"emoji": "+1", "type": "user_changed_number"}
    await process(scenario, {"messages": [{"from": BUYER, "id": "wamid.1", "type": kind, kind: content}]})
    assert await tickets(scenario) == []
    assert await outcomes(scenario) == {"message:wamid.1": "ignored"}


def hidden(message_id, words, **more):
    """Return a message of a user who hides the number, as the app sends it."""
    message = text(message_id, words, from_user_id=USER_ID, **more)
    del message["from"]
    contact = {"profile": {"name": "Tolu", "username": "tolu.ade"}, "user_id": USER_ID}
    return {"contacts": [contact], "messages": [message]}


async def test_a_user_without_a_number_has_a_ticket_and_gets_replies(scenario: Scenario, providers: Providers) -> None:
    await process(scenario, hidden("wamid.1", "Where is my order?"), hidden("wamid.2", "Hello?"))
    [ticket] = await tickets(scenario)
    assert (ticket["user_id"], ticket["phone_masked"]) == (None, "NG.1" + "*" * 15 + "1918")
    assert USER_ID not in str(dict(ticket))
    staff = scenario.headers(new_id(), roles=["support_agent"])
    url = f"/api/support-tickets/{ticket['id']}/messages"
    assert (await scenario.client.post(url, json={"text": "On its way."}, headers=staff)).status_code == 201
    while await scenario.work(QUEUE) or await scenario.send_queued():
        pass
    [sent] = providers.approved
    assert (sent["recipient"], sent["text"]["body"]) == (USER_ID, "On its way.")
    assert "to" not in sent


async def test_a_number_identifies_the_user_who_has_both(scenario: Scenario) -> None:
    await scenario.project_users()
    both = text("wamid.1", "Hello", from_user_id=USER_ID, from_parent_user_id="NG.ENT.11815799212886844830")
    await process(scenario, {"messages": [both]})
    assert [row["user_id"] for row in await tickets(scenario)] == [scenario.buyer_id]


async def test_erasure_reaches_the_ticket_of_the_id_that_was_named_with_the_number(scenario: Scenario) -> None:
    await scenario.project_users()
    both = text("wamid.1", "Hello", from_user_id=USER_ID)
    another = hidden("wamid.3", "Leave me here")
    another["messages"][0]["from_user_id"] = "NG.99999999999999999999"
    await process(scenario, hidden("wamid.0", "I hide my number"), {"messages": [both]}, another)
    assert [row["user_id"] for row in await tickets(scenario)].count(scenario.buyer_id) == 1
    await scenario.receive_twice(UserErased(user_id=scenario.buyer_id), sequence=9)
    left = await scenario.fetch("SELECT body FROM support_messages WHERE body <> ''")
    assert [row["body"] for row in left] == ["Leave me here"]
    kept = await scenario.fetch("SELECT phone_key, app_user_key FROM support_tickets ORDER BY phone_key NULLS FIRST")
    assert [(row["phone_key"] is None, row["app_user_key"] is None) for row in kept] == [
        (True, True),
        (True, True),
        (False, False),
    ]


@pytest.mark.parametrize("sender", [None, 7, "", "NG", "NG.1 2", "NG." + "1" * 200, ["NG.1"], {"id": "NG.1"}])
async def test_a_malformed_id_is_no_sender(scenario: Scenario, sender) -> None:
    await process(
        scenario, {"messages": [{"id": "wamid.1", "from_user_id": sender, "type": "text", "text": {"body": "x"}}]}
    )
    assert await outcomes(scenario) == {"message:wamid.1": "ignored"}
