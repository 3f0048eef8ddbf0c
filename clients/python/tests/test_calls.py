"""Attempts, idempotency keys, errors, lists and connections over a real socket, with both clients."""

import asyncio
import json
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from campus_client import ApiError, AsyncCampus, Campus, CampusError, TransportError, errors, models
from testkit.lost_connections import losing_transport

from .conftest import INTENT, NEW_TOKENS, ORDER, SESSION, Connect
from .wire import LOST, Received, Reply, Server, enveloped, problem

LOCKED = problem(409, "ESCROW_LOCKED")


def campus_row(number: int) -> dict[str, Any]:
    return {
        "id": f"018cc251-f400-7001-8000-00000000000{number}", "name": f"Campus {number}", "domain": None,
        "active": True, "revision": 1, "createdAt": "2026-01-31T12:00:00.000Z",
    }  # fmt: skip


# Attempts


async def test_a_lost_response_is_retried_with_the_same_key_and_body(server: Server, connect: Connect) -> None:
    server.reply_with(LOST, problem(503, "INTERNAL_ERROR"), LOCKED, LOCKED)
    client = connect()
    for _ in range(2):
        with pytest.raises(errors.EscrowLockedError):
            await client.call(lambda campus: campus.payments.create_intent(INTENT))
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert len({request.body for request in server.requests}) == 1


async def test_a_key_of_the_caller_is_sent_and_returned_with_the_error(server: Server, connect: Connect) -> None:
    key = uuid4()
    server.reply_with(LOST)
    with pytest.raises(TransportError) as lost:
        await connect(retries=0).call(lambda campus: campus.payments.create_intent(INTENT, idempotency_key=key))
    server.reply_with(LOCKED)
    with pytest.raises(ApiError) as rejected:
        await connect().call(lambda campus: campus.payments.create_intent(INTENT, idempotency_key=key))
    assert {request.headers["idempotency-key"] for request in server.requests} == {str(key)}
    assert lost.value.idempotency_key == rejected.value.idempotency_key == key


@pytest.mark.parametrize(
    "replies",
    [
        (LOST, problem(401, "AUTH_TOKEN_EXPIRED"), LOST, LOST, LOST),
        (LOST, problem(401, "AUTH_TOKEN_EXPIRED"), problem(401, "AUTH_UNAUTHORIZED")),
        (LOST, problem(401, "AUTH_TOKEN_EXPIRED"), Reply(chunks=(b"<p>Sign in</p>",))),
        (Reply(chunks=(b"<p>Sign in</p>",)),),
    ],
)
async def test_every_error_of_a_call_has_its_key(server: Server, connect: Connect, replies: tuple[Reply, ...]) -> None:
    key = uuid4()
    server.reply_with(*replies, *[LOST] * 2)
    with pytest.raises(CampusError) as raised:
        await connect(tokens=SESSION).call(lambda campus: campus.payments.create_intent(INTENT, idempotency_key=key))
    assert raised.value.idempotency_key == key


@pytest.mark.parametrize("reply", [LOST, problem(503, "INTERNAL_ERROR")])
async def test_a_change_without_a_key_is_sent_once(server: Server, connect: Connect, reply: Reply) -> None:
    server.reply_with(reply)
    with pytest.raises(CampusError):
        await connect().call(lambda campus: campus.auth.enroll_factor())
    assert len(server.requests) == 1


async def test_a_change_of_a_revision_is_sent_once(server: Server, connect: Connect) -> None:
    server.reply_with(LOST)
    with pytest.raises(TransportError):
        await connect().call(lambda campus: campus.products.delete(ORDER, if_match=3))
    assert [request.headers["if-match"] for request in server.requests] == ['"3"']


async def test_a_rate_limit_is_waited_for_by_every_request(server: Server, connect: Connect) -> None:
    server.reply_with(problem(429, "RATE_LIMIT_EXCEEDED", retry_after=0), enveloped(NEW_TOKENS))
    tokens = await connect().call(lambda campus: campus.sign_in("buyer@unilag.edu.ng", "password"))
    assert tokens.access_token == "second"


