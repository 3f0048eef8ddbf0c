"""Random walks over the lifecycles of notifications, through the real use cases: each result is the one that a rule
gives.
"""

import os
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio

from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from notifications.deliveries.domain.errors import MessageUnknown
from notifications.deliveries.domain.statuses import ATTEMPT, DELIVERY
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status
from notifications.support.domain.tickets import TICKET, status_after
from notifications.webhooks.domain.webhooks import ENDPOINT, WEBHOOK
from testkit.fixtures import DatabaseFactory
from testkit.state_changes import StateChanges

from ..conftest import OpenScenario, Scenario

LIFECYCLES = {
    "support_tickets": TICKET,
    "notification_deliveries": DELIVERY,
    "notification_delivery_logs": ATTEMPT,
    "webhook_endpoints": ENDPOINT,
    "webhook_deliveries": WEBHOOK,
}
SEEDS = [int(seed) for seed in os.environ.get("LIFECYCLE_SEEDS", "1 2").split()]
STEPS = 50
TICKETS, ENDPOINTS = "/api/support-tickets", "/api/webhook-endpoints"
numbers = count(1)


@pytest_asyncio.fixture(loop_scope="session")
async def walked(
    fresh_database: DatabaseFactory, open_scenario: OpenScenario
) -> AsyncIterator[tuple[Scenario, StateChanges]]:
    """Yield the service, and the changes of state in its database."""
    urls = await fresh_database("notifications")
    owner = await asyncpg.connect(urls.owner)
    try:
        async with open_scenario(urls=urls, webhook_allow_loopback=True) as scenario:
            await scenario.project_users()
            await scenario.project_order()
            yield scenario, await StateChanges.recorded(owner, LIFECYCLES)
    finally:
        await owner.close()


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_ticket_follows_its_lifecycle(seed: int, walked: tuple[Scenario, StateChanges]) -> None:
    (scenario, changes), draw = walked, random.Random(seed)
    staff_id, ticket_id = new_id(), await _open_ticket(scenario)
    query = "SELECT status, closed_at FROM support_tickets WHERE id = $1"
    for _ in range(STEPS):
        # Time passes: each request has a token of its own.
        customer, staff = scenario.headers(scenario.buyer_id), scenario.headers(staff_id, roles=["support_agent"])
        [before] = await scenario.fetch(query, ticket_id)
        action: Any = draw.choice(["customer", "staff", "close"])
        headers = {"customer": customer, "staff": staff, "close": draw.choice([customer, staff])}[action]
        if action == "close":
            response = await scenario.client.post(f"{TICKETS}/{ticket_id}/close", headers=headers)
        else:
            body = {"text": "Hello"}
            response = await scenario.client.post(f"{TICKETS}/{ticket_id}/messages", headers=headers, json=body)
        expected = status_after(before["status"], action, before["closed_at"], scenario.clock.now())
        [after] = await scenario.fetch(query, ticket_id)
        assert after["status"] == (before["status"] if isinstance(expected, Rejection) else expected), action
        assert response.is_success == (expected is not Rejection.FORBIDDEN), response.text
        assert await changes.forbidden() == []
        if (action, expected) == ("customer", Rejection.FORBIDDEN):
            # Closed for longer than a customer may open it again.
            ticket_id = await _open_ticket(scenario)
        scenario.clock.advance(timedelta(days=draw.choice([0, 1, 8])))
    assert len(changes.walked[TICKET]) >= 4


async def _open_ticket(scenario: Scenario) -> UUID:
    body = {"subject": "Late", "message": "Where is my rice?"}
    opened = await scenario.client.post(TICKETS, headers=scenario.headers(scenario.buyer_id), json=body)
    assert opened.status_code == 201, opened.text
    return UUID(opened.json()["data"]["id"])


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_delivery_follows_its_lifecycle(seed: int, walked: tuple[Scenario, StateChanges]) -> None:
    (scenario, changes), draw = walked, random.Random(seed)
    staff = scenario.headers(new_id(), roles=["support_agent"])
    for _ in range(2):
        await scenario.request_delivery("sms", "order_confirmation")
    for _ in range(STEPS):
        logged = await scenario.fetch("SELECT id, provider_message_id FROM notification_delivery_logs")
        step = draw.choice(["send", "report", "report", "report", "resend"])
        if step == "send" or not logged:
            await scenario.send_queued()
        elif step == "report":
            await _report(scenario, draw, draw.choice(logged))
        else:
            [row] = await scenario.fetch(
                "SELECT d.status FROM notification_deliveries d JOIN notification_delivery_logs l ON "
                "l.delivery_id = d.id "
                "WHERE l.id = $1",
                log_id := draw.choice(logged)["id"],
            )
            response = await scenario.client.post(f"/api/notification-delivery-logs/{log_id}/resend", headers=staff)
            assert (response.status_code == 200) == DELIVERY.allows(row["status"], "resent"), response.text
        assert await changes.forbidden() == []
    assert len(changes.walked[DELIVERY]) >= 4
    assert changes.walked[ATTEMPT]


async def _report(scenario: Scenario, draw: random.Random, attempt: Any) -> None:
    status: Any = draw.choice(["sent", "delivered", "read", "failed", "bounced"])
    query = "SELECT status FROM notification_delivery_logs WHERE id = $1"
    [before] = await scenario.fetch(query, attempt["id"])
    is_new = ATTEMPT.allows(before["status"], status)
    with suppress(MessageUnknown):
        async with scenario.unit_of_work() as uow:
            message_id = attempt["provider_message_id"] or f"unknown-{next(numbers)}"
            report = StatusReport("sms", message_id, status, scenario.clock.now())
            assert await record_delivery_status(uow, report) == is_new
        [after] = await scenario.fetch(query, attempt["id"])
        assert after["status"] == (status if is_new else before["status"])


@pytest.mark.parametrize("seed", SEEDS)
async def test_an_endpoint_follows_its_lifecycle(seed: int, walked: tuple[Scenario, StateChanges]) -> None:
    (scenario, changes), draw = walked, random.Random(seed)
    claims = {"roles": ("buyer", "merchant"), "vendor_id": scenario.vendor_id, "stepped_up": True}
    headers = scenario.headers(scenario.owner_id, **claims)
    body = {"url": "http://127.0.0.1:9/", "eventTypes": ["orders.order_dispatched.v1"]}
    created = await scenario.client.post(ENDPOINTS, json=body, headers=headers)
    assert created.status_code == 201, created.text
    path = f"{ENDPOINTS}/{created.json()['data']['id']}"
    for _ in range(STEPS):
        if draw.random() < 0.3:
            await scenario.receive(scenario.dispatched())
            continue
        status: Any = draw.choice(["enabled", "disabled"])
        response = await scenario.client.patch(path, json={"status": status}, headers=headers)
        assert response.json()["data"]["status"] == status, response.text
        waiting = await scenario.fetch("SELECT 1 FROM webhook_deliveries WHERE status = 'pending'")
        assert status == "enabled" or waiting == []
        assert await changes.forbidden() == []
    assert changes.walked[ENDPOINT] == {("enabled", "disabled"), ("disabled", "enabled")}
    assert changes.walked[WEBHOOK] == {("pending", "failed")}
