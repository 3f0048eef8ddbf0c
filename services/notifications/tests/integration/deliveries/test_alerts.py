"""Alerts: stored, listed, logged, and sent to the users on call in the format of their receiver."""

from datetime import timedelta

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from notifications.consumers import WORK
from notifications.deliveries.domain.alerts import PAGE_AGAIN_AFTER, REPEAT_AFTER
from notifications.deliveries.domain.errors import AlertNotRaisedYet, ProviderUnavailable
from notifications.deliveries.timers import escalate_alerts_once, repeat_open_alerts_once
from testkit.service_kit import served

from ..conftest import OpenScenario, Scenario
from ..providers import Providers
from ..steps import alert_raised

QUEUE = "notifications.deliveries"


async def listed(scenario: Scenario, **query):
    headers = scenario.headers(new_id(), roles=("ops_oncall",))
    return (await scenario.client.get("/api/alerts", params=query, headers=headers)).json()


async def test_an_alert_is_logged_listed_and_paged(
    scenario: Scenario, providers: Providers, capfd: pytest.CaptureFixture[str]
) -> None:
    raised = alert_raised()
    await scenario.receive_twice(raised)
    await scenario.send_queued()
    assert [path for path, _ in providers.pages] == ["/on-call/webhook"]
    page = await listed(scenario)
    [shown] = page["data"]
    assert {name: shown[name] for name in ("id", "severity", "title", "detail", "subject", "closedAt")} == {
        "id": str(raised.alert_id),
        "severity": "SEV-2",
        "title": "Gateway balance is short",
        "detail": "1,000 kobo are missing",
        "subject": "batch-1",
        "closedAt": None,
    }
    assert (page["meta"]["total"], shown["repetitions"]) == (1, 0)
    assert shown["pagedAt"] is not None
    assert capfd.readouterr().out.count("alert raised") == 1


async def test_finance_reads_the_alerts_of_money_only(scenario: Scenario) -> None:
    for source in ("payments", "payouts", "orders"):
        raised = alert_raised(dedup_key=f"{source}:low")
        await scenario.receive(raised)
        await scenario.fetch("UPDATE alerts SET source = $2 WHERE id = $1 RETURNING id", raised.alert_id, source)
    for role in ("finance_maker", "finance_checker"):
        headers = scenario.headers(new_id(), roles=(role,))
        page = (await scenario.client.get("/api/alerts", headers=headers)).json()
        assert (sorted(shown["source"] for shown in page["data"]), page["meta"]["total"]) == (
            ["payments", "payouts"],
            2,
        )
    assert (await listed(scenario))["meta"]["total"] == 3


@pytest.mark.parametrize(
    ("path", "key", "severity_of"),
    [
        ("/on-call/api/v2/alerts", "", lambda page: page[0]["labels"]["severity"]),
        ("/on-call/v2/enqueue", "route-1", lambda page: page["payload"]["custom_details"]["severity"]),
        ("/on-call/webhook", "", lambda page: page["severity"]),
    ],
)
async def test_a_page_has_the_format_of_its_receiver(
    open_scenario: OpenScenario, providers: Providers, path: str, key: str, severity_of
) -> None:
    async with open_scenario(on_call_url=f"{providers.url}{path}", on_call_key=key) as scenario:
        await scenario.receive(alert_raised("SEV-1"))
        await scenario.send_queued()
    [(called, page)] = providers.pages
    assert (called, severity_of(page)) == (path, "SEV-1")


async def test_without_a_receiver_alerts_are_listed(open_scenario: OpenScenario, providers: Providers) -> None:
    async with open_scenario(on_call_url="") as scenario:
        await scenario.receive(alert_raised())
        await scenario.send_queued()
        assert [(shown["severity"], shown["pagedAt"]) for shown in (await listed(scenario))["data"]] == [
            ("SEV-2", None)
        ]
    assert providers.pages == []


async def test_a_repeated_alert_is_paged_again_when_worse_or_old(
    scenario: Scenario, providers: Providers, clock: ManualClock
) -> None:
    async def raise_and_page(severity):
        await scenario.receive(alert_raised(severity))
        await scenario.send_queued()

    await raise_and_page("SEV-2")
    await raise_and_page("SEV-2")
    await raise_and_page("SEV-3")
    assert len(providers.pages) == 1
    await raise_and_page("SEV-1")
    assert [page["severity"] for _, page in providers.pages] == ["SEV-2", "SEV-1"]
    clock.advance(PAGE_AGAIN_AFTER + timedelta(seconds=1))
    await raise_and_page("SEV-1")
    assert len(providers.pages) == 3
    [shown] = (await listed(scenario))["data"]
    assert (shown["severity"], shown["repetitions"]) == ("SEV-1", 4)