async def test_staff_sign_in_with_both_factors_at_once(server: Server, connect: Connect) -> None:
    server.reply_with(enveloped(NEW_TOKENS), enveloped(NEW_TOKENS))
    await connect().call(lambda campus: campus.sign_in("maker@campus.example", "password", "123456"))
    assert [request.path for request in server.requests] == ["/api/auth/login", "/api/auth/mfa/verify"]


async def test_a_long_rate_limit_is_an_error_at_once(server: Server, connect: Connect) -> None:
    server.reply_with(problem(429, "RATE_LIMIT_EXCEEDED", retry_after=900))
    with pytest.raises(errors.RateLimitExceededError) as raised:
        await connect().call(lambda campus: campus.orders.get(ORDER))
    assert raised.value.retry_after_seconds == 900


async def test_a_key_in_progress_is_waited_for(server: Server, connect: Connect) -> None:
    server.reply_with(LOST, problem(409, "CONCURRENCY_CONFLICT", retry_after=0), LOCKED)
    with pytest.raises(errors.EscrowLockedError):
        await connect().call(lambda campus: campus.payments.create_intent(INTENT))


async def test_attempts_end_after_the_number_of_retries(server: Server, connect: Connect) -> None:
    server.reply_with(*[problem(503, "INTERNAL_ERROR")] * 4)
    with pytest.raises(errors.InternalError):
        await connect(retries=1).call(lambda campus: campus.orders.get(ORDER))
    with pytest.raises(errors.InternalError):
        await connect(retries=5).call(lambda campus: campus.orders.get(ORDER, retries=1))
    assert len(server.requests) == 4


async def test_a_time_out_of_one_call_is_an_error_of_the_client(server: Server, connect: Connect) -> None:
    finished = threading.Event()

    def reply(_request: Received) -> Reply:
        finished.wait()
        return LOST

    server.replies = reply
    try:
        with pytest.raises(errors.RequestTimeoutError):
            await connect().call(lambda campus: campus.orders.get(ORDER, timeout=0.01, retries=0))
    finally:
        finished.set()


async def test_an_unreachable_server_is_an_error_of_the_client(server: Server, connect: Connect) -> None:
    client = connect()
    client.campus._session._base_url = "http://127.0.0.1:1"
    with pytest.raises(TransportError):
        await client.call(lambda campus: campus.orders.get(ORDER))


async def test_an_upload_is_repeated_byte_for_byte(server: Server, connect: Connect, tmp_path: Path) -> None:
    image = b"\xff\xd8\xff" + b"image" * 100
    (tmp_path / "image").write_bytes(image)
    server.reply_with(LOST, LOCKED, LOCKED)
    client = connect()
    for upload in (image, tmp_path / "image"):
        with pytest.raises(errors.EscrowLockedError):
            await client.call(lambda campus, upload=upload: campus.products.add_image(ORDER, upload))
    first, second, other = server.requests
    assert first.body == second.body == other.body
    assert first.headers["content-type"] == second.headers["content-type"]
    assert image in first.body


@pytest.mark.parametrize("content", [b"%PDF-1.7", b"", b"\xff\xd8\xff" + bytes(5 * 1024 * 1024)])
async def test_a_file_that_is_no_image_is_not_sent(server: Server, connect: Connect, content: bytes) -> None:
    with pytest.raises(errors.UploadError):
        await connect().call(lambda campus: campus.products.add_image(ORDER, content))
    assert server.requests == []


# Errors and responses


