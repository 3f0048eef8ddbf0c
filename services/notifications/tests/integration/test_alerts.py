"""Alerts: kept, listed, logged, and said to the people on call in their own words."""

from datetime import timedelta

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from notifications.consumers import WORK
from notifications.domain.alerts import PAGE_AGAIN_AFTER, REPEAT_AFTER
from notifications.domain.errors import AlertNotRaisedYet, ProviderUnavailable
from notifications.timers import repeat_open_alerts_once
from testkit.service_kit import served

QUEUE = "notifications.deliveries"


def alert(severity="SEV-2", dedup_key="balance:low"):
    return AlertRaised(
        alert_id=new_id(),
        severity=severity,
        title="Gateway balance is short",
        detail="1,000 kobo are missing",
        runbook="gateway-balance",
        dedup_key=dedup_key,
        about="batch-1",
    )


async def listed(story, **query):
    headers = story.service.headers(new_id(), roles=("ops_oncall",))
    return (await story.service.client.get("/api/alerts", params=query, headers=headers)).json()


async def test_an_alert_is_logged_listed_and_paged(story, outside, capfd):
    raised = alert()
    received = await story.service.hear(raised)
    await story.service.hear(raised, event_id=received.event_id)
    await story.service.work(QUEUE)
    assert [path for path, _ in outside.pages] == ["/on-call/webhook"]
    page = await listed(story)
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


@pytest.mark.parametrize(
    ("path", "key", "told"),
    [
        ("/on-call/api/v2/alerts", "", lambda page: page[0]["labels"]["severity"]),
        ("/on-call/v2/enqueue", "route-1", lambda page: page["payload"]["custom_details"]["severity"]),
        ("/on-call/webhook", "", lambda page: page["severity"]),
    ],
)
async def test_the_people_on_call_are_paged_in_the_words_of_their_address(open_story, outside, path, key, told):
    async with open_story(on_call_url=f"{outside.url}{path}", on_call_key=key) as story:
        await story.service.hear(alert("SEV-1"))
        await story.service.work(QUEUE)
    [(called, page)] = outside.pages
    assert (called, told(page)) == (path, "SEV-1")


async def test_without_an_address_the_list_and_the_log_tell(open_story, outside):
    async with open_story(on_call_url="") as story:
        await story.service.hear(alert())
        await story.service.work(QUEUE)
        assert [(shown["severity"], shown["pagedAt"]) for shown in (await listed(story))["data"]] == [("SEV-2", None)]
    assert outside.pages == []


async def test_repetitions_of_an_open_alert_are_one_alert_said_again_when_it_grows_worse_or_old(story, outside):
    async def raise_and_page(severity):
        await story.service.hear(alert(severity))
        await story.service.work(QUEUE)

    await raise_and_page("SEV-2")
    await raise_and_page("SEV-2")
    await raise_and_page("SEV-3")
    assert len(outside.pages) == 1
    await raise_and_page("SEV-1")
    assert [page["severity"] for _, page in outside.pages] == ["SEV-2", "SEV-1"]
    story.service.runtime.clock.advance(PAGE_AGAIN_AFTER + timedelta(seconds=1))
    await raise_and_page("SEV-1")
    assert len(outside.pages) == 3
    [shown] = (await listed(story))["data"]
    assert (shown["severity"], shown["repetitions"]) == ("SEV-1", 4)


@pytest.mark.parametrize(
    ("path", "said"), [("/on-call/api/v2/alerts", 2), ("/on-call/v2/enqueue", 0), ("/on-call/webhook", 0)]
)
async def test_what_stands_is_said_again_to_whoever_forgets_it_at_a_restart(open_story, outside, path, said):
    async with open_story(on_call_url=f"{outside.url}{path}", on_call_key="key") as story:
        service, clock = story.service, story.service.runtime.clock

        async def say_again():
            count = await repeat_open_alerts_once(service.dependencies)
            await service.work(QUEUE)
            return count

        for key in ("still:open", "open:too", "over:soon"):
            await service.hear(alert(dedup_key=key))
        await service.work(QUEUE)
        clock.advance(REPEAT_AFTER)
        await service.hear(cleared("over:soon"))
        await service.work(QUEUE)
        outside.pages.clear()
        assert (await say_again(), len(outside.pages)) == (said, said)
        assert (await say_again(), len(outside.pages)) == (0, said)


async def test_a_page_that_nobody_takes_is_asked_again_and_at_the_end_written_down_without_a_new_alert(story, outside):
    outside.page_faults = [500, 503]
    raised = alert()
    await story.service.hear(raised)
    with pytest.raises(ProviderUnavailable):
        await story.service.work(QUEUE)
    [work] = [one for one in WORK if one.queue == QUEUE]
    job = work.payload(alert_id=raised.alert_id)
    async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await work.when_exhausted(job, None, uow, "ProviderAway: webhook: answered 503")
    [row] = await story.service.fetch("SELECT page_error, paged_at FROM alerts")
    assert (row["page_error"], row["paged_at"]) == ("ProviderAway: webhook: answered 503", None)
    assert await story.service.published("operations.alert_raised.v1") == []


