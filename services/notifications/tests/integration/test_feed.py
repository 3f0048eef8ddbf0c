"""The feed: unread counts, reading all of it, and following it live (README, Live updates)."""

import asyncio
import json
import socket
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from datetime import timedelta

import httpx
import pytest

from common.auth.caller import Caller
from common.primitives.clock import ManualClock, iso
from common.primitives.ids import new_id
from common.process.service import background, http_app
from common.web.event_streams import EventStream
from contracts.identity import SessionRevoked
from contracts.orders import OrderDispatched
from notifications.app import SERVICE
from testkit.fixtures import PATIENCE_SECONDS, eventually
from testkit.service_kit import served

STREAM = "/api/notifications/stream"


class Events:
    """What a client reads of a stream, event by event."""

    def __init__(self, answer):
        self.answer, self._lines = answer, answer.aiter_lines()

    async def next(self, *, within=PATIENCE_SECONDS):
        """The next event as (event, id, data); (None, None, None) for a ping or the like, StopAsyncIteration at the end."""
        fields = {}
        async with asyncio.timeout(within):
            while line := await anext(self._lines):
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        data = fields.get("data")
        return fields.get("event"), fields.get("id"), None if data is None else json.loads(data)

    async def next_told(self):
        """The next notification, past pings."""
        while True:
            event, told_id, shown = await self.next()
            if event is not None:
                assert (event, told_id) == ("notification", shown["id"])
                return shown


@asynccontextmanager
async def listening(story, *, send_buffer_bytes=None):
    """The service on a socket, hearing what its processes say to each other."""
    service = story.service
    running = [asyncio.create_task(task) for task in background(SERVICE, service.runtime, service.dependencies, "api")]
    app = http_app(SERVICE, service.settings, service.runtime, service.dependencies)
    try:
        async with (
            served(app, send_buffer_bytes=send_buffer_bytes) as url,
            httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
        ):
            yield client
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@asynccontextmanager
async def following(story, client, user_id=None, *, last=None, **claims):
    headers = story.service.headers(user_id or story.buyer_id, **claims)
    headers |= {"Last-Event-ID": last} if last else {}
    async with client.stream("GET", STREAM, headers=headers) as answer:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        events = Events(answer)
        assert await events.next() == (None, None, None)
        yield events


async def notify(story, *, vendor_id=None):
    """Something happens to the buyer."""
    news = OrderDispatched(order_id=new_id(), buyer_id=story.buyer_id, vendor_id=vendor_id or story.vendor_id)
    await story.service.hear(news)
    story.service.runtime.clock.advance(timedelta(milliseconds=1))


async def feed(story, **query):
    client, headers = story.service.client, story.service.headers(story.buyer_id)
    return (await client.get("/api/notifications", params=query, headers=headers)).json()


async def unread(story):
    client, headers = story.service.client, story.service.headers(story.buyer_id)
    return (await client.get("/api/notifications/unread-count", headers=headers)).json()["data"]["unreadCount"]


async def test_a_stream_tells_what_comes_as_the_list_shows_it_and_resumes_without_loss_or_repetition(open_story):
    async with open_story(feed_poll_seconds=0.2) as story, listening(story) as client:
        await story.project_people()
        await notify(story)
        async with following(story, client) as events, following(story, client, story.owner_id) as foreign:
            await notify(story)
            await notify(story)
            told = [await events.next_told(), await events.next_told()]
            # Newest first in the list; what was there before the stream began is not told again.
            assert told == (await feed(story))["data"][1::-1]
            with pytest.raises(TimeoutError):
                await foreign.next(within=0.1)
        await notify(story)
        await notify(story)
        missed = (await feed(story))["data"][1::-1]
        async with following(story, client, last=told[1]["id"]) as events:
            assert [await events.next_told(), await events.next_told()] == missed
            await notify(story)
            assert (await events.next_told())["id"] == (await feed(story))["data"][0]["id"]
        async with following(story, client, last=told[0]["id"]) as events:
            assert (await events.next_told())["id"] == told[1]["id"]