@pytest.mark.parametrize(
    ("path", "count"), [("/on-call/api/v2/alerts", 2), ("/on-call/v2/enqueue", 0), ("/on-call/webhook", 0)]
)
async def test_open_alerts_are_repeated_to_alertmanager(
    open_scenario: OpenScenario, providers: Providers, path: str, count: int
) -> None:
    async with open_scenario(on_call_url=f"{providers.url}{path}", on_call_key="key") as scenario:
        clock = scenario.clock

        async def repeat():
            repeated = await repeat_open_alerts_once(scenario.dependencies)
            await scenario.send_queued()
            return repeated

        for key in ("still:open", "open:too", "over:soon"):
            await scenario.receive(alert_raised(dedup_key=key))
        await scenario.send_queued()
        clock.advance(REPEAT_AFTER)
        await scenario.receive(cleared("over:soon"))
        await scenario.send_queued()
        providers.pages.clear()
        assert (await repeat(), len(providers.pages)) == (count, count)
        assert (await repeat(), len(providers.pages)) == (0, count)


async def test_a_page_that_fails_for_good_is_recorded_without_a_new_alert(
    scenario: Scenario, providers: Providers
) -> None:
    providers.page_faults = [500, 503]
    raised = alert_raised()
    await scenario.receive(raised)
    with pytest.raises(ProviderUnavailable):
        await scenario.send_queued()
    [work] = [one for one in WORK if one.queue == QUEUE]
    job = work.payload(alert_id=raised.alert_id)
    async with scenario.unit_of_work() as uow:
        await work.when_exhausted(job, None, uow, "ProviderAway: webhook: answered 503")
    [row] = await scenario.fetch("SELECT page_error, paged_at FROM alerts")
    assert (row["page_error"], row["paged_at"]) == ("ProviderAway: webhook: answered 503", None)
    assert await scenario.published("operations.alert_raised.v1") == []


async def test_alerts_are_sorted_by_time_or_severity(
    scenario: Scenario, clock: ManualClock, client: httpx.AsyncClient
) -> None:
    for severity in ("SEV-3", "SEV-1", "SEV-2"):
        await scenario.receive(alert_raised(severity, dedup_key=severity))
        clock.advance(timedelta(seconds=1))
    newest = [shown["severity"] for shown in (await listed(scenario))["data"]]
    worst = [shown["severity"] for shown in (await listed(scenario, sort="severity", order="desc"))["data"]]
    mildest = [shown["severity"] for shown in (await listed(scenario, sort="severity", order="asc"))["data"]]
    assert mildest == worst[::-1]
    assert (newest, worst) == (["SEV-2", "SEV-1", "SEV-3"], ["SEV-1", "SEV-2", "SEV-3"])
    assert [shown["severity"] for shown in (await listed(scenario, limit=1, page=2))["data"]] == ["SEV-1"]
    rejected = await client.get("/api/alerts", headers=scenario.headers(new_id()))
    assert (rejected.status_code, rejected.json()["code"]) == (403, "AUTH_FORBIDDEN")


def cleared(dedup_key="balance:low"):
    return AlertCleared(alert_id=new_id(), dedup_key=dedup_key, reason="The balance was topped up.")


@pytest.mark.parametrize(
    ("path", "key", "is_closed"),
    [
        ("/on-call/api/v2/alerts", "", lambda page: "endsAt" in page[0]),
        ("/on-call/v2/enqueue", "route-1", lambda page: page["event_action"] == "resolve"),
        ("/on-call/webhook", "", lambda page: page["closedAt"] is not None),
    ],
)
async def test_a_closed_alert_is_reported_to_the_users_on_call(
    open_scenario: OpenScenario, providers: Providers, path: str, key: str, is_closed
) -> None:
    async with open_scenario(on_call_url=f"{providers.url}{path}", on_call_key=key) as scenario:
        await scenario.receive(alert_raised("SEV-1"))
        await scenario.send_queued()
        scenario.clock.advance(timedelta(minutes=1))
        await scenario.receive_twice(cleared())
        await scenario.send_queued()
        [shown] = (await listed(scenario, status="closed"))["data"]
        assert shown["closedAt"] > shown["raisedAt"]
        assert (await listed(scenario, status="open"))["meta"]["total"] == 0
    assert [is_closed(page) for _, page in providers.pages] == [False, True]


