"""Statuses of the messaging app: in any order, early, and failed for each class of errors."""

from typing import Any

import pytest
import pytest_asyncio
from starlette.responses import JSONResponse

from common.primitives.ids import new_id
from contracts.identity import UserErased
from notifications.deliveries.domain.errors import MessageUnknown
from notifications.deliveries.use_cases.deliveries.retry_reported_failure import THROTTLED_FOR
from testkit.service_kit import OpenService

from ..conftest import OpenScenario, Scenario
from ..messaging_app import QUEUE, body_of, outcomes, post, process, queue_confirmation, status, text, tickets
from ..providers import Providers


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, messaging_settings: dict[str, Any]):
    async with open_scenario(**messaging_settings) as scenario:
        yield scenario


async def test_statuses_in_any_order_end_at_the_highest(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    updates = [status("wamid.1", word) for word in ("read", "sent", "delivered", "read", "failed", "played")]
    await process(scenario, {"statuses": updates[:2]}, {"statuses": updates[2:]})
    assert (await scenario.channel_statuses())["messaging"] == "read"
    logs = await scenario.fetch("SELECT status, told_at FROM notification_delivery_logs WHERE channel = 'messaging'")
    assert [(row["status"], int(row["told_at"].timestamp())) for row in logs] == [("read", 1767225600)]
    assert await outcomes(scenario) == {
        "status:wamid.1:read": "done",
        **{f"status:wamid.1:{word}": "ignored" for word in ("sent", "delivered", "failed", "played")},
    }


async def test_a_status_before_our_record_is_retried(
    scenario: Scenario, providers: Providers, app: OpenService
) -> None:
    await queue_confirmation(scenario, providers)
    await post(scenario, body_of({"statuses": [status("wamid.1", "delivered"), status("wamid.other", "read")]}))
    await app.work(QUEUE)
    items = await scenario.fetch("SELECT id FROM messaging_items ORDER BY id")
    [work] = [one for one in app.service.work_items if one.queue == QUEUE]
    for row in items:
        with pytest.raises(MessageUnknown):
            await work.handler(work.payload(item_id=row["id"]), None, app.dependencies)
    await scenario.send_queued()
    await work.handler(work.payload(item_id="status:wamid.1:delivered"), None, app.dependencies)
    assert (await scenario.channel_statuses())["messaging"] == "delivered"
    async with scenario.unit_of_work() as uow:
        await work.when_exhausted(work.payload(item_id="status:wamid.other:read"), None, uow, "MessageUnknown")
    assert (await outcomes(scenario))["status:wamid.other:read"] == "ignored"
    assert await scenario.published("operations.alert_raised.v1") == []


def failed(code, message_id="wamid.1", **more):
    """Return a failed status with an error in the app's form."""
    error = {
        "code": code,
        "title": "Title",
        "message": "Title",
        "error_data": {"details": "Why it failed"},
        "href": "x",
    }
    return status(message_id, "failed", errors=[error], **more)


async def alerts(scenario: Scenario):
    return [alert["title"] for alert in await scenario.published("operations.alert_raised.v1")]


async def errors_of_attempts(scenario: Scenario):
    return [row["error"] for row in await scenario.attempts() if row["channel"] == "messaging"]


async def test_the_error_of_a_failed_status_is_logged_and_stored(
    scenario: Scenario, providers: Providers, capfd: pytest.CaptureFixture[str]
) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    await process(scenario, {"statuses": [failed(131026)]})
    assert await errors_of_attempts(scenario) == ["131026 Why it failed"]
    assert (await scenario.channel_statuses())["messaging"] == "failed"
    logged = "".join(capfd.readouterr())
    assert "131026 Why it failed" in logged
    assert "8030000001" not in logged
    # Only this recipient can change it.
    assert await alerts(scenario) == []


async def test_an_invalid_template_raises_an_alert(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    await process(scenario, {"statuses": [failed("132001")]})
    assert await alerts(scenario) == ["Message not delivered: order_confirmation by messaging"]


async def test_a_rate_limit_in_a_status_is_retried_later(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    await process(scenario, {"statuses": [failed(131048)]})
    assert (await scenario.channel_statuses())["messaging"] == "queued"
    assert await scenario.send_queued() == 0
    scenario.clock.advance(THROTTLED_FOR)
    assert await scenario.send_queued() == 1
    await process(scenario, {"statuses": [status("wamid.2", "delivered")]})
    assert (await scenario.channel_statuses())["messaging"] == "delivered"
    # The report of the first attempt arrives again, and changes nothing.
    await process(scenario, {"statuses": [failed(131048, timestamp="1767225601")]})
    assert (await scenario.channel_statuses())["messaging"] == "delivered"
    assert (len(providers.approved), await alerts(scenario)) == (2, [])


async def test_a_repeated_rate_limit_ends(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    for number in range(1, 11):
        await scenario.send_queued()
        await process(scenario, {"statuses": [failed(130429, f"wamid.{number}")]})
        scenario.clock.advance(THROTTLED_FOR)
    assert (await scenario.channel_statuses())["messaging"] == "failed"
    assert len(providers.approved) == 10


async def test_a_message_to_an_erased_user_is_not_queued_again(scenario: Scenario, providers: Providers) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    await scenario.receive(UserErased(user_id=scenario.buyer_id))
    await process(scenario, {"statuses": [failed(130429)]})
    assert (await scenario.channel_statuses())["messaging"] == "failed"


@pytest.mark.parametrize(
    "errors", [None, [], {}, "x", [None], [7], [{"code": "x"}], [{"code": None, "title": None, "error_data": []}]]
)
async def test_odd_errors_of_a_failed_status_change_nothing_else(
    scenario: Scenario, providers: Providers, errors
) -> None:
    await queue_confirmation(scenario, providers)
    await scenario.send_queued()
    await process(scenario, {"statuses": [status("wamid.1", "failed", errors=errors)]})
    assert (await scenario.channel_statuses())["messaging"] == "failed"


async def test_a_free_text_outside_the_window_is_sent_as_the_template(scenario: Scenario, providers: Providers) -> None:
    for rejected_at_once in (True, False):
        name = "sync" if rejected_at_once else "later"
        await process(scenario, {"messages": [text(f"wamid.{name}", "Where is it?")]})
        [ticket] = await tickets(scenario)
        if rejected_at_once:
            providers.approved_faults.append(JSONResponse({"error": {"code": 131047, "message": "Re-engagement"}}, 400))
        staff = scenario.headers(new_id(), roles=["support_agent"])
        url = f"/api/support-tickets/{ticket['id']}/messages"
        assert (await scenario.client.post(url, json={"text": "On its way."}, headers=staff)).status_code == 201
        while await scenario.work(QUEUE) or await scenario.send_queued():
            pass
        if not rejected_at_once:
            assert providers.approved[-1]["type"] == "text"
            await process(scenario, {"statuses": [failed(131047, f"wamid.{len(providers.approved)}")]})
        await scenario.send_queued()
        assert providers.approved[-1]["template"]["name"] == "ticket_reply"
    assert [one["type"] for one in providers.approved] == ["template", "text", "template"]
    assert await alerts(scenario) == []