async def test_lines_written_at_once_reach_a_stream_once_each_whatever_the_order_of_their_commits(open_story):
    """The poll alone: no word is said to the process."""
    async with open_story(feed_poll_seconds=0.05) as story:
        await story.project_people()
        app = http_app(SERVICE, story.service.settings, story.service.runtime, story.service.dependencies)
        async with (
            served(app) as url,
            httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
            following(story, client) as events,
        ):
            await asyncio.gather(*(notify(story) for _ in range(40)))
            told = [(await events.next_told())["id"] for _ in range(40)]
            assert len(set(told)) == 40
            assert set(told) == {str(row["id"]) for row in await story.service.fetch("SELECT id FROM notifications")}


async def test_a_stream_pings_and_ends_with_its_token_its_session_or_its_process(open_story):
    clock = ManualClock()
    async with open_story(clock=clock, feed_ping_seconds=0.1) as story, listening(story) as client:
        await story.project_people()
        session = new_id()
        async with following(story, client) as events:
            assert await events.next() == (None, None, None)
            clock.advance(timedelta(minutes=15))
            with pytest.raises(StopAsyncIteration):
                while True:
                    await events.next()
        async with following(story, client, session_id=session) as events:
            revoked = SessionRevoked(user_id=story.buyer_id, session_id=session, not_before=iso(clock.now()))
            story.service.runtime.verifier.revocations.add(revoked.user_id, session, clock.now())
            with pytest.raises(StopAsyncIteration):
                while True:
                    await events.next()
        async with following(story, client) as events:
            for end in story.service.runtime.on_stop:
                end()
            with pytest.raises(StopAsyncIteration):
                while True:
                    await events.next()
        refused = await client.get(STREAM, headers=story.service.headers(story.buyer_id))
        assert refused.status_code == 503


