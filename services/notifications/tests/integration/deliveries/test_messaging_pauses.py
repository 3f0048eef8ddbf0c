"""Faults of our account at the messaging app: one pause and one alert for all processes, a probe, and an end."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from starlette.responses import JSONResponse

from contracts.operations import AlertRaised
from notifications.app import resume_provider_command
from notifications.deliveries.timers import advance_pins_once
from notifications.deliveries.use_cases.deliveries.pause_provider import PROBE_EVERY
from testkit.service_kit import OpenService

from ..conftest import OpenScenario, Scenario
from ..messaging_app import process, queue_confirmation, status
from ..providers import Providers

PAYMENT = {"code": 131042, "title": "Payment issue", "error_data": {"details": "No payment method"}}
ACCOUNT_ALERT = "Provider rejects our account: messaging-app"


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, messaging_settings: dict[str, Any]):
    async with open_scenario(**messaging_settings) as scenario:
        yield scenario


def rejection(code=131042, status_code=400, **more):
    error = {"message": f"(#{code}) Rejected", "type": "OAuthException", "code": code, "fbtrace_id": "x", **more}
    return JSONResponse({"error": error}, status_code)


async def alerts(scenario: Scenario):
    return [alert["title"] for alert in await scenario.published("operations.alert_raised.v1")]


async def cleared(scenario: Scenario):
    return [alert["dedupKey"] for alert in await scenario.published("operations.alert_cleared.v1")]


async def pauses(scenario: Scenario):
    return [row["reason"] for row in await scenario.fetch("SELECT reason FROM provider_pauses")]


async def status_of_messaging(scenario: Scenario):
    return (await scenario.channel_statuses())["messaging"]


async def raise_alerts(scenario: Scenario):
    """Let the service consume its own alert events, as from the broker."""
    for alert in await scenario.published("operations.alert_raised.v1"):
        await scenario.receive(msgspec.convert(alert, AlertRaised))


REJECTIONS = {
    "payment": rejection(131042),
    "policy": rejection(368, 403),
    "country": rejection(130497, 403),
    "locked": rejection(131031, 403),
    "token": rejection(190, 401),
    "permission": rejection(10, 403),
    "code as text": rejection("200", 403),
    "unknown number id": rejection(100, 400, error_subcode=33),
    "no body": JSONResponse({}, 401),
}


@pytest.mark.parametrize("fault", REJECTIONS.values(), ids=REJECTIONS)
async def test_a_rejected_account_pauses_the_channel_with_one_alert(
    scenario: Scenario, providers: Providers, fault
) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.project_order()
    providers.approved_faults.append(fault)
    await scenario.send_queued()
    assert (await alerts(scenario), len(await pauses(scenario))) == ([ACCOUNT_ALERT], 1)
    for _ in range(3):
        assert await scenario.send_queued() == 0
    assert (await status_of_messaging(scenario), providers.approved) == ("queued", [])
    # One message claims the due probe, and its status ends the pause.
    scenario.clock.advance(PROBE_EVERY)
    await scenario.send_queued()
    assert len(providers.approved) == 1
    assert len(await pauses(scenario)) == 1
    await process(scenario, {"statuses": [status("wamid.1", "sent")]})
    assert (await pauses(scenario), await status_of_messaging(scenario)) == ([], "sent")
    assert await alerts(scenario) == [ACCOUNT_ALERT]


async def test_an_account_fault_in_a_status_pauses_and_the_message_is_sent_later(
    scenario: Scenario, providers: Providers
) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    await process(scenario, {"statuses": [status("wamid.1", "failed", errors=[PAYMENT])]})
    assert (await pauses(scenario), await alerts(scenario)) == (["131042 No payment method"], [ACCOUNT_ALERT])
    assert await status_of_messaging(scenario) == "queued"
    await raise_alerts(scenario)
    # The first probe meets the same fault, which the app reports after it accepted the message.
    for number, ending in ((2, "failed"), (3, "delivered")):
        await scenario.send_queued()
        assert len(providers.approved) == number - 1
        scenario.clock.advance(PROBE_EVERY)
        await scenario.send_queued()
        assert len(providers.approved) == number
        errors = {"errors": [PAYMENT]} if ending == "failed" else {}
        await process(scenario, {"statuses": [status(f"wamid.{number}", ending, **errors)]})
        assert await cleared(scenario) == ([] if ending == "failed" else ["provider-account:messaging-app"])
    assert (await status_of_messaging(scenario), await pauses(scenario)) == ("delivered", [])
    assert await alerts(scenario) == [ACCOUNT_ALERT]


async def test_a_status_from_before_the_fault_keeps_the_pause(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    scenario.clock.advance(timedelta(seconds=5))
    await process(scenario, {"errors": [PAYMENT]})
    await process(scenario, {"statuses": [status("wamid.1", "delivered")]})
    assert await status_of_messaging(scenario) == "delivered"
    assert len(await pauses(scenario)) == 1


async def test_an_error_of_the_account_without_a_message_pauses_too(scenario: Scenario) -> None:
    await process(scenario, {"errors": [{"code": 130429, "title": "Rate limit hit"}, 7, None]})
    assert await pauses(scenario) == []
    await process(scenario, {"errors": [PAYMENT]}, {"errors": [PAYMENT]})
    assert (len(await pauses(scenario)), await alerts(scenario)) == (1, [ACCOUNT_ALERT])


async def test_a_pin_uses_its_next_channel_at_once(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.register(scenario.buyer_id, kind="android", token="token-of-a-phone")
    await process(scenario, {"errors": [PAYMENT]})
    await scenario.receive(scenario.pin())
    await scenario.send_queued()
    scenario.clock.advance(scenario.dependencies.pin_receipt)
    assert await advance_pins_once(scenario.dependencies) == 1
    await scenario.send_queued()
    assert await scenario.channel_statuses() == {"sms": "sent", "messaging": "failed"}
    assert await advance_pins_once(scenario.dependencies) == 1
    await scenario.send_queued()
    assert (len(providers.native), providers.approved) == (1, [])
    assert await alerts(scenario) == [ACCOUNT_ALERT]


async def test_a_message_is_not_held_for_more_than_a_day(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    await process(scenario, {"errors": [PAYMENT]})
    await scenario.send_queued()
    assert await status_of_messaging(scenario) == "queued"
    for _ in range(2):
        # Another message claims each probe.
        scenario.clock.advance(timedelta(hours=12))
        await scenario.fetch("UPDATE provider_pauses SET probe_at = $1 RETURNING 1", scenario.clock.now() + PROBE_EVERY)
        await scenario.send_queued()
    assert (await status_of_messaging(scenario), providers.approved) == ("failed", [])
    assert await alerts(scenario) == [ACCOUNT_ALERT]


async def test_a_pause_outlives_the_process_and_ends_without_statuses(
    scenario: Scenario,
    app: OpenService,
    open_scenario: OpenScenario,
    every_channel: dict[str, Any],
    providers: Providers,
) -> None:
    await queue_confirmation(scenario, providers)
    await process(scenario, {"errors": [PAYMENT]})
    # Another process, without status webhooks: an accepted probe ends the pause.
    async with open_scenario(urls=app.urls, **every_channel) as other:
        await other.send_queued()
        assert providers.approved == []
        other.clock.advance(PROBE_EVERY)
        await other.send_queued()
        assert len(providers.approved) == 1
        assert await pauses(other) == []


async def test_an_operator_ends_a_pause(
    scenario: Scenario, app: OpenService, capsys: pytest.CaptureFixture[str]
) -> None:
    await process(scenario, {"errors": [PAYMENT]})
    scenario.clock.advance(timedelta(seconds=1))
    await resume_provider_command(app.dependencies, "messaging-app")
    await resume_provider_command(app.dependencies, "messaging-app")
    assert await pauses(scenario) == []
    assert "messaging-app is resumed\nmessaging-app was not paused\n" in capsys.readouterr().out


async def test_a_recipient_without_the_app_raises_no_alert(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    providers.approved_faults.append(rejection(131026, error_data={"details": "Not a user of the app"}))
    await scenario.send_queued()
    assert (await status_of_messaging(scenario), await alerts(scenario)) == ("failed", [])
    errors = [row["error"] for row in await scenario.attempts() if row["channel"] == "messaging"]
    assert errors == ["400 131026 Not a user of the app"]
