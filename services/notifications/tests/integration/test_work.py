"""The part of `GET /api/work` that notifications counts (contract section 13.6)."""

from typing import Any
from uuid import UUID

from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from testkit.work import work_of

from .conftest import Scenario
from .steps import alert_raised


async def _kinds(scenario: Scenario, *roles: str, user: UUID | None = None) -> dict[str, int]:
    work = await work_of(scenario.client, scenario.headers(user or new_id(), roles=roles))
    return {kind: item["count"] for kind, item in work.items()}


async def _open_ticket(scenario: Scenario, user: UUID) -> dict[str, Any]:
    body = {"subject": "Late", "message": "Where is my rice?"}
    response = await scenario.client.post("/api/support-tickets", json=body, headers=scenario.headers(user))
    assert response.status_code == 201, response.text
    opened: dict[str, Any] = response.json()["data"]
    return opened


async def test_an_open_alert_waits_for_on_call_staff(scenario: Scenario) -> None:
    raised = alert_raised()
    await scenario.receive(raised)
    assert await _kinds(scenario, "ops_oncall") == {"alerts": 1}
    assert await _kinds(scenario, "auditor") == {}
    await scenario.receive(AlertCleared(alert_id=new_id(), dedup_key=raised.dedup_key, reason="paid in"))
    assert await _kinds(scenario, "ops_oncall") == {}


async def test_a_ticket_waits_for_its_assignee_until_the_response(scenario: Scenario) -> None:
    customer, agent = new_id(), new_id()
    ticket = await _open_ticket(scenario, customer)
    assert await _kinds(scenario, "support_agent") == {"tickets_to_answer": 1}
    path, staff = f"/api/support-tickets/{ticket['id']}", scenario.headers(agent, roles=("support_agent",))
    await scenario.client.post(f"{path}/assign", json={"assigneeId": str(agent)}, headers=staff)
    assert await _kinds(scenario, "support_agent", user=agent) == {"tickets_to_answer": 1}
    assert await _kinds(scenario, "support_agent") == {}
    await scenario.client.post(f"{path}/messages", json={"text": "On its way."}, headers=staff)
    assert await _kinds(scenario, "support_agent", user=agent) == {}
    await scenario.client.post(f"{path}/messages", json={"text": "It came."}, headers=scenario.headers(customer))
    assert await _kinds(scenario, "support_agent", user=agent) == {"tickets_to_answer": 1}


async def test_a_ticket_of_staff_waits_for_other_staff(scenario: Scenario) -> None:
    agent = new_id()
    await _open_ticket(scenario, agent)
    assert await _kinds(scenario, "support_agent", user=agent) == {}
    assert await _kinds(scenario, "support_agent") == {"tickets_to_answer": 1}