async def test_an_error_has_the_fields_of_the_problem_document(server: Server, connect: Connect) -> None:
    fields = [{"name": "pin", "reason": "Six digits."}]
    server.reply_with(problem(400, "DELIVERY_PIN_INVALID", attemptsRemaining=3, invalid_params=fields, other="more"))
    with pytest.raises(errors.DeliveryPinInvalidError) as raised:
        await connect().call(
            lambda campus: campus.orders.verify_delivery(ORDER, models.VerifyDeliveryRequest(pin="000000"))
        )
    error = raised.value
    assert (error.status, error.code, error.detail) == (400, "DELIVERY_PIN_INVALID", "No.")
    assert (error.attempts_remaining, error.invalid_params, error.request_id) == (3, fields, "req_one")
    assert error.problem["other"] == "more"


async def test_an_error_page_of_a_proxy_is_an_error(server: Server, connect: Connect) -> None:
    server.reply_with(Reply(404, chunks=(b"<p>Not here</p>",)))
    with pytest.raises(ApiError) as raised:
        await connect().call(lambda campus: campus.orders.get(ORDER))
    assert (raised.value.status, raised.value.detail) == (404, "<p>Not here</p>")


@pytest.mark.parametrize("reply", [Reply(chunks=(b"<p>Sign in</p>",)), enveloped({"id": "?"}), Reply(chunks=(b"{}",))])
async def test_a_success_without_the_documented_content_is_an_error(
    server: Server, connect: Connect, reply: Reply
) -> None:
    server.reply_with(reply)
    with pytest.raises(errors.InvalidResponseError):
        await connect().call(lambda campus: campus.campuses.get(ORDER))


async def test_a_redirect_is_not_followed_with_the_token(server: Server, connect: Connect) -> None:
    server.reply_with(Reply(302, (("Location", "http://127.0.0.1:1/"),)))
    with pytest.raises(ApiError) as raised:
        await connect(tokens=SESSION).call(lambda campus: campus.orders.get(ORDER))
    assert raised.value.status == 302


async def test_a_call_returns_its_response_on_request(server: Server, connect: Connect) -> None:
    server.replies = lambda request: enveloped(campus_row(int(request.path[-1])), requestId=f"req_{request.path[-1]}")
    client = connect()
    ids = [UUID(int=number) for number in range(1, 6)]
    responses = await asyncio.gather(
        *(client.call(lambda campus, id_=id_: campus.with_response(campus.campuses.get, id_)) for id_ in ids)
    )
    for number, response in enumerate(responses, start=1):
        assert response.data.name == f"Campus {number}"
        assert (response.status, response.meta["requestId"]) == (200, f"req_{number}")
        assert response.headers["content-type"] == "application/json"
        assert json.loads(response.content)["data"]["name"] == f"Campus {number}"


async def test_any_path_can_be_requested(server: Server, connect: Connect) -> None:
    key = uuid4()
    server.reply_with(Reply(chunks=(b"key,label\r\n",)), enveloped({}))
    client = connect(tokens=SESSION)
    sales = await client.call(
        lambda campus: campus.request("GET", "/api/sales", query={"groupBy": "day"}, headers={"Accept": "text/csv"})
    )
    await client.call(lambda campus: campus.request("POST", "/api/new", json={"a": 1}, idempotency_key=key))
    first, second = server.requests
    assert sales.text == "key,label\r\n"
    assert (first.token, first.query, first.headers["accept"]) == ("first", {"groupBy": "day"}, "text/csv")
    assert (second.body, second.headers["idempotency-key"]) == (b'{"a": 1}', str(key))


async def test_times_are_datetimes_in_both_directions(server: Server, connect: Connect) -> None:
    server.reply_with(enveloped([], page=1, limit=20, total=0, total_pages=0), enveloped(campus_row(1)))
    client = connect()
    lagos = timezone(timedelta(hours=1))
    await client.call(lambda campus: campus.orders.list_by_campus(from_=datetime(2026, 1, 31, 13, tzinfo=lagos)))
    campus = await client.call(lambda campus: campus.campuses.get(ORDER))
    assert server.requests[0].query["from"] == "2026-01-31T12:00:00Z"
    assert campus.created_at == datetime(2026, 1, 31, 12, tzinfo=UTC)