async def test_an_alert_raised_after_its_clearing_is_a_new_alert(scenario: Scenario, clock: ManualClock) -> None:
    await scenario.receive(alert_raised("SEV-2"))
    clock.advance(timedelta(minutes=1))
    await scenario.receive(cleared())
    # A late alert of the same time or earlier is closed too; a second clearing changes nothing.
    await scenario.receive(alert_raised("SEV-1"))
    await scenario.receive(cleared())
    [first] = (await listed(scenario))["data"]
    assert (first["severity"], first["closedAt"] is None) == ("SEV-2", False)
    clock.advance(timedelta(minutes=1))
    await scenario.receive(alert_raised("SEV-3"))
    [again] = (await listed(scenario, status="open"))["data"]
    assert (again["severity"], (await listed(scenario))["meta"]["total"]) == ("SEV-3", 2)


async def test_a_clearing_before_its_alert_is_retried(scenario: Scenario, clock: ManualClock) -> None:
    with pytest.raises(AlertNotRaisedYet):
        await scenario.receive(cleared())
    await scenario.receive(alert_raised())
    clock.advance(timedelta(seconds=5))
    await scenario.receive(cleared())
    with pytest.raises(AlertNotRaisedYet):
        clock.advance(timedelta(seconds=5))
        await scenario.receive(cleared())


async def test_an_alert_closed_before_its_page_is_paged_as_closed(
    scenario: Scenario, providers: Providers, clock: ManualClock
) -> None:
    await scenario.receive(alert_raised())
    clock.advance(timedelta(seconds=1))
    await scenario.receive(cleared())
    await scenario.send_queued()
    assert [page["closedAt"] is None for _, page in providers.pages] == [False, False]


async def test_an_alert_closed_during_its_page_is_closed_once_more(open_scenario: OpenScenario) -> None:
    pages = []

    async def receive_page(request):
        pages.append(await request.json())
        if len(pages) == 1:
            # The closing page overtakes the first one: the receiver may get the first one last.
            scenario.clock.advance(timedelta(seconds=1))
            await scenario.receive(cleared())
            await scenario.send_queued()
        return Response()

    app = Starlette(routes=[Route("/page", receive_page, methods=["POST"])])
    async with served(app) as url, open_scenario(on_call_url=f"{url}/page") as scenario:
        await scenario.receive(alert_raised())
        await scenario.send_queued()
        await scenario.send_queued()
    assert [page["closedAt"] is None for page in pages] == [True, False, False]


@pytest.mark.parametrize(("status", "expected"), [("open", 200), ("closed", 200), ("lost", 422)])
async def test_an_alert_list_filters_by_open_and_closed_only(
    scenario: Scenario, status: str, expected: int, client: httpx.AsyncClient
) -> None:
    headers = scenario.headers(new_id(), roles=("auditor",))
    response = await client.get("/api/alerts", params={"status": status}, headers=headers)
    assert response.status_code == expected


class Staff:
    """A member of staff at the endpoints of one alert."""

    def __init__(self, scenario: Scenario, role: str = "ops_oncall") -> None:
        self.id = new_id()
        self._client, self._headers = scenario.client, scenario.headers(self.id, roles=(role,))

    async def get(self, alert_id):
        return await self._client.get(f"/api/alerts/{alert_id}", headers=self._headers)

    async def post(self, alert_id, step, body=None):
        return await self._client.post(f"/api/alerts/{alert_id}/{step}", json=body, headers=self._headers)


async def test_an_alert_is_acknowledged_assigned_and_noted(scenario: Scenario, clock: ManualClock) -> None:
    raised, first, second = alert_raised(), Staff(scenario), Staff(scenario)
    await scenario.receive(raised)
    shown = (await first.get(raised.alert_id)).json()["data"]
    assert (shown["acknowledgedAt"], shown["assigneeId"], shown["actions"]) == (None, None, [])

    shown = (await first.post(raised.alert_id, "acknowledge")).json()["data"]
    assert (shown["acknowledgedBy"], shown["assigneeId"]) == (str(first.id), str(first.id))
    again = (await second.post(raised.alert_id, "acknowledge")).json()["data"]
    assert (again["acknowledgedBy"], len(again["actions"])) == (str(first.id), 1)

    await second.post(raised.alert_id, "assign", {"assigneeId": str(second.id)})
    await second.post(raised.alert_id, "assign", {"assigneeId": str(second.id)})
    noted = await second.post(raised.alert_id, "notes", {"text": "The bank was called."})
    assert noted.status_code == 201
    actions = noted.json()["data"]["actions"]
    assert [(action["kind"], action["by"], action["assigneeId"], action["note"]) for action in actions] == [
        ("acknowledged", str(first.id), None, None),
        ("assigned", str(second.id), str(second.id), None),
        ("noted", str(second.id), None, "The bank was called."),
    ]


