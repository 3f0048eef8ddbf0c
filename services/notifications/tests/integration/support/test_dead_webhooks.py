"""Dead-lettered webhooks of the messaging app: list, replay, payload (contract section 7.8)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import PermanentFault
from common.messaging.messages import Received
from common.primitives.clock import iso
from common.primitives.ids import new_id
from common.primitives.problems import Conflict
from contracts.identity import UserErased
from notifications.support.consumers import SupportTask, fail_support_task
from notifications.support.timers import close_expired_webhooks_once
from notifications.support.use_cases.messaging.close_dead_webhook import close_dead_webhook
from notifications.support.use_cases.messaging.replay_webhook import replay_webhook
from testkit.locks import waits_for
from testkit.work import own_actions_of, work_of

from ..conftest import Scenario
from ..messaging_app import BUYER, QUEUE, body_of, messages, outcomes, post, process, text

PATH = "/api/dead-letter-webhooks"
LAST = Received(new_id(), QUEUE, "/services/notifications", "x", 1, "", 6, is_last_attempt=True)
ITEM = "message:wamid.1"
RAISED = "operations.alert_raised.v1"


async def dead_item(
    scenario: Scenario, message_id: str = "wamid.1", words: str = "Where is it?", **more: Any
) -> dict[str, Any]:
    """Return a message that failed its last retry, as the list shows it."""
    message = {name: value for name, value in text(message_id, words, **more).items() if value is not None}
    await post(scenario, body_of({"messages": [message]}))
    await scenario.work(QUEUE)
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
    headers = scenario.headers(**{"user_id": uuid4(), "roles": ("ops_oncall",), "stepped_up": True, **claims})
    return await scenario.client.post(f"{PATH}/{key}/replay", headers=headers)


async def close(scenario: Scenario, key: str, reason: str = "spam", **claims: Any) -> Any:
    headers = scenario.headers(**{"user_id": uuid4(), "roles": ("ops_oncall",), "stepped_up": True, **claims})
    return await scenario.client.post(f"{PATH}/{key}/close", json={"reason": reason}, headers=headers)


async def test_a_message_after_its_last_retry_is_an_alerted_dead_webhook(scenario: Scenario) -> None:
    shown = await dead_item(scenario)
    assert shown == {
        "id": shown["id"],
        "service": "notifications",
        "provider": "messaging_app",
        "eventId": ITEM,
        "eventType": "message",
        "subject": None,
        "error": "PermanentFault: a test",
        "attempts": 6,
        "outcome": "dead",
        "failedAt": shown["failedAt"],
        "replayedAt": None,
        "closureRequestedBy": None,
        "closedAt": None,
        "closedBy": None,
        "closeReason": None,
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
    while await scenario.work(QUEUE):
        pass
    assert await outcomes(scenario) == {ITEM: "done"}


@pytest.mark.parametrize("by", ["id", "eventId"])
async def test_a_replay_processes_the_message_once(scenario: Scenario, by: str) -> None:
    dead = await dead_item(scenario)
    replayed = (await replay(scenario, dead[by])).json()["data"]
    assert replayed == {"id": dead["id"], "eventId": ITEM, "outcome": "queued", "requeued": True}
    again = (await replay(scenario, dead[by])).json()["data"]
    assert (again["outcome"], again["requeued"]) == ("queued", False)
    while await scenario.work(QUEUE):
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


async def test_a_failed_replay_joins_the_alert_of_its_message(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    await replay(scenario, dead["id"])
    await fail(scenario, SupportTask(item_id=ITEM))
    assert [alert["dedupKey"].endswith(dead["id"]) for alert in await scenario.published(RAISED)] == [True, True]
    assert await scenario.published("operations.alert_cleared.v1") == []


async def test_the_details_of_a_message_show_its_history_and_no_text(scenario: Scenario) -> None:
    await dead_item(scenario)
    staff = uuid4()
    await replay(scenario, ITEM, user_id=staff)
    response = await scenario.client.get(f"{PATH}/{ITEM}", headers=scenario.headers(uuid4(), roles=("auditor",)))
    shown = response.json()["data"]
    assert (shown["payload"], shown["closedByTwo"], "Where is it?" in response.text) == ({}, False, False)
    assert {(line["action"], line["by"]) for line in shown["history"]} == {("failed", None), ("replayed", str(staff))}


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


@pytest.mark.parametrize("by", ["id", "eventId"])
async def test_a_closed_message_has_its_reason_and_is_not_open(scenario: Scenario, by: str) -> None:
    dead, staff = await dead_item(scenario), uuid4()
    closed = (await close(scenario, dead[by], user_id=staff)).json()["data"]
    assert closed == {
        "id": dead["id"],
        "service": "notifications",
        "status": "closed",
        "requestedBy": None,
        "closedAt": iso(scenario.clock.now()),
        "closedBy": str(staff),
        "closeReason": "spam",
    }
    assert (await close(scenario, dead[by])).json()["data"] == closed
    [shown] = await listed(scenario)
    assert shown == {
        **dead,
        **{name: closed[name] for name in ("closedAt", "closedBy", "closeReason")},
        "outcome": "ignored",
    }
    ops = scenario.headers(staff, roles=("ops_oncall",))
    assert "dead_webhooks" not in await work_of(scenario.client, ops)
    assert await own_actions_of(scenario.client, ops) == [("dead_letter_closed", dead["id"])]
    assert len(await scenario.published("operations.alert_cleared.v1")) == 1


async def test_a_closed_message_keeps_its_reason_and_is_not_replayed(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    await close(scenario, dead["id"])
    assert (await close(scenario, dead["id"], "another")).status_code == 409
    for key in (dead["id"], ITEM):
        assert (await replay(scenario, key)).status_code == 409
    assert await scenario.work(QUEUE) == 0
    assert await messages(scenario) == []
    [stored] = await scenario.fetch("SELECT payload FROM dead_letter_webhooks")
    assert stored["payload"]["text"] == "Where is it?"


async def test_a_replayed_message_is_not_closed(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    await replay(scenario, dead["id"])
    assert (await close(scenario, dead["id"])).status_code == 409
    assert await outcomes(scenario) == {ITEM: "queued"}


async def test_a_body_that_could_not_be_split_is_closed(scenario: Scenario) -> None:
    await post(scenario, body_of({"messages": [text("wamid.1", "Hello")]}))
    [webhook] = await scenario.fetch("SELECT id FROM processed_webhook_events")
    await fail(scenario, SupportTask(webhook_id=webhook["id"]))
    assert (await close(scenario, webhook["id"])).status_code == 200
    assert [one["outcome"] for one in await listed(scenario)] == ["ignored"]


async def test_only_staff_on_call_close_and_only_with_a_second_factor(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    assert (await close(scenario, dead["id"], stepped_up=False)).json()["code"] == "AUTH_AAL2_REQUIRED"
    assert (await close(scenario, dead["id"], roles=("auditor",))).json()["code"] == "AUTH_FORBIDDEN"
    assert (await close(scenario, str(uuid4()))).status_code == 404
    assert (await listed(scenario))[0]["outcome"] == "dead"


@pytest.mark.parametrize("is_closed_first", [True, False])
async def test_of_a_concurrent_closure_and_replay_of_a_message_one_succeeds(
    scenario: Scenario, is_closed_first: bool
) -> None:
    dead, now = await dead_item(scenario), scenario.clock.now()

    async def closing(uow: UnitOfWork) -> None:
        await close_dead_webhook(uow, dead["id"], uuid4(), "spam", now)

    async def replaying(uow: UnitOfWork) -> None:
        await replay_webhook(uow, ITEM, uuid4(), now)

    async def conflicts(uow: UnitOfWork) -> None:
        with pytest.raises(Conflict):
            await (replaying if is_closed_first else closing)(uow)

    first = closing if is_closed_first else replaying
    assert await waits_for(scenario.database, first, conflicts)
    assert await outcomes(scenario) == {ITEM: "ignored" if is_closed_first else "queued"}


async def test_a_reply_after_its_last_retry_is_a_common_dead_letter(scenario: Scenario) -> None:
    with pytest.raises(PermanentFault):
        await fail(scenario, SupportTask(reply_id=uuid4()))


@pytest.mark.parametrize("resolve", [replay, close])
async def test_a_resolved_dead_webhook_expires(scenario: Scenario, resolve: Any) -> None:
    dead = await dead_item(scenario)
    await dead_item(scenario, "wamid.2")
    await resolve(scenario, dead["id"])
    scenario.clock.advance(timedelta(days=89))
    await scenario.remove_old()
    assert len(await listed(scenario)) == 2
    scenario.clock.advance(timedelta(days=2))
    await scenario.remove_old()
    assert [one["eventId"] for one in await listed(scenario)] == ["message:wamid.2"]


async def dead_of_buyer(scenario: Scenario) -> dict[str, Any]:
    await scenario.project_users()
    await dead_item(scenario, "wamid.2", "Mine stays", sender="2348099999999")
    return await dead_item(scenario)


async def erase_buyer(scenario: Scenario) -> None:
    await scenario.receive_twice(UserErased(user_id=scenario.buyer_id), sequence=9)


async def assert_erased(scenario: Scenario) -> None:
    assert await scenario.tables_with("Where is it?") == set()
    assert await scenario.tables_with(BUYER) == set()
    assert "dead_letter_webhooks" in await scenario.tables_with("Mine stays")


async def test_an_erasure_closes_and_empties_the_dead_webhooks_of_the_user(scenario: Scenario) -> None:
    dead = await dead_of_buyer(scenario)
    await erase_buyer(scenario)
    await assert_erased(scenario)
    [shown] = await listed(scenario, f"eventId={ITEM}")
    closed = {"outcome": "ignored", "closedAt": iso(scenario.clock.now())}
    assert shown == {**dead, **closed}
    assert [one["eventId"] for one in await listed(scenario, "outcome=dead")] == ["message:wamid.2"]
    assert (await replay(scenario, dead["id"])).status_code == 409
    [cleared] = await scenario.published("operations.alert_cleared.v1")
    assert cleared["dedupKey"].endswith(dead["id"])
    scenario.clock.advance(timedelta(days=91))
    await scenario.remove_old()
    assert await listed(scenario, f"eventId={ITEM}") == []


async def test_an_erasure_empties_a_closed_dead_webhook_and_keeps_its_closure(scenario: Scenario) -> None:
    dead = await dead_of_buyer(scenario)
    closed = (await close(scenario, dead["id"])).json()["data"]
    await erase_buyer(scenario)
    await assert_erased(scenario)
    [shown] = await listed(scenario, f"eventId={ITEM}")
    assert {name: shown[name] for name in ("closedAt", "closedBy", "closeReason")} == {
        name: closed[name] for name in ("closedAt", "closedBy", "closeReason")
    }
    assert len(await scenario.published("operations.alert_cleared.v1")) == 1


async def test_an_erasure_empties_a_dead_body_that_names_the_user(scenario: Scenario) -> None:
    await dead_of_buyer(scenario)
    body = body_of({"messages": [text("wamid.3", "Where is it?")]}, {"statuses": [{"id": "x", "recipient_id": BUYER}]})
    await post(scenario, body)
    [webhook] = await scenario.fetch("SELECT id FROM processed_webhook_events WHERE outcome = 'queued'")
    await fail(scenario, SupportTask(webhook_id=webhook["id"]))
    await erase_buyer(scenario)
    await assert_erased(scenario)
    assert [one["outcome"] for one in await listed(scenario, f"eventId={webhook['id']}")] == ["ignored"]


async def test_an_erasure_reaches_the_dead_webhook_of_the_id_named_with_the_number(
    scenario: Scenario,
) -> None:
    await dead_of_buyer(scenario)
    user_id = "NG.13491208655302741918"
    await process(scenario, {"messages": [text("wamid.4", "Hello", from_user_id=user_id)]})
    await dead_item(scenario, "wamid.5", sender=None, from_user_id=user_id)
    await erase_buyer(scenario)
    await assert_erased(scenario)
    assert await scenario.tables_with(user_id) == set()


async def test_a_dead_webhook_without_a_decision_expires(scenario: Scenario) -> None:
    dead = await dead_item(scenario)
    shown = [await close_expired_webhooks_once(scenario.dependencies)]
    await scenario.fetch("UPDATE dead_letter_webhooks SET failed_at = failed_at - interval '180 days' RETURNING 1")
    shown += [await close_expired_webhooks_once(scenario.dependencies) for _ in range(2)]
    assert shown == [0, 1, 0]
    [expired] = await listed(scenario)
    assert (expired["id"], expired["outcome"], expired["closedBy"]) == (dead["id"], "ignored", None)
    assert expired["closeReason"] == "Not resolved within 180 days: the message was removed without its effect."
    assert "Where is it?" not in str(await scenario.fetch("SELECT payload FROM dead_letter_webhooks"))
    assert "Where is it?" not in str(await scenario.fetch("SELECT content FROM messaging_items"))
