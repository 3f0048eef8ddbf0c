"""Live numbers of a page: what is new, under the checks of the page, and nothing else."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common.primitives.clock import SystemClock
from common.web.request_scope import RequestScope
from console.app import Console
from console.live import READS_MAX
from console.session import Session, SessionCookies, Tokens
from console.settings import Settings
from console.work_counts import LastVisit, read_counts, rises, write_counts
from testkit.service_kit import served

KEY = "k" * 16
EVENTS = {"Accept": "text/event-stream"}
MINUTE = 60


class Alerts:
    """The part of the API that these pages call; `pages` are the ids that each read of the list returns in turn."""

    def __init__(self) -> None:
        self.pages: list[list[str]] = []
        self.counts: list[int] = []
        self.permissions = ["work:read", "alerts:read"]
        self.ends_after = 10_000
        self.calls = 0

    def app(self) -> Starlette:
        paths = {"/api/profiles/current": self._profile, "/api/alerts": self._list, "/api/work": self._work}
        refused = Route("/api/auth/refresh", self._refresh, methods=["POST"])
        return Starlette(routes=[*(Route(path, handler) for path, handler in paths.items()), refused])

    async def _profile(self, _: Request) -> Response:
        profile = {"id": "ada", "email": "ada", "fullName": None, "role": "ops_oncall", "roles": ["ops_oncall"]}
        return _envelope({**profile, "permissions": self.permissions, "vendorId": None})

    async def _list(self, _: Request) -> Response:
        self.calls += 1
        if self.calls > self.ends_after:
            return JSONResponse({"code": "AUTH_UNAUTHORIZED", "title": "Unauthorized", "status": 401}, 401)
        ids = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        return _envelope([{"id": one} for one in ids])

    async def _work(self, _: Request) -> Response:
        count = self.counts.pop(0) if len(self.counts) > 1 else self.counts[0]
        return _envelope([{"kind": "alerts", "count": count, "link": "/api/alerts"}])

    async def _refresh(self, _: Request) -> Response:
        raise AssertionError("a stream exchanged the tokens of its session")


def _envelope(data: Any) -> Response:
    return JSONResponse({"data": data, "meta": {}})


@pytest.fixture
def api() -> Alerts:
    return Alerts()


@pytest.fixture
async def http(api: Alerts) -> AsyncIterator[httpx.AsyncClient]:
    async with served(api.app()) as api_url:
        settings = Settings(port=1, metrics_port=2, console_key=KEY, api_url=api_url)
        console = Console(settings)
        console.streams.read_every_seconds = 0
        cookies, session, written = SessionCookies(KEY, "", is_secure=False, clock=SystemClock()), Session(), Response()
        session.accept(Tokens("ada", "r", 900), cookies.now())
        cookies.write(written, session)
        transport = httpx.ASGITransport(app=RequestScope(console.app()))
        cookie = {"Cookie": written.headers["set-cookie"].partition(";")[0]}
        async with httpx.AsyncClient(base_url="http://console", transport=transport, headers=cookie) as client:
            yield client
        await console.close()


def numbers_of(response: httpx.Response) -> list[Any]:
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = response.text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


async def test_a_stream_counts_the_rows_that_the_page_does_not_show(api: Alerts, http: httpx.AsyncClient) -> None:
    api.pages = [["a-00000001"], ["b-00000002", "a-00000001"], ["c-00000003", "b-00000002", "a-00000001"]]
    response = await http.get("/alerts", params={"seen": "00000001"}, headers=EVENTS)
    assert numbers_of(response) == [{"new": 0}, {"new": 1}, {"new": 2}]
    assert api.calls == READS_MAX


async def test_a_stream_ends_with_the_access_token_and_exchanges_none(api: Alerts, http: httpx.AsyncClient) -> None:
    api.pages, api.ends_after = [["a-00000001"]], 2
    response = await http.get("/alerts", headers=EVENTS)
    assert (response.status_code, numbers_of(response)) == (200, [{"new": 1}])
    assert api.calls == 3


async def test_a_stream_has_the_permissions_of_its_page(api: Alerts, http: httpx.AsyncClient) -> None:
    api.permissions = ["work:read"]
    response = await http.get("/alerts", headers=EVENTS)
    assert (response.status_code, response.text, api.calls) == (204, "", 0)


async def test_a_page_without_a_stream_ends_it(http: httpx.AsyncClient) -> None:
    for path in ("/search", "/nothing-here", "/sign-in"):
        assert (await http.get(path, headers=EVENTS)).status_code == 204, path


async def test_waiting_work_sends_its_counts_and_by_how_much_they_rose(api: Alerts, http: httpx.AsyncClient) -> None:
    api.counts = [3, 5, 2]
    response = await http.get("/", params={"seen": "alerts.3"}, headers=EVENTS)
    assert numbers_of(response) == [
        {"new": 0, "counts": {"alerts": 3}},
        {"new": 2, "counts": {"alerts": 5}},
        {"new": 0, "counts": {"alerts": 2}},
    ]


def visited(cookie: str, now: int, counts: dict[str, int], user: str = "ada") -> tuple[str, dict[str, int]]:
    """Return the cookie after a visit, and the changes that it shows."""
    visit, response = LastVisit([cookie], user, now), Response()
    visit.keep(response, counts, is_secure=True)
    return response.headers["set-cookie"].partition(";")[0], visit.changes(counts)


def test_a_visit_shows_what_is_more_than_at_the_end_of_the_last_one() -> None:
    first, changes = visited("", 0, {"alerts": 2})
    assert changes == {}
    same, changes = visited(first, 10 * MINUTE, {"alerts": 3})
    assert changes == {"alerts": 1}
    again, changes = visited(same, 35 * MINUTE, {"alerts": 4, "refunds_to_approve": 1})
    assert changes == {"alerts": 2, "refunds_to_approve": 1}
    _, changes = visited(again, 90 * MINUTE, {"alerts": 5})
    assert changes == {"alerts": 1}


def test_a_cookie_of_another_user_or_a_malformed_one_shows_no_change() -> None:
    cookie, _ = visited("", 0, {"alerts": 2})
    for text in (cookie.replace("ada", "ben"), "console-last-visit=x", "console-last-visit=ada:x::", ""):
        assert visited(text, 90 * MINUTE, {"alerts": 5})[1] == {}


def test_counts_are_read_as_they_were_written() -> None:
    counts = {"alerts": 3, "dead_letters_orders": 1_000}
    assert read_counts(write_counts(counts)) == counts
    assert read_counts("alerts.x-.-<b>.1-refunds.12") == {"refunds": 12}
    assert rises({"alerts": 2, "refunds": 1}, counts) == {"refunds": 1}
