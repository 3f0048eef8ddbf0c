"""Endpoints that are disabled, and the replay of what they missed."""

from datetime import timedelta

from starlette.responses import Response

from common.primitives.ids import new_id
from contracts.orders import OrderCompleted
from notifications.webhooks.domain.webhooks import FAILING_MAX

from ..conftest import Scenario
from .webhook_receiver import Receiver
from .webhook_steps import (
    COMPLETED,
    DISPATCHED,
    ENDPOINTS,
    admin,
    create,
    deliveries,
    invalid,
    patch,
    replay,
    send,
    send_after,
    vendor,
)


async def test_an_endpoint_that_returns_410_is_disabled(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.responses = [Response(status_code=410)]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    [listed] = (await scenario.client.get(ENDPOINTS, headers=vendor(scenario))).json()["data"]
    assert (listed["status"], listed["disabledReason"]) == ("disabled", "gone")
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["subject"]) == ("SEV-3", endpoint["id"])
    await scenario.receive(scenario.dispatched())
    assert await send_after(scenario, days=1) == 0
    assert [delivery["status"] for delivery in await deliveries(scenario, endpoint)] == ["failed"]
    await patch(scenario, endpoint, status="enabled")
    [cleared] = await scenario.published("operations.alert_cleared.v1")
    assert cleared["dedupKey"] == alert["dedupKey"]


async def test_an_endpoint_that_fails_for_days_is_disabled_once(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.default = 500
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    scenario.clock.advance(FAILING_MAX)
    for _ in range(3):
        await scenario.receive(scenario.dispatched())
    while await send(scenario):
        pass
    [listed] = (await scenario.client.get(ENDPOINTS, headers=vendor(scenario))).json()["data"]
    assert (listed["status"], listed["disabledReason"]) == ("disabled", "failing")
    assert {delivery["status"] for delivery in await deliveries(scenario, endpoint)} == {"failed"}
    assert len(await scenario.published("operations.alert_raised.v1")) == 1


async def test_a_success_restarts_the_days_of_failures(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    receiver.responses = [Response(status_code=500), Response(status_code=200), Response(status_code=500)]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    assert await send_after(scenario, days=4) == 1
    await scenario.receive(scenario.dispatched())
    assert await send_after(scenario, days=4) == 1
    [row] = await scenario.fetch("SELECT status, failing_since FROM webhook_endpoints")
    assert (row["status"], row["failing_since"]) == ("enabled", scenario.clock.now())


async def test_an_enabled_endpoint_can_have_the_missed_events_replayed(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    assert (await patch(scenario, endpoint, status="disabled")).json()["data"]["disabledReason"] == "owner"
    missed = await scenario.receive(scenario.dispatched())
    assert await send(scenario) == 0
    refused = await replay(scenario, endpoint, eventId=str(missed.event_id))
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    enabled = (await patch(scenario, endpoint, status="enabled")).json()["data"]
    assert (enabled["status"], enabled["disabledReason"]) == ("enabled", None)
    assert (await replay(scenario, endpoint, eventId=str(missed.event_id))).json()["data"] == {"queued": 1}
    assert await send(scenario) == 1
    assert receiver.ids == [str(missed.event_id)]


async def test_a_replay_sends_with_the_same_webhook_id(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url, DISPATCHED, COMPLETED)
    await scenario.receive(OrderCompleted(**scenario.parties))
    assert await send(scenario) == 1
    scenario.clock.advance(timedelta(hours=1))
    since = scenario.clock.now()
    recent = await scenario.receive(scenario.dispatched())
    assert await send(scenario) == 1
    assert (await replay(scenario, endpoint, eventId=str(recent.event_id))).json()["data"] == {"queued": 1}
    # It waits already.
    assert (await replay(scenario, endpoint, since=since.isoformat())).json()["data"] == {"queued": 0}
    await send(scenario)
    assert (await replay(scenario, endpoint, since=since.isoformat())).json()["data"] == {"queued": 1}
    await send(scenario)
    assert receiver.ids[1:] == [str(recent.event_id)] * 3
    assert receiver.webhooks[1].content == receiver.webhooks[3].content
    assert len(await deliveries(scenario, endpoint)) == 4


async def test_a_replay_reaches_back_thirty_days(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    early = (scenario.clock.now() - timedelta(days=30, seconds=1)).isoformat()
    assert invalid(await replay(scenario, endpoint, since=early)) == {"since": "must be at most 30 days ago"}
    for body in ({}, {"since": early, "eventId": str(new_id())}):
        assert (await replay(scenario, endpoint, **body)).status_code == 422
    assert (await replay(scenario, endpoint, eventId=str(new_id()))).status_code == 404


async def test_an_event_of_another_vendor_cannot_be_replayed(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    event = await scenario.receive(scenario.dispatched())
    outsider = vendor(scenario, new_id())
    endpoint = await create(scenario, receiver.url, headers=outsider)
    for body in ({"eventId": str(event.event_id)}, {"since": scenario.clock.now().isoformat()}):
        path = f"{ENDPOINTS}/{endpoint['id']}/replay"
        response = await scenario.client.post(path, json=body, headers=outsider)
        assert response.status_code == 404 or response.json()["data"] == {"queued": 0}
    # Nor by a platform_admin into the other vendor's endpoint.
    path = f"{ENDPOINTS}/{endpoint['id']}/replay"
    body = {"eventId": str(event.event_id)}
    assert (await scenario.client.post(path, json=body, headers=admin(scenario))).status_code == 404


async def test_events_are_deleted_after_thirty_days(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    scenario.clock.advance(timedelta(days=29))
    await scenario.remove_old()
    assert len(await deliveries(scenario, endpoint)) == 1
    scenario.clock.advance(timedelta(days=1, seconds=1))
    await scenario.remove_old()
    assert await deliveries(scenario, endpoint) == []
    assert await scenario.fetch("SELECT 1 FROM webhook_events") == []


async def test_the_pages_of_deliveries_continue_by_cursor(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    for _ in range(3):
        await scenario.receive(scenario.dispatched())
    path, seen, cursor = f"{ENDPOINTS}/{endpoint['id']}/deliveries", [], None
    while True:
        query = {"limit": 2, "status": "pending", **({"cursor": cursor} if cursor else {})}
        page = (await scenario.client.get(path, params=query, headers=vendor(scenario))).json()
        seen += [row["id"] for row in page["data"]]
        cursor = page["meta"]["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 3
