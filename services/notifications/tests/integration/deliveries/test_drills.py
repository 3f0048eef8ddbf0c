"""Drills: one runs at a time, its times are recorded once, and none starts in production."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest

from common.primitives.clock import iso
from common.primitives.ids import new_id
from notifications.deliveries.domain.drills import Exercise
from notifications.deliveries.domain.errors import DrillInProduction
from notifications.deliveries.use_cases.drills.start_drill import start_drill

from ..conftest import Scenario

EXERCISE = {"name": "dead-letters", "runbook": "dead-letters", "severity": "SEV-2"}


async def post(scenario: Scenario, path: str, body: dict[str, Any], role: str = "ops_oncall") -> httpx.Response:
    headers = {**scenario.headers(new_id(), roles=(role,)), "Idempotency-Key": str(uuid4())}
    return await scenario.client.post(path, json=body, headers=headers)


async def listed(scenario: Scenario, role: str = "ops_oncall") -> httpx.Response:
    return await scenario.client.get("/api/drills", headers=scenario.headers(new_id(), roles=(role,)))


async def started(scenario: Scenario) -> dict[str, Any]:
    response = await post(scenario, "/api/drills", EXERCISE)
    assert response.status_code == 201, response.text
    drill: dict[str, Any] = response.json()["data"]
    return drill


async def test_a_drill_is_listed_with_the_seconds_between_its_times(scenario: Scenario) -> None:
    drill = await started(scenario)
    now = scenario.clock.now()
    measured = {
        "seenAt": iso(now + timedelta(seconds=4)),
        "acknowledgedAt": iso(now + timedelta(seconds=64)),
        "clearedAt": iso(now + timedelta(seconds=304)),
        "runbookSteps": [1, 3],
    }
    ended = (await post(scenario, f"/api/drills/{drill['id']}/end", measured)).json()["data"]
    [shown] = (await listed(scenario, "auditor")).json()["data"]
    assert shown == ended
    assert [shown[f"secondsTo{what}"] for what in ("See", "Acknowledge", "Mend", "Respond")] == [4, 60, 300, 3600]
    assert shown["runbookSteps"] == [1, 3]


async def test_one_drill_runs_at_a_time_and_ends_once(scenario: Scenario) -> None:
    drill = await started(scenario)
    assert (await post(scenario, "/api/drills", EXERCISE)).status_code == 409
    path = f"/api/drills/{drill['id']}/end"
    assert (await post(scenario, path, {})).json()["data"]["clearedAt"] is None
    assert (await post(scenario, path, {})).status_code == 409
    assert (await post(scenario, f"/api/drills/{uuid4()}/end", {})).status_code == 404
    await started(scenario)


@pytest.mark.parametrize(
    "measured",
    [
        {"acknowledgedAt": "2026-11-29T10:00:00Z"},
        {"seenAt": "2026-11-29T10:00:01Z", "clearedAt": "2026-11-29T10:00:00Z"},
        {"runbookSteps": [0]},
    ],
)
async def test_times_in_the_wrong_order_are_rejected(scenario: Scenario, measured: dict[str, Any]) -> None:
    drill = await started(scenario)
    assert (await post(scenario, f"/api/drills/{drill['id']}/end", measured)).status_code == 422


async def test_only_staff_on_call_start_drills(scenario: Scenario) -> None:
    for role in ("auditor", "finance_checker"):
        assert (await post(scenario, "/api/drills", EXERCISE, role)).status_code == 403
    assert (await listed(scenario, "support_agent")).status_code == 403
    assert (await post(scenario, "/api/drills", EXERCISE | {"severity": "SEV-9"})).status_code == 422


async def test_no_drill_starts_in_production(scenario: Scenario) -> None:
    async with scenario.unit_of_work() as uow:
        with pytest.raises(DrillInProduction):
            await start_drill(uow, Exercise(**EXERCISE), new_id(), scenario.clock.now(), is_production=True)


@pytest.mark.parametrize(
    "change",
    ["seen_at = now()", "ended_at = now(), cleared_at = now()", "severity = 'SEV-4'"],
)
async def test_the_database_rejects_a_drill_that_contradicts_itself(scenario: Scenario, change: str) -> None:
    drill = await started(scenario)
    with pytest.raises(asyncpg.CheckViolationError):
        await scenario.fetch(f"UPDATE drills SET {change} WHERE id = $1", drill["id"])
