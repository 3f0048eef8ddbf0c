"""Server-sent events over a real socket, with both clients."""

import json

import pytest

from campus_client import Tokens, TransportError, errors, models

from .conftest import NEW_TOKENS, Connect
from .wire import Server, enveloped, event_stream, problem

CHAT = models.ChatRequest(message="Where is my order?")


def notification(number: int) -> str:
    item = {
        "id": f"018f2a6b-5c1d-7e4a-9b3f-00000000000{number}", "template": "order_dispatched",
        "title": f"Title {number}",
        "body": "On its way.", "subject": None, "readAt": None, "createdAt": "2026-01-31T12:00:00.000Z",
    }  # fmt: skip
    return f"event: notification\nid: {number}\ndata: {json.dumps(item)}\n\n"


async def test_a_broken_stream_continues_after_its_last_whole_event(server: Server, connect: Connect) -> None:
    first, second, third = (notification(number) for number in (1, 2, 3))
    server.reply_with(
        event_stream("retry: 0\n\n: ping\n\n" + first[:20], first[20:] + second[:60], is_cut=True),
        problem(503, "INTERNAL_ERROR"),
        event_stream(second, third),
    )
    events = await connect(retries=0).first_items(lambda campus: campus.notifications.stream(), 3)
    assert [(event.event, event.id, event.data.title) for event in events] == [
        ("notification", "1", "Title 1"),
        ("notification", "2", "Title 2"),
        ("notification", "3", "Title 3"),
    ]
    assert [request.headers.get("last-event-id") for request in server.requests] == [None, "1", "1"]
    assert {request.headers["accept"] for request in server.requests} == {"text/event-stream"}


async def test_a_stream_that_broke_before_its_first_event_misses_nothing(server: Server, connect: Connect) -> None:
    server.reply_with(event_stream("retry: 0\nid: 7\n\nid: 8\n", is_cut=True), event_stream(notification(8)))
    events = await connect().first_items(lambda campus: campus.notifications.stream(), 1)
    assert [event.id for event in events] == ["8"]
    assert [request.headers.get("last-event-id") for request in server.requests] == [None, "7"]


async def test_a_stream_that_ended_with_its_token_continues_with_a_new_one(server: Server, connect: Connect) -> None:
    opened = []
    server.reply_with(
        event_stream(notification(1)),
        problem(401, "AUTH_TOKEN_EXPIRED"),
        enveloped(NEW_TOKENS),
        event_stream(notification(2)),
    )
    client = connect(tokens=Tokens("first", "first-refresh"))
    events = await client.first_items(lambda campus: campus.notifications.stream(on_open=lambda: opened.append(1)), 2)
    assert [event.id for event in events] == ["1", "2"]
    assert [request.token for request in server.requests] == ["first", "first", "", "second"]
    assert len(opened) == 2


async def test_a_stream_can_continue_an_earlier_one(server: Server, connect: Connect) -> None:
    server.reply_with(event_stream(notification(6)))
    await connect().first_items(lambda campus: campus.notifications.stream(last_event_id="5"), 1)
    assert server.requests[0].headers["last-event-id"] == "5"


async def test_a_rejected_stream_is_an_error(server: Server, connect: Connect) -> None:
    server.reply_with(problem(422, "VALIDATION_FAILED"), event_stream(notification(1)), problem(403, "AUTH_FORBIDDEN"))
    client = connect()
    with pytest.raises(errors.ValidationFailedError):
        await client.items(lambda campus: campus.notifications.stream())
    with pytest.raises(errors.AuthForbiddenError):
        await client.items(lambda campus: campus.notifications.stream())


async def test_a_reply_of_the_assistant_is_streamed_to_its_end(server: Server, connect: Connect) -> None:
    done = {"conversationId": "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47", "provider": "built-in"}
    server.reply_with(
        event_stream('event: token\ndata: {"text": "On its"}\n\nevent: token\ndata: {"text": " way."}\n\n',
                     f"event: done\ndata: {json.dumps(done)}\n\n")
    )  # fmt: skip
    events = await connect().items(lambda campus: campus.assistant.stream(CHAT))
    assert "".join(event.data.text for event in events[:2]) == "On its way."
    assert events[2].data.provider == "built-in"


async def test_a_broken_reply_of_the_assistant_is_not_repeated(server: Server, connect: Connect) -> None:
    server.reply_with(event_stream('event: token\ndata: {"text": "On its"}\n\n', is_cut=True))
    with pytest.raises(TransportError):
        await connect().items(lambda campus: campus.assistant.stream(CHAT))
    assert len(server.requests) == 1


async def test_an_error_event_is_an_error_with_its_problem(server: Server, connect: Connect) -> None:
    document = {"status": 503, "code": "INTERNAL_ERROR", "detail": "The model is unavailable.", "requestId": "req_one"}
    server.reply_with(event_stream(f"event: error\ndata: {json.dumps(document)}\n\n"))
    with pytest.raises(errors.InternalError) as raised:
        await connect().items(lambda campus: campus.assistant.stream(CHAT))
    assert (raised.value.status, raised.value.detail) == (503, "The model is unavailable.")