async def test_streams_of_a_person_are_bounded_and_a_place_comes_free(open_story):
    async with open_story(feed_streams_max=1) as story, listening(story) as client:
        headers = story.service.headers(story.buyer_id)
        async with following(story, client), following(story, client, story.owner_id):
            refused = await client.get(STREAM, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")
            assert refused.headers["retry-after"] == "30"
        streams = story.service.dependencies.feed_streams

        async def left():
            return not streams._by_user

        await eventually(left)
        for last in (str(new_id()), "yesterday"):
            wrong = await client.get(STREAM, headers={**headers, "Last-Event-ID": last})
            assert (wrong.status_code, wrong.json()["invalid_params"][0]["name"]) == (422, "Last-Event-ID")
        assert (await client.get(STREAM)).status_code == 401
        async with following(story, client):
            assert len(streams._by_user) == 1


async def test_a_reader_who_does_not_read_is_cut_off():
    ended, sent = [], []

    async def events():
        while True:
            yield b": ping\n\n"

    async def send(message):
        sent.append(message)
        if len(sent) > 3:
            # A transport whose buffer is full.
            await asyncio.Event().wait()

    stream = EventStream(events(), on_end=lambda: ended.append(True), slow_reader_seconds=0.05)
    await stream.stream_response(send)
    assert ended == [True]
    assert sent[-1]["more_body"]


# More than a connection's buffers hold here, in lines of a few kilobytes.
_MANY_LINES = """
WITH told AS (
    INSERT INTO notifications (id, user_id, template, title, body, created_at, place)
    SELECT gen_random_uuid(), $1, 'order_dispatched', 'On its way', repeat('x', 4000), $2, 1000 + number
    FROM generate_series(1, $3) AS number RETURNING id, place
)
SELECT id FROM told ORDER BY place
"""


@contextmanager
def never_reading(story, client, last=None):
    """A stream whose reader asks for it and then takes nothing."""
    lines = [
        f"GET {STREAM} HTTP/1.1",
        "Host: localhost",
        *(f"{n}: {v}" for n, v in story.service.headers(story.buyer_id).items()),
    ]
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((client.base_url.host, client.base_url.port))
        connection.sendall("\r\n".join([*lines, *([f"Last-Event-ID: {last}"] if last else []), "", ""]).encode())
        yield connection


def begins(connection):
    """Whether the answer has begun; it stays unread."""
    try:
        return connection.recv(15, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"HTTP/1.1 200 OK"
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


async def test_fifty_streams_hear_everything_beside_one_that_never_reads_and_that_one_is_cut_off(open_story):
    async with (
        open_story(feed_streams_max=60) as story,
        listening(story, send_buffer_bytes=4096) as client,
        AsyncExitStack() as stack,
    ):
        await story.project_people()
        streams = story.service.dependencies.feed_streams
        streams.slow_reader_seconds = 3600.0

        def is_open(count):
            return lambda: len(streams._by_user.get(story.buyer_id, ())) == count

        stack.enter_context(never_reading(story, client))
        await eventually(is_open(1))
        readers = [await stack.enter_async_context(following(story, client)) for _ in range(50)]
        now = story.service.runtime.clock.now()
        told = [str(row["id"]) for row in await story.service.fetch(_MANY_LINES, story.buyer_id, now, 40)]
        streams.wake(story.buyer_id)

        async def hear_all(events):
            return [(await events.next_told())["id"] for _ in told]

        assert await asyncio.gather(*(hear_all(events) for events in readers)) == [told] * 50
        # The one that does not read is waited for, and nobody waited for it.
        assert is_open(51)()
        streams.slow_reader_seconds = 1.0
        with never_reading(story, client, last=told[0]) as connection:
            await eventually(lambda: begins(connection))
            await eventually(is_open(51))


async def test_unread_lines_are_counted_filtered_and_read_up_to_what_was_seen(story):
    await story.project_people()
    for _ in range(3):
        await notify(story)
        story.service.runtime.clock.advance(timedelta(seconds=1))
    newest, middle, oldest = (await feed(story))["data"]
    client, headers = story.service.client, story.service.headers(story.buyer_id)
    assert await unread(story) == 3
    await client.post(f"/api/notifications/{middle['id']}/read", headers=headers)
    assert await unread(story) == 2
    page = await feed(story, unread="true", limit=1)
    assert [line["id"] for line in page["data"]] == [newest["id"]]
    rest = await feed(story, unread="true", limit=1, cursor=page["meta"]["next_cursor"])
    assert [line["id"] for line in rest["data"]] == [oldest["id"]]
    # A cursor of the unread ones is none of the whole list.
    assert "invalid_params" in await feed(story, limit=1, cursor=page["meta"]["next_cursor"])

    path = "/api/notifications/read-all"
    before = {"before": middle["createdAt"]}
    assert (await client.post(path, json=before, headers=headers)).json()["data"] == {"read": 1}
    assert (await client.post(path, json=before, headers=headers)).json()["data"] == {"read": 0}
    assert await unread(story) == 1
    for body in ({"before": "yesterday"}, {"all": True}):
        assert (await client.post(path, json=body, headers=headers)).status_code == 422
    assert (await client.post(path, headers=headers)).json()["data"] == {"read": 1}
    assert await unread(story) == 0
    # What was read before keeps its time.
    times = [line["readAt"] for line in (await feed(story))["data"]]
    assert len(set(times)) == 1
    assert (await client.post(path, headers=story.service.headers(story.owner_id))).json()["data"] == {"read": 0}


async def test_a_caller_sees_no_place_of_another_feed(story):
    await story.project_people()
    await notify(story)
    async with story.service.runtime.database.unit_of_work(acting_as=Caller(user_id=story.owner_id)) as uow:
        assert await uow.fetch("SELECT id FROM notifications") == []
