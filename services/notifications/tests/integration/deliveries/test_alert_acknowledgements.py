"""An acknowledgement reaches the receiver of alerts once."""

from datetime import timedelta
from typing import Any

import pytest

from common.primitives.clock import ManualClock, iso
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from notifications.deliveries.timers import escalate_alerts_once

from ..conftest import OpenScenario, Scenario
from ..providers import Providers


def alert_raised() -> AlertRaised:
    return AlertRaised(
        alert_id=new_id(),
        severity="SEV-1",
        title="Balance below the payouts of tomorrow",
        detail="Top up",
        runbook="exceptions",
        dedup_key="balance:low",
        about=None,
    )


async def acknowledge(scenario: Scenario, alert: AlertRaised) -> str:
    user_id = new_id()
    headers = scenario.headers(user_id, roles=("ops_oncall",))
    response = await scenario.client.post(f"/api/alerts/{alert.alert_id}/acknowledge", headers=headers)
    assert response.status_code == 200
    return str(user_id)


def actions(providers: Providers) -> list[tuple[str, str]]:
    return [(page["event_action"], page["dedup_key"]) for _, page in providers.pages]


@pytest.mark.parametrize("is_paged_before", [True, False])
async def test_pagerduty_is_acknowledged_once_after_its_trigger(
    open_scenario: OpenScenario, providers: Providers, clock: ManualClock, is_paged_before: bool
) -> None:
    url = f"{providers.url}/on-call/v2/enqueue"
    async with open_scenario(on_call_url=url, on_call_key="route-1") as scenario:
        raised = alert_raised()
        await scenario.receive(raised)
        if is_paged_before:
            await scenario.send_queued()
        await acknowledge(scenario, raised)
        await acknowledge(scenario, raised)
        await scenario.send_queued()
        sent = actions(providers)
        assert sent.count(("acknowledge", "balance:low")) == 1
        assert sent.index(("trigger", "balance:low")) < sent.index(("acknowledge", "balance:low"))
        clock.advance(timedelta(minutes=1))
        await scenario.receive(AlertCleared(alert_id=new_id(), dedup_key="balance:low", reason="topped up"))
        await scenario.send_queued()
    assert actions(providers)[-1] == ("resolve", "balance:low")


async def test_an_escalated_alert_is_acknowledged_under_both_keys(
    open_scenario: OpenScenario, providers: Providers, clock: ManualClock
) -> None:
    url = f"{providers.url}/on-call/v2/enqueue"
    async with open_scenario(on_call_url=url, on_call_key="route-1") as scenario:
        raised = alert_raised()
        await scenario.receive(raised)
        clock.advance(timedelta(minutes=8))
        await escalate_alerts_once(scenario.app.dependencies)
        await scenario.send_queued()
        await acknowledge(scenario, raised)
        await scenario.send_queued()
    assert actions(providers)[-2:] == [("acknowledge", "balance:low"), ("acknowledge", "balance:low:escalated")]


@pytest.mark.parametrize(
    ("path", "of_page"),
    [
        ("/on-call/api/v2/alerts", lambda page: (page[0]["annotations"].get("acknowledged_at"), None)),
        ("/on-call/webhook", lambda page: (page["acknowledgedAt"], page["acknowledgedBy"])),
    ],
)
async def test_other_receivers_read_who_acknowledged_and_when(
    open_scenario: OpenScenario, providers: Providers, clock: ManualClock, path: str, of_page: Any
) -> None:
    async with open_scenario(on_call_url=f"{providers.url}{path}") as scenario:
        raised = alert_raised()
        await scenario.receive(raised)
        await scenario.send_queued()
        user_id = await acknowledge(scenario, raised)
        await scenario.send_queued()
    first, second = (of_page(page) for _, page in providers.pages)
    assert first == (None, None)
    assert second == (iso(clock.now()), user_id if "webhook" in path else None)
