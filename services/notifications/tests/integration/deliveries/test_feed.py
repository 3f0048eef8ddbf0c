"""The feed: unread counts, reading all, and the live stream (`deliveries.use_cases.feed`)."""

import asyncio
import socket
from contextlib import AsyncExitStack, closing, contextmanager
from datetime import timedelta

import httpx
import pytest

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import ManualClock, iso
from common.primitives.ids import new_id
from common.process.service import http_app
from contracts.identity import SessionRevoked
from contracts.orders import OrderDispatched
from notifications.app import SERVICE
from notifications.deliveries.streams import feed_streams
from notifications.streams.event_streams import EventStream
from testkit.fixtures import eventually
from testkit.service_kit import served

from ..conftest import OpenScenario, Scenario
from ..steps import STREAM, following, listening


async def notify(scenario: Scenario, *, vendor_id=None):
    """Notify the buyer of another order."""
    event = OrderDispatched(order_id=new_id(), buyer_id=scenario.buyer_id, vendor_id=vendor_id or scenario.vendor_id)
    await scenario.receive(event)
    scenario.clock.advance(timedelta(milliseconds=1))


async def feed(scenario: Scenario, **query):
    return (await scenario.feed(**query)).json()


async def unread(scenario: Scenario):
    client, headers = scenario.client, scenario.headers(scenario.buyer_id)
    return (await client.get("/api/notifications/unread-count", headers=headers)).json()["data"]["unreadCount"]


async def test_a_stream_resumes_without_loss_or_repetition(
    open_scenario: OpenScenario,
) -> None:
    async with open_scenario(feed_poll_seconds=0.2) as scenario, listening(scenario) as client:
        await scenario.project_users()
        await notify(scenario)
        async with following(scenario, client) as events, following(scenario, client, scenario.owner_id) as foreign:
            await notify(scenario)
            await notify(scenario)
            received = [await events.next_notification(), await events.next_notification()]
            # The list is newest first; the stream has no notification from before its start.
            assert received == (await feed(scenario))["data"][1::-1]
            with pytest.raises(TimeoutError):
                await foreign.next(within=0.1)
        await notify(scenario)
        await notify(scenario)
        missed = (await feed(scenario))["data"][1::-1]
        async with following(scenario, client, last=received[1]["id"]) as events:
            assert [await events.next_notification(), await events.next_notification()] == missed
            await notify(scenario)
            assert (await events.next_notification())["id"] == (await feed(scenario))["data"][0]["id"]
        async with following(scenario, client, last=received[0]["id"]) as events:
            assert (await events.next_notification())["id"] == received[1]["id"]


async def test_a_stream_that_breaks_off_before_its_first_event_resumes_where_it_started(
    open_scenario: OpenScenario,
) -> None:
    async with open_scenario(feed_poll_seconds=0.2) as scenario, listening(scenario) as client:
        await scenario.project_users()
        # An empty feed, then one with a notification.
        for _ in range(2):
            async with following(scenario, client) as events:
                pass
            await notify(scenario)
            async with following(scenario, client, last=events.start_id) as events:
                assert await events.next_notification() == (await feed(scenario))["data"][0]


async def test_concurrent_notifications_reach_a_stream_once_each(
    open_scenario: OpenScenario,
) -> None:
    """By polling alone, without a wake-up."""
    async with open_scenario(feed_poll_seconds=0.05) as scenario:
        await scenario.project_users()
        app = http_app(SERVICE, scenario.settings, scenario.runtime, scenario.dependencies)
        async with (
            served(app) as url,
            httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
            following(scenario, client) as events,
        ):
            await asyncio.gather(*(notify(scenario) for _ in range(40)))
            received = [(await events.next_notification())["id"] for _ in range(40)]
            assert len(set(received)) == 40
            assert set(received) == {str(row["id"]) for row in await scenario.fetch("SELECT id FROM notifications")}


