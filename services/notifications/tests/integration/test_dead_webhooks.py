"""Dead-lettered webhooks of the messaging app: list, replay, payload (contract section 7.8)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from common.messaging.faults import PermanentFault
from common.messaging.messages import Received
from common.primitives.ids import new_id
from notifications.consumers.support import SupportTask, fail_support_task

from .conftest import OpenScenario, Scenario
from .messaging_app import QUEUE, body_of, messages, outcomes, post, text

PATH = "/api/dead-letter-webhooks"
LAST = Received(new_id(), QUEUE, "/services/notifications", "x", 1, "", 6, is_last_attempt=True)
ITEM = "message:wamid.1"


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, messaging_settings: dict[str, Any]):
    async with open_scenario(**messaging_settings) as scenario:
        yield scenario


async def dead_item(scenario: Scenario, message_id: str = "wamid.1") -> dict[str, Any]:
    """A message that failed its last retry, as the list shows it."""
    await post(scenario, body_of({"messages": [text(message_id, "Where is it?")]}))
    await scenario.app.work(QUEUE)
    await scenario.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
    await fail(scenario, SupportTask(item_id=f"message:{message_id}"))
    return (await listed(scenario, f"eventId=message:{message_id}"))[0]


async def fail(scenario: Scenario, task: SupportTask) -> None:
    async with scenario.unit_of_work() as uow:
        await fail_support_task(task, LAST, uow, "PermanentFault: a test")


async def listed(scenario: Scenario, query: str = "", role: str = "ops_oncall") -> Any:
    response = await scenario.client.get(f"{PATH}?{query}", headers=scenario.headers(uuid4(), roles=(role,)))
    return response.json()["data"] if response.status_code == 200 else response.status_code


async def replay(scenario: Scenario, key: str, **claims: Any) -> Any:
    headers = scenario.headers(uuid4(), **{"roles": ("ops_oncall",), "stepped_up": True, **claims})
    return await scenario.client.post(f"{PATH}/{key}/replay", headers=headers)


async def test_a_message_after_its_last_retry_is_an_alerted_dead_webhook(scenario: Scenario) -> None:
    shown = await dead_item(scenario)
    assert shown == {
        "id": shown["id"],
        "service": "notifications",
        "provider": "messaging_app",
        "eventId": ITEM,
        "eventType": "message",
        "error": "PermanentFault: a test",
        "attempts": 6,
        "outcome": "dead",
        "failedAt": shown["failedAt"],
        "replayedAt": None,
    }
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"]) == ("SEV-2", "dead-letter-webhooks")
    assert "Where is it?" not in str(alert)
    [stored] = await scenario.fetch("SELECT provider, payload FROM dead_letter_webhooks")
    assert (stored["provider"], stored["payload"]["text"]) == ("messaging_app", "Where is it?")
    assert await scenario.fetch("SELECT 1 FROM dead_letters") == []


async def test_a_body_that_could_not_be_split_is_a_dead_webhook(scenario: Scenario) -> None:
    body = body_of({"messages": [text("wamid.1", "Hello")]})
    await post(scenario, body)
    [webhook] = await scenario.fetch("SELECT id FROM processed_webhook_events")
    await fail(scenario, SupportTask(webhook_id=webhook["id"]))
    [shown] = await listed(scenario)
    assert (shown["eventId"], shown["eventType"], shown["outcome"]) == (webhook["id"], "messages", "dead")
    [stored] = await scenario.fetch("SELECT payload FROM dead_letter_webhooks")
    assert stored["payload"] == body
    await scenario.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
    assert (await replay(scenario, webhook["id"])).json()["data"]["requeued"] is True
    while await scenario.app.work(QUEUE):
        pass
    assert await outcomes(scenario) == {ITEM: "done"}


@pytest.mark.parametrize("by", ["id", "eventId"])
async def test_a_replay_processes_the_message_once(scenario: Scenario, by: str) -> None:
    dead = await dead_item(scenario)
    replayed = (await replay(scenario, dead[by])).json()["data"]
    assert replayed == {"id": dead["id"], "eventId": ITEM, "outcome": "queued", "requeued": True}
    again = (await replay(scenario, dead[by])).json()["data"]
    assert (again["outcome"], again["requeued"]) == ("queued", False)
    while await scenario.app.work(QUEUE):
        pass
    assert [row["body"] for row in await messages(scenario)] == ["Where is it?"]
    [alert], [cleared] = [await scenario.published(f"operations.alert_{word}.v1") for word in ("raised", "cleared")]
    assert cleared["dedupKey"] == alert["dedupKey"]
    assert (await replay(scenario, dead[by])).json()["data"]["outcome"] == "done"


async def test_a_replayed_dead_webhook_keeps_no_message_of_the_customer(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    await replay(scenario, dead["id"])
    assert [row["payload"] for row in await scenario.fetch("SELECT payload FROM dead_letter_webhooks")] == [{}]
    await fail(scenario, SupportTask(item_id=ITEM))
    payloads = await scenario.fetch("SELECT payload FROM dead_letter_webhooks ORDER BY failed_at")
    assert [row["payload"].get("text") for row in payloads] == [None, "Where is it?"]


async def test_concurrent_replays_enqueue_a_message_once(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    responses = await asyncio.gather(*(replay(scenario, dead["id"]) for _ in range(5)))
    assert sorted(response.json()["data"]["requeued"] for response in responses) == [False] * 4 + [True]
    assert len(await scenario.fetch("SELECT 1 FROM outbox WHERE published_at IS NULL AND queue IS NOT NULL")) == 1


async def test_dead_webhooks_are_found_by_type_outcome_and_event(scenario: Scenario) -> None:
    await dead_item(scenario, "wamid.1")
    second = await dead_item(scenario, "wamid.2")
    for query, total in (
        ("eventType=message", 2),
        ("eventType=messages", 0),
        ("outcome=dead", 2),
        ("outcome=done", 0),
        (f"eventId={ITEM}&outcome=dead", 1),
        ("limit=1&order=asc", 1),
    ):
        assert len(await listed(scenario, query)) == total, query
    assert (await listed(scenario, "limit=1"))[0]["id"] == second["id"]


async def test_only_staff_on_call_replay_and_only_with_a_second_factor(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    assert await listed(scenario, role="buyer") == 403
    assert len(await listed(scenario, role="auditor")) == 1
    assert (await replay(scenario, dead["id"], stepped_up=False)).json()["code"] == "AUTH_AAL2_REQUIRED"
    assert (await replay(scenario, dead["id"], roles=("auditor",))).json()["code"] == "AUTH_FORBIDDEN"
    assert (await replay(scenario, str(uuid4()))).status_code == 404


async def test_a_reply_after_its_last_retry_is_a_common_dead_letter(scenario: Scenario) -> None:
    with pytest.raises(PermanentFault):
        await fail(scenario, SupportTask(reply_id=uuid4()))


async def test_a_replayed_dead_webhook_expires(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    await dead_item(scenario, "wamid.2")
    await replay(scenario, dead["id"])
    scenario.clock.advance(timedelta(days=91))
    await scenario.app.remove_old()
    assert [one["eventId"] for one in await listed(scenario)] == ["message:wamid.2"]