async def test_alerts_are_sorted_by_time_or_severity_and_shown_to_those_who_may(story):
    for severity in ("SEV-3", "SEV-1", "SEV-2"):
        await story.service.hear(alert(severity, dedup_key=severity))
        story.service.runtime.clock.advance(timedelta(seconds=1))
    newest = [shown["severity"] for shown in (await listed(story))["data"]]
    worst = [shown["severity"] for shown in (await listed(story, sort="severity", order="desc"))["data"]]
    mildest = [shown["severity"] for shown in (await listed(story, sort="severity", order="asc"))["data"]]
    assert mildest == worst[::-1]
    assert (newest, worst) == (["SEV-2", "SEV-1", "SEV-3"], ["SEV-1", "SEV-2", "SEV-3"])
    assert [shown["severity"] for shown in (await listed(story, limit=1, page=2))["data"]] == ["SEV-1"]
    refused = await story.service.client.get("/api/alerts", headers=story.service.headers(new_id()))
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")


def cleared(dedup_key="balance:low"):
    return AlertCleared(alert_id=new_id(), dedup_key=dedup_key, reason="The balance was topped up.")


@pytest.mark.parametrize(
    ("path", "key", "over"),
    [
        ("/on-call/api/v2/alerts", "", lambda page: "endsAt" in page[0]),
        ("/on-call/v2/enqueue", "route-1", lambda page: page["event_action"] == "resolve"),
        ("/on-call/webhook", "", lambda page: page["closedAt"] is not None),
    ],
)
async def test_an_alert_closes_and_the_people_on_call_hear_that_it_is_over(open_story, outside, path, key, over):
    async with open_story(on_call_url=f"{outside.url}{path}", on_call_key=key) as story:
        await story.service.hear(alert("SEV-1"))
        await story.service.work(QUEUE)
        story.service.runtime.clock.advance(timedelta(minutes=1))
        received = await story.service.hear(cleared())
        await story.service.hear(cleared(), event_id=received.event_id)
        await story.service.work(QUEUE)
        [shown] = (await listed(story, status="closed"))["data"]
        assert shown["closedAt"] > shown["raisedAt"]
        assert (await listed(story, status="open"))["meta"]["total"] == 0
    assert [over(page) for _, page in outside.pages] == [False, True]


async def test_what_is_raised_after_it_was_over_is_a_new_alert_and_what_was_raised_before_is_not(story):
    clock = story.service.runtime.clock
    await story.service.hear(alert("SEV-2"))
    clock.advance(timedelta(minutes=1))
    await story.service.hear(cleared())
    # A raise of the same time or earlier, that arrives only now, is over too; a second clearing changes nothing.
    await story.service.hear(alert("SEV-1"))
    await story.service.hear(cleared())
    [first] = (await listed(story))["data"]
    assert (first["severity"], first["closedAt"] is None) == ("SEV-2", False)
    clock.advance(timedelta(minutes=1))
    await story.service.hear(alert("SEV-3"))
    [again] = (await listed(story, status="open"))["data"]
    assert (again["severity"], (await listed(story))["meta"]["total"]) == ("SEV-3", 2)


async def test_a_clearing_that_comes_before_its_alert_climbs_the_ladder(story):
    clock = story.service.runtime.clock
    with pytest.raises(AlertNotRaisedYet):
        await story.service.hear(cleared())
    await story.service.hear(alert())
    clock.advance(timedelta(seconds=5))
    await story.service.hear(cleared())
    with pytest.raises(AlertNotRaisedYet):
        clock.advance(timedelta(seconds=5))
        await story.service.hear(cleared())


async def test_an_alert_that_closes_before_it_is_paged_is_said_to_be_over(story, outside):
    await story.service.hear(alert())
    story.service.runtime.clock.advance(timedelta(seconds=1))
    await story.service.hear(cleared())
    await story.service.work(QUEUE)
    assert [page["closedAt"] is None for _, page in outside.pages] == [False, False]


async def test_what_closes_while_its_page_is_on_its_way_is_said_to_be_over_once_more(open_story):
    pages = []

    async def take(request):
        pages.append(await request.json())
        if len(pages) == 1:
            # The word that it is over overtakes the page: at the other side the page may arrive last.
            story.service.runtime.clock.advance(timedelta(seconds=1))
            await story.service.hear(cleared())
            await story.service.work(QUEUE)
        return Response()

    app = Starlette(routes=[Route("/page", take, methods=["POST"])])
    async with served(app) as url, open_story(on_call_url=f"{url}/page") as story:
        await story.service.hear(alert())
        await story.service.work(QUEUE)
        await story.service.work(QUEUE)
    assert [page["closedAt"] is None for page in pages] == [True, False, False]


async def test_an_alert_list_knows_open_and_closed_only(story):
    headers = story.service.headers(new_id(), roles=("auditor",))
    for status, answered in (("open", 200), ("closed", 200), ("lost", 422)):
        answer = await story.service.client.get("/api/alerts", params={"status": status}, headers=headers)
        assert answer.status_code == answered