async def test_fields_that_are_not_set_are_not_sent(server: Server, connect: Connect) -> None:
    server.reply_with(LOCKED, LOCKED)
    client = connect()
    for request in (models.UpdateProfileRequest(full_name="Ada"), models.UpdateProfileRequest(phone=None)):
        with pytest.raises(ApiError):
            await client.call(lambda campus, request=request: campus.profiles.update_current(request))
    assert [json.loads(request.body) for request in server.requests] == [{"fullName": "Ada"}, {"phone": None}]


# Lists


CURSOR_PAGES = (
    enveloped([campus_row(1)], next_cursor="more", has_more=True, limit=1),
    enveloped([], next_cursor="still", has_more=True, limit=1),
    enveloped([campus_row(2)], next_cursor=None, has_more=False, limit=1),
)


async def test_a_list_with_cursors_is_read_to_its_end(server: Server, connect: Connect) -> None:
    server.reply_with(*CURSOR_PAGES)
    found = await connect().items(lambda campus: campus.campuses.list(limit=1))
    assert [campus.name for campus in found] == ["Campus 1", "Campus 2"]
    assert [request.query for request in server.requests] == [
        {"limit": "1"},
        {"limit": "1", "cursor": "more"},
        {"limit": "1", "cursor": "still"},
    ]


async def test_a_list_with_page_numbers_is_read_to_its_end(server: Server, connect: Connect) -> None:
    finding = {"id": str(ORDER), "startedAt": META_TIME, "finishedAt": META_TIME, "verdict": "clean"}
    row = finding | {"gatewayCompared": True, "gatewayReason": None, "findings": []}
    server.reply_with(*(enveloped([row], page=page, limit=1, total=2, total_pages=2) for page in (1, 2)))
    found = await connect().items(lambda campus: campus.audits.list(verdict="clean", limit=1))
    assert len(found) == 2
    assert [request.query.get("page") for request in server.requests] == [None, "2"]
    assert {request.query["verdict"] for request in server.requests} == {"clean"}


META_TIME = "2026-01-31T12:00:00.000Z"


async def test_pages_are_read_one_by_one(server: Server, connect: Connect) -> None:
    server.reply_with(*CURSOR_PAGES)
    client = connect()
    page = await client.call(lambda campus: campus.campuses.list(limit=1))
    assert (len(page.items), page.has_next, page.meta.next_cursor) == (1, True, "more")
    page = await client.call(lambda _campus, page=page: page.next())
    page = await client.call(lambda _campus, page=page: page.next())
    assert (len(page.items), page.has_next) == (1, False)
    assert await client.call(lambda _campus, page=page: page.next()) is None


# Connections


async def test_a_client_closes_the_connections_that_it_opened(server: Server) -> None:
    server.replies = lambda _request: enveloped([])

    def play() -> Campus:
        with Campus(server.base_url) as campus:
            campus.auth.list_factors()
        return campus

    blocking = await asyncio.to_thread(play)
    async with AsyncCampus(server.base_url) as asynchronous:
        await asynchronous.auth.list_factors()
    assert blocking._http.is_closed
    assert asynchronous._http.is_closed


async def test_a_client_leaves_the_httpx_client_of_its_caller_open(server: Server) -> None:
    async with httpx.AsyncClient() as http:
        async with AsyncCampus(server.base_url, http=http):
            pass
        assert not http.is_closed


async def test_a_connection_that_is_lost_before_its_first_use_is_a_transport_error(server: Server) -> None:
    async with (
        httpx.AsyncClient(transport=losing_transport()) as http,
        AsyncCampus(server.base_url, http=http, retries=0) as campus,
    ):
        with pytest.raises(TransportError, match="as soon as it was open"):
            await campus.auth.list_factors()