async def test_a_closed_alert_accepts_notes_only(scenario: Scenario, clock: ManualClock) -> None:
    raised, one = alert_raised(), Staff(scenario)
    await scenario.receive(raised)
    clock.advance(timedelta(seconds=1))
    await scenario.receive(AlertCleared(alert_id=new_id(), dedup_key=raised.dedup_key, reason="topped up"))
    assert (await one.post(raised.alert_id, "acknowledge")).status_code == 409
    assert (await one.post(raised.alert_id, "assign", {"assigneeId": str(one.id)})).status_code == 409
    assert (await one.post(raised.alert_id, "notes", {"text": "Seen too late."})).status_code == 201


async def test_an_alert_is_assigned_to_staff_who_may_acknowledge_it(scenario: Scenario) -> None:
    await scenario.project_users()
    raised, one = alert_raised(), Staff(scenario)
    await scenario.receive(raised)
    for assignee in (scenario.buyer_id, new_id()):
        response = await one.post(raised.alert_id, "assign", {"assigneeId": str(assignee)})
        assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "assigneeId")
    assert (await one.post(raised.alert_id, "notes", {"text": "  "})).status_code == 422


async def test_steps_on_an_alert_need_its_sight_and_the_permission(scenario: Scenario) -> None:
    raised = alert_raised()
    await scenario.receive(raised)
    auditor, finance = Staff(scenario, "auditor"), Staff(scenario, "finance_maker")
    assert (await auditor.get(raised.alert_id)).status_code == 200
    assert (await auditor.post(raised.alert_id, "acknowledge")).status_code == 403
    # The alert is about no money: finance does not see it.
    assert (await finance.get(raised.alert_id)).status_code == 404
    for step, body in (("acknowledge", None), ("assign", {"assigneeId": None}), ("notes", {"text": "Seen."})):
        assert (await finance.post(raised.alert_id, step, body)).status_code == 404
    await scenario.fetch("UPDATE alerts SET source = 'payouts' RETURNING id")
    assert (await finance.post(raised.alert_id, "acknowledge")).status_code == 200


@pytest.mark.parametrize(("severity", "minutes"), [("SEV-1", 7.5), ("SEV-2", 60), ("SEV-3", 240)])
async def test_an_alert_without_acknowledgement_is_escalated_once(
    scenario: Scenario, providers: Providers, clock: ManualClock, severity: str, minutes: float
) -> None:
    raised, acknowledged = alert_raised(severity), alert_raised(severity, "another")
    await scenario.receive(raised)
    await scenario.receive(acknowledged)
    await Staff(scenario).post(acknowledged.alert_id, "acknowledge")
    await scenario.send_queued()
    clock.advance(timedelta(minutes=minutes, seconds=-1))
    assert await escalate_alerts_once(scenario.app.dependencies) == 0
    clock.advance(timedelta(seconds=2))
    assert await escalate_alerts_once(scenario.app.dependencies) == 1
    assert await escalate_alerts_once(scenario.app.dependencies) == 0
    await scenario.send_queued()
    assert [page["id"] for _, page in providers.pages if page["escalated"]] == [str(raised.alert_id)]
    [action] = (await Staff(scenario).get(raised.alert_id)).json()["data"]["actions"]
    assert (action["kind"], action["by"]) == ("escalated", None)


@pytest.mark.parametrize(
    ("path", "routed_by"),
    [
        ("/on-call/api/v2/alerts", lambda pages: pages[-1][-1]["labels"]["escalated"] == "true"),
        ("/on-call/v2/enqueue", lambda pages: pages[-1]["payload"]["class"] == "escalated"),
    ],
)
async def test_the_receiver_routes_an_escalation_to_the_second_user(
    open_scenario: OpenScenario, providers: Providers, clock: ManualClock, path: str, routed_by
) -> None:
    async with open_scenario(on_call_url=f"{providers.url}{path}", on_call_key="route-1") as scenario:
        raised = alert_raised("SEV-1")
        await scenario.receive(raised)
        clock.advance(timedelta(minutes=8))
        await escalate_alerts_once(scenario.app.dependencies)
        await scenario.send_queued()
        assert routed_by([page for _, page in providers.pages])
        await scenario.receive(AlertCleared(alert_id=new_id(), dedup_key=raised.dedup_key, reason="topped up"))
        await scenario.send_queued()
    resolved = [page for _, page in providers.pages][-2:]
    if "enqueue" in path:
        assert [page["event_action"] for page in resolved] == ["resolve", "resolve"]
        assert resolved[0]["dedup_key"] != resolved[1]["dedup_key"]
    else:
        assert all("endsAt" in alert for alert in resolved[-1])
