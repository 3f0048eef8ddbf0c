"""Messages that were not delivered: their alert names the order, and staff discard them with a reason."""

from datetime import timedelta

from msgspec.structs import replace
from starlette.responses import JSONResponse

from common.primitives.ids import new_id
from notifications.deliveries.domain.alerts import MESSAGES_REMOVED
from notifications.deliveries.timers import close_removed_once
from testkit.work import own_actions_of

from ..conftest import Scenario
from ..providers import Providers
from ..steps import alert_raised


async def listed(scenario: Scenario, **query):
    headers = scenario.headers(new_id(), roles=("ops_oncall",))
    return (await scenario.client.get("/api/alerts", params=query, headers=headers)).json()


async def test_the_alert_about_a_lost_message_names_its_order(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(replace(scenario.pin(), number="CM-7F3K-9QXD"))
    providers.sms_faults.append(JSONResponse({"message": "Invalid number"}, 400))
    await scenario.send_queued()
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert alert["detail"].endswith(" about order CM-7F3K-9QXD failed: 400 Invalid number")


async def test_staff_discard_the_messages_of_an_alert_about_lost_ones(scenario: Scenario, providers: Providers) -> None:
    staff = new_id()

    async def discard(alert_id, reason="The number does not exist", *, user=staff, roles=("ops_oncall",)):
        headers = scenario.headers(user, roles=list(roles))
        return await scenario.client.post(f"/api/alerts/{alert_id}/discard", json={"reason": reason}, headers=headers)

    await scenario.receive(alert_raised())
    [other] = (await listed(scenario, status="open"))["data"]
    assert not other["isDiscardable"]
    assert (await discard(other["id"])).status_code == 409
    assert (await discard(new_id())).status_code == 404
    raised = alert_raised(dedup_key="delivery-failed:sms:delivery_pin")
    await scenario.receive(raised)
    await scenario.send_queued()
    assert (await discard(raised.alert_id, roles=("support_agent",))).status_code == 403
    assert (await discard(raised.alert_id, " ")).status_code == 422
    for _ in range(2):
        shown = (await discard(raised.alert_id)).json()["data"]
        assert (shown["closedBy"], shown["closeReason"]) == (str(staff), "The number does not exist")
        assert shown["closedAt"] is not None
    assert (await discard(raised.alert_id, "Another reason")).status_code == 409
    assert (await discard(raised.alert_id, user=new_id())).status_code == 409
    await scenario.send_queued()
    pages = [page for _, page in providers.pages if page["id"] == str(raised.alert_id)]
    assert [page["closedAt"] is not None for page in pages] == [False, True]
    own = await own_actions_of(scenario.client, scenario.headers(staff, roles=["ops_oncall"]))
    assert set(own) == {("alert_discarded", str(raised.alert_id))}
    # The next lost message is a new alert.
    scenario.clock.advance(timedelta(seconds=1))
    await scenario.receive(alert_raised(dedup_key="delivery-failed:sms:delivery_pin"))
    assert len((await listed(scenario, status="open"))["data"]) == 2


async def test_the_alert_about_lost_messages_ends_when_retention_removes_them(
    scenario: Scenario, providers: Providers
) -> None:
    raised = alert_raised(dedup_key="delivery-failed:sms:delivery_pin")
    await scenario.receive(raised)
    await scenario.receive(alert_raised())
    await scenario.send_queued()
    scenario.clock.advance(timedelta(days=170))
    assert await close_removed_once(scenario.dependencies) == 0
    scenario.clock.advance(timedelta(days=42))
    assert [await close_removed_once(scenario.dependencies) for _ in range(2)] == [1, 0]
    await scenario.send_queued()
    closed = (await listed(scenario, status="closed"))["data"]
    [shown] = [alert for alert in closed if alert["id"] == str(raised.alert_id)]
    assert (shown["closedBy"], shown["closeReason"]) == (None, MESSAGES_REMOVED)
    pages = [page for _, page in providers.pages if page["id"] == str(raised.alert_id)]
    assert pages[-1]["closedAt"] is not None