async def test_a_stream_ends_with_its_token_session_or_process(open_scenario: OpenScenario) -> None:
    clock = ManualClock()
    async with open_scenario(clock=clock, feed_ping_seconds=0.1) as scenario, listening(scenario) as client:
        await scenario.project_users()
        session = new_id()
        async with following(scenario, client) as events:
            assert await events.next() == (None, None, None)
            clock.advance(timedelta(minutes=15))
            with pytest.raises(StopAsyncIteration):
                while True:
                    await events.next()
        async with following(scenario, client, session_id=str(session)) as events:
            revoked = SessionRevoked(user_id=scenario.buyer_id, session_id=session, not_before=iso(clock.now()))
            scenario.runtime.verifier.revocations.add(revoked.user_id, session, clock.now())
            with pytest.raises(StopAsyncIteration):
                while True:
                    await events.next()
        async with following(scenario, client) as events:
            for end in scenario.runtime.on_stop:
                end()
            with pytest.raises(StopAsyncIteration):
                while True:
                    await events.next()
        rejected = await client.get(STREAM, headers=scenario.headers(scenario.buyer_id))
        assert rejected.status_code == 503


async def test_a_stream_ends_where_its_database_ends_and_the_client_reconnects(
    open_scenario: OpenScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end_connection(uow: UnitOfWork, *_: object) -> None:
        await uow.fetch("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(feed_streams, "list_feed_after", end_connection)
    async with open_scenario() as scenario, listening(scenario) as client:
        await scenario.project_users()
        async with following(scenario, client) as events:
            with pytest.raises(StopAsyncIteration):
                await events.next()


async def test_the_streams_of_a_user_are_limited(open_scenario: OpenScenario) -> None:
    async with open_scenario(feed_streams_max=1) as scenario, listening(scenario) as client:
        headers = scenario.headers(scenario.buyer_id)
        async with following(scenario, client), following(scenario, client, scenario.owner_id):
            rejected = await client.get(STREAM, headers=headers)
            assert (rejected.status_code, rejected.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")
            assert rejected.headers["retry-after"] == "30"
        streams = scenario.dependencies.feed_streams

        async def closed():
            return not streams._by_user

        await eventually(closed)
        for last in (str(new_id()), "yesterday"):
            wrong = await client.get(STREAM, headers={**headers, "Last-Event-ID": last})
            assert (wrong.status_code, wrong.json()["invalid_params"][0]["name"]) == (422, "Last-Event-ID")
        assert (await client.get(STREAM)).status_code == 401
        async with following(scenario, client):
            assert len(streams._by_user) == 1


async def test_a_blocked_reader_is_disconnected() -> None:
    disconnected, sent = [], []

    async def events():
        while True:
            yield b": ping\n\n"

    async def send(message):
        sent.append(message)
        if len(sent) > 3:
            # The transport's buffer is full.
            await asyncio.Event().wait()

    stream = EventStream(events(), on_end=lambda: disconnected.append(True), slow_reader_seconds=0.05)
    await stream.stream_response(send)
    assert disconnected == [True]
    assert sent[-1]["more_body"]


# More rows of a few kilobytes than the buffers of a connection hold.
_MANY_LINES = """
WITH inserted AS (
    INSERT INTO notifications (id, user_id, template, title, body, created_at, place)
    SELECT gen_random_uuid(), $1, 'order_dispatched', 'On its way', repeat('x', 4000), $2, 1000 + number
    FROM generate_series(1, $3) AS number RETURNING id, place
)
SELECT id FROM inserted ORDER BY place
"""


@contextmanager
def blocked_reader(scenario: Scenario, client: httpx.AsyncClient, last=None):
    """Yield a stream whose reader never reads."""
    lines = [
        f"GET {STREAM} HTTP/1.1",
        "Host: localhost",
        *(f"{n}: {v}" for n, v in scenario.headers(scenario.buyer_id).items()),
    ]
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((client.base_url.host, client.base_url.port))
        connection.sendall("\r\n".join([*lines, *([f"Last-Event-ID: {last}"] if last else []), "", ""]).encode())
        yield connection


def has_response(connection):
    """Return whether the response has started; it stays unread."""
    try:
        return connection.recv(15, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"HTTP/1.1 200 OK"
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


async def test_a_blocked_reader_delays_no_other_stream(
    open_scenario: OpenScenario,
) -> None:
    async with (
        open_scenario(feed_streams_max=60) as scenario,
        listening(scenario, send_buffer_bytes=4096) as client,
        AsyncExitStack() as stack,
    ):
        await scenario.project_users()
        streams = scenario.dependencies.feed_streams
        streams.slow_reader_seconds = 3600.0

        def is_open(count):
            return lambda: len(streams._by_user.get(scenario.buyer_id, ())) == count

        stack.enter_context(blocked_reader(scenario, client))
        await eventually(is_open(1))
        readers = [await stack.enter_async_context(following(scenario, client)) for _ in range(50)]
        now = scenario.clock.now()
        ids = [str(row["id"]) for row in await scenario.fetch(_MANY_LINES, scenario.buyer_id, now, 40)]
        streams.wake(scenario.buyer_id)

        async def read_all(events):
            return [(await events.next_notification())["id"] for _ in ids]

        assert await asyncio.gather(*(read_all(events) for events in readers)) == [ids] * 50
        # The blocked reader is still connected, and delayed no other stream.
        assert is_open(51)()
        streams.slow_reader_seconds = 1.0
        with blocked_reader(scenario, client, last=ids[0]) as connection:
            await eventually(lambda: has_response(connection))
            await eventually(is_open(51))


async def test_unread_lines_are_counted_filtered_and_read_up_to_what_was_seen(
    scenario: Scenario, clock: ManualClock, client: httpx.AsyncClient
) -> None:
    await scenario.project_users()
    for _ in range(3):
        await notify(scenario)
        clock.advance(timedelta(seconds=1))
    newest, middle, oldest = (await feed(scenario))["data"]
    headers = scenario.headers(scenario.buyer_id)
    assert await unread(scenario) == 3
    await client.post(f"/api/notifications/{middle['id']}/read", headers=headers)
    assert await unread(scenario) == 2
    page = await feed(scenario, unread="true", limit=1)
    assert [line["id"] for line in page["data"]] == [newest["id"]]
    rest = await feed(scenario, unread="true", limit=1, cursor=page["meta"]["next_cursor"])
    assert [line["id"] for line in rest["data"]] == [oldest["id"]]
    # A cursor of the unread filter is invalid for the whole list.
    assert "invalid_params" in await feed(scenario, limit=1, cursor=page["meta"]["next_cursor"])

    path = "/api/notifications/read-all"
    before = {"before": middle["createdAt"]}
    assert (await client.post(path, json=before, headers=headers)).json()["data"] == {"read": 1}
    assert (await client.post(path, json=before, headers=headers)).json()["data"] == {"read": 0}
    assert await unread(scenario) == 1
    for body in ({"before": "yesterday"}, {"all": True}):
        assert (await client.post(path, json=body, headers=headers)).status_code == 422
    assert (await client.post(path, headers=headers)).json()["data"] == {"read": 1}
    assert await unread(scenario) == 0
    # An earlier read keeps its time.
    times = [line["readAt"] for line in (await feed(scenario))["data"]]
    assert len(set(times)) == 1
    assert (await client.post(path, headers=scenario.headers(scenario.owner_id))).json()["data"] == {"read": 0}


async def test_a_caller_sees_no_place_of_another_feed(scenario: Scenario) -> None:
    await scenario.project_users()
    await notify(scenario)
    async with scenario.unit_of_work(Caller(user_id=scenario.owner_id)) as uow:
        assert await uow.fetch("SELECT id FROM notifications") == []
