"""Every row of the contract's table on Idempotency-Key (section 3)."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from testkit.databases import DatabaseUrls
from testkit.fixtures import eventually

from .conftest import GatewayApp, OpenGateway, problem_of

CHECKOUT = "/api/orders/checkout"
BODY = {"items": [{"productId": str(uuid4()), "quantity": 1}]}


async def post(
    app: GatewayApp, user: UUID, key: object | None, *, path: str = CHECKOUT, body: Any = BODY, **claims: Any
) -> httpx.Response:
    headers = app.bearer(user, **claims)
    if key is not None:
        headers["Idempotency-Key"] = str(key)
    return await app.client.post(path, json=body, headers=headers)


async def rows(app: GatewayApp, user: UUID) -> list[Any]:
    async with app.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await uow.fetch("SELECT * FROM idempotency_records WHERE caller_id = $1", user)


@pytest.mark.parametrize("key", [None, "", "abc", "018cc251-f400-7004-8000-00000000000a"])
async def test_a_key_that_is_absent_or_no_uuid_v4_is_422_where_one_is_required(app: GatewayApp, key: object) -> None:
    response = await post(app, new_id(), key)
    assert response.status_code == 422
    problem = problem_of(response)
    assert problem["code"] == "VALIDATION_FAILED"
    assert [param["name"] for param in problem["invalid_params"]] == ["Idempotency-Key"]
    assert not app.upstream.seen


async def test_where_a_key_is_accepted_none_is_needed_and_a_bad_one_is_rejected(app: GatewayApp) -> None:
    cancel = f"/api/orders/{uuid4()}/cancel"
    user = new_id()
    assert (await post(app, user, None, path=cancel)).status_code == 201
    assert (await post(app, user, "abc", path=cancel)).status_code == 422
    key = uuid4()
    assert (await post(app, user, key, path=cancel)).status_code == 201
    assert (await post(app, user, key, path=cancel)).headers["x-cache-lookup"] == "HIT"


@pytest.mark.parametrize(
    "path",
    ["/api/auth/login", "/api/orders/018cc251-f400-7004-8000-00000000000b/delivery-pin/reissue", "/api/auth/logout"],
)
async def test_where_responses_hold_secrets_a_key_is_ignored(app: GatewayApp, path: str) -> None:
    user, key = new_id(), uuid4()
    for _ in range(2):
        response = await post(app, user, key, path=path)
        assert response.status_code == 201
        assert "x-cache-lookup" not in response.headers
    assert len(app.upstream.seen) == 2
    assert await rows(app, user) == []


async def test_the_same_request_again_gets_the_stored_bytes_with_headers_of_its_own(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    app.upstream.response = (201, {"data": {"id": 1}, "meta": {"requestId": "req_of_the_first"}})
    first = await post(app, user, key)
    app.upstream.response = (500, {})
    again = await post(app, user, str(key).upper())
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.headers["x-cache-lookup"] == "HIT"
    assert "x-cache-lookup" not in first.headers
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert int(again.headers["ratelimit-remaining"]) == int(first.headers["ratelimit-remaining"]) - 1
    assert len(app.upstream.seen) == 1
    assert app.upstream.last["headers"]["idempotency-key"] == str(key)


RELEASE = f"/api/orders/{uuid4()}/release"
CHECKER = {"roles": ("finance_checker",), "stepped_up": True}


def _second_factor_shown(ago: timedelta) -> list[dict[str, Any]]:
    shown_at = int((datetime.now(UTC) - ago).timestamp())
    return [{"method": method, "timestamp": shown_at} for method in ("password", "totp")]


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({**CHECKER, "stepped_up": False}, "AUTH_AAL2_REQUIRED"),
        ({**CHECKER, "amr": _second_factor_shown(timedelta(minutes=16))}, "AUTH_AAL2_REQUIRED"),
        ({"roles": ("buyer",), "stepped_up": True}, "AUTH_FORBIDDEN"),
        ({"roles": ("finance_maker",), "stepped_up": True}, "AUTH_FORBIDDEN"),
    ],
)
async def test_a_stored_response_is_replayed_only_to_admitted_callers(
    app: GatewayApp, claims: dict[str, Any], code: str
) -> None:
    user, key = new_id(), uuid4()
    app.upstream.response = (200, {"data": {"releasedMinor": 1}})
    first = await post(app, user, key, path=RELEASE, **CHECKER)
    assert first.status_code == 200
    for path in (RELEASE, RELEASE.replace("/api/", "/api/v1/")):
        refused = await post(app, user, key, path=path, **claims)
        assert (refused.status_code, problem_of(refused)["code"]) == (403, code)
        assert "x-cache-lookup" not in refused.headers
    again = await post(app, user, key, path=RELEASE, **CHECKER)
    assert (again.content, again.headers["x-cache-lookup"]) == (first.content, "HIT")
    assert len(app.upstream.seen) == 1


async def test_staff_need_a_second_factor_for_a_replay_where_the_vendor_does_not(app: GatewayApp) -> None:
    for role, stepped_up, status in (
        ("merchant", False, 201),
        ("campus_admin", True, 201),
        ("campus_admin", False, 403),
    ):
        user, key = new_id(), uuid4()
        await post(app, user, key, path="/api/flash-sales", roles=(role,), stepped_up=True)
        again = await post(app, user, key, path="/api/flash-sales", roles=(role,), stepped_up=stepped_up)
        assert again.status_code == status, (role, stepped_up)


async def test_the_version_prefix_is_the_same_request(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    await post(app, user, key)
    assert (await post(app, user, key, path="/api/v1/orders/checkout")).headers["x-cache-lookup"] == "HIT"


async def test_while_the_first_runs_the_key_is_409_with_a_time_to_wait(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    app.upstream.gate.clear()
    first = asyncio.create_task(post(app, user, key))
    await eventually(lambda: app.upstream.seen)
    second = await post(app, user, key)
    assert (second.status_code, problem_of(second)["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert "already in progress" in problem_of(second)["detail"]
    assert int(second.headers["retry-after"]) >= 1
    app.upstream.gate.set()
    assert (await first).status_code == 201
    assert (await post(app, user, key)).headers["x-cache-lookup"] == "HIT"
    assert len(app.upstream.seen) == 1


async def test_another_path_query_or_body_under_the_same_key_is_422(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    await post(app, user, key)
    for path, body in (
        (CHECKOUT, BODY | {"deliveryNote": "x"}),
        (CHECKOUT + "?a=1", BODY),
        (f"/api/orders/{uuid4()}/cancel", BODY),
    ):
        response = await post(app, user, key, path=path, body=body)
        assert response.status_code == 422
        assert problem_of(response)["invalid_params"][0]["name"] == "Idempotency-Key"
    assert len(app.upstream.seen) == 1


async def test_the_key_of_another_caller_is_unknown(app: GatewayApp) -> None:
    key = uuid4()
    for _ in range(2):
        response = await post(app, new_id(), key)
        assert "x-cache-lookup" not in response.headers
    assert len(app.upstream.seen) == 2


@pytest.mark.parametrize("status", [200, 201, 400, 422, 423])
async def test_final_responses_are_stored(app: GatewayApp, status: int) -> None:
    user, key = new_id(), uuid4()
    app.upstream.response = (status, {"code": "X"})
    await post(app, user, key)
    again = await post(app, user, key)
    assert (again.status_code, again.headers.get("x-cache-lookup")) == (status, "HIT")
    assert len(app.upstream.seen) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 409, 429, 500, 503])
async def test_responses_that_a_later_try_may_change_are_not_stored(app: GatewayApp, status: int) -> None:
    user, key = new_id(), uuid4()
    app.upstream.response = (status, {"code": "X"})
    assert (await post(app, user, key)).status_code == status
    app.upstream.response = (201, {})
    again = await post(app, user, key)
    assert (again.status_code, again.headers.get("x-cache-lookup")) == (201, None)


async def test_a_429_and_a_401_burn_no_key(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_2=1)
    user, key = new_id(), uuid4()
    await app.client.get("/api/orders", headers=app.bearer(user))
    assert (await post(app, user, key)).status_code == 429
    refused = await app.client.post(
        CHECKOUT, json=BODY, headers={"Authorization": "Bearer x", "Idempotency-Key": str(key)}
    )
    assert refused.status_code == 401
    assert await rows(app, user) == []


async def test_the_key_is_stored_only_as_a_hash(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    await post(app, user, key)
    kept = repr([tuple(row) for row in await rows(app, user)])
    for form in (str(key), key.hex, repr(key.bytes)[2:-1]):
        assert form not in kept


async def test_of_twenty_at_once_one_runs(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    results = await asyncio.gather(*(post(app, user, key) for _ in range(20)))
    statuses = [response.status_code for response in results]
    assert len(app.upstream.seen) == 1
    assert set(statuses) <= {201, 409}
    fresh = [
        response for response in results if response.status_code == 201 and "x-cache-lookup" not in response.headers
    ]
    assert len(fresh) == 1


async def test_two_gateways_share_their_records(open_gateway: OpenGateway) -> None:
    one, other = await open_gateway(), await open_gateway()
    user, key = new_id(), uuid4()
    await post(one, user, key)
    assert (await post(other, user, key)).headers["x-cache-lookup"] == "HIT"


async def test_a_client_disconnect_does_not_stop_the_operation(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    app.upstream.gate.clear()
    with pytest.raises(httpx.ReadTimeout):
        await app.client.post(
            CHECKOUT, json=BODY, headers=app.bearer(user) | {"Idempotency-Key": str(key)}, timeout=0.8
        )
    assert (await post(app, user, key)).status_code == 409
    app.upstream.gate.set()

    async def stored() -> bool:
        return (await post(app, user, key)).headers.get("x-cache-lookup") == "HIT"

    assert await eventually(stored)
    assert len(app.upstream.seen) == 1


async def test_a_service_that_could_not_be_reached_frees_the_key(open_gateway: OpenGateway, app: GatewayApp) -> None:
    unavailable = await open_gateway(upstream_url="http://127.0.0.1:9")
    user, key = new_id(), uuid4()
    assert (await post(unavailable, user, key)).status_code == 503
    assert (await post(app, user, key)).status_code == 201


async def test_an_empty_response_is_replayed(app: GatewayApp) -> None:
    user, key = new_id(), uuid4()
    app.upstream.response = (200, "")
    first, again = await post(app, user, key), await post(app, user, key)
    assert json.loads(first.content) == json.loads(again.content) == ""


IMAGE = random.Random(7).randbytes(5 * 1024 * 1024)


def form(image: bytes, boundary: str) -> bytes:
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="cap.png"\r\nContent-Type: '
        "image/png\r\n\r\n"
    )
    return head.encode() + image + f"\r\n--{boundary}--\r\n".encode()


async def send_image(
    app: GatewayApp, user: UUID, key: UUID, url: str, body: bytes, boundary: str, *, in_pieces: bool = False
) -> httpx.Response:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 100_001):
            yield body[start : start + 100_001]

    headers = {
        **app.bearer(user, roles=("merchant",)),
        "Idempotency-Key": str(key),
        "Content-Type": f"multipart/form-data; boundary={boundary}",
    }
    return await app.client.post(url, content=pieces() if in_pieces else body, headers=headers)


@pytest.mark.parametrize("in_pieces", [False, True])
async def test_an_image_with_a_key_is_stored_once(app: GatewayApp, in_pieces: bool) -> None:
    """Each attempt of a client has a new boundary around the same file: it is the same request. Another file is not."""
    user, key, url = new_id(), uuid4(), f"/api/products/{uuid4()}/images"
    app.upstream.response = (201, {"data": {"id": 1}})
    first = await send_image(app, user, key, url, form(IMAGE, "a1b2"), "a1b2", in_pieces=in_pieces)
    assert first.status_code == 201, first.text
    assert app.upstream.last["body"] == form(IMAGE, "a1b2")
    for boundary in ("a1b2", '"c3 d4"'):
        body = form(IMAGE, boundary.strip('"'))
        again = await send_image(app, user, key, url, body, boundary, in_pieces=in_pieces)
        assert (again.status_code, again.content, again.headers["x-cache-lookup"]) == (201, first.content, "HIT")
    other = form(IMAGE[:-1] + b"x", "a1b2")
    for sent_to, body in ((url, other), (f"/api/products/{uuid4()}/images", form(IMAGE, "a1b2"))):
        refused = problem_of(await send_image(app, user, key, sent_to, body, "a1b2", in_pieces=in_pieces))
        assert (refused["status"], refused["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    assert len(app.upstream.seen) == 1


async def test_an_image_too_large_or_with_its_key_in_progress_reaches_no_service_again(app: GatewayApp) -> None:
    user, key, url = new_id(), uuid4(), f"/api/products/{uuid4()}/images"
    app.upstream.gate.clear()
    running = asyncio.create_task(send_image(app, user, key, url, form(IMAGE, "a"), "a"))
    await eventually(lambda: len(app.upstream.seen) == 1)
    refused = await send_image(app, user, key, url, form(IMAGE, "b"), "b")
    assert (problem_of(refused)["status"], refused.headers["retry-after"].isdigit()) == (409, True)
    app.upstream.gate.set()
    assert (await running).status_code == 201
    body = form(IMAGE + b"x" * 8_192, "a")
    for in_pieces in (False, True):
        refused = await send_image(app, user, uuid4(), url, body, "a", in_pieces=in_pieces)
        assert problem_of(refused)["status"] == 413
    assert len(app.upstream.seen) == 1


async def test_a_form_without_a_boundary_is_compared_byte_by_byte(app: GatewayApp) -> None:
    """A malformed part is rejected by the service, once."""
    user, key, url = new_id(), uuid4(), f"/api/products/{uuid4()}/images"
    app.upstream.response = (422, {"code": "VALIDATION_FAILED"})
    headers = {
        **app.bearer(user, roles=("merchant",)),
        "Idempotency-Key": str(key),
        "Content-Type": "multipart/form-data",
    }
    results = [await app.client.post(url, content=b"--a", headers=headers) for _ in range(2)]
    assert [response.status_code for response in results] == [422, 422]
    assert [response.headers.get("x-cache-lookup") for response in results] == [None, "HIT"]
    other = await app.client.post(url, content=b"--b", headers=headers)
    assert problem_of(other)["invalid_params"][0]["name"] == "Idempotency-Key"


# Fires within the commit, before it is written.
NOTE_COMMITS = """
CREATE TABLE commits (caller_id uuid, chosen_by text);
GRANT INSERT ON commits TO PUBLIC;
CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO commits SELECT NEW.caller_id, source FROM pg_settings WHERE name = 'synchronous_commit';
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER note_commits AFTER INSERT OR UPDATE ON idempotency_records
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_commit()
"""


async def test_only_where_the_service_binds_the_key_no_commit_waits_for_the_disk(
    app: GatewayApp, module_urls: DatabaseUrls
) -> None:
    owner = await asyncpg.connect(module_urls.owner)
    try:
        await owner.execute(NOTE_COMMITS)
        bound, accepted = new_id(), new_id()
        await post(app, bound, uuid4())
        await post(app, accepted, uuid4(), path=f"/api/orders/{uuid4()}/cancel")
        noted = await owner.fetch("SELECT caller_id, array_agg(chosen_by) FROM commits GROUP BY caller_id")
        await owner.execute("DROP TRIGGER note_commits ON idempotency_records; DROP TABLE commits")
    finally:
        await owner.close()
    chosen = {caller_id: set(sources) for caller_id, sources in noted}
    assert chosen[bound] == {"session"}
    assert "session" not in chosen[accepted]
