"""API keys at the edge: exchanged for a token of identity, cached for some seconds, counted by key (decision 201)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from common.auth.api_keys import KEY_AUDIENCE, KEY_TOKEN_PATH, new_api_key
from common.primitives.clock import iso
from common.primitives.ids import new_id

from .conftest import GatewayApp, OpenGateway, problem_of


def give_token(app: GatewayApp, key_id: UUID, *, scope: str = "shop_orders:read", seconds: int = 3_600) -> str:
    """Let identity exchange every key for this token."""
    token = app.issuer.token(key_id, vendor_id=new_id(), aud=KEY_AUDIENCE, scope=scope)
    expires_at = iso(datetime.now(UTC) + timedelta(seconds=seconds))
    app.upstream.response = (200, {"data": {"token": token, "expiresAt": expires_at}})
    return token


def refuse_keys(app: GatewayApp) -> None:
    app.upstream.response = (200, {"data": {"token": None, "expiresAt": None}})


def paths_of(app: GatewayApp) -> list[str]:
    return [seen["path"] for seen in app.upstream.seen]


async def get(app: GatewayApp, key: str, path: str = "/api/orders", **headers: str) -> httpx.Response:
    return await app.client.get(path, headers={"Authorization": f"Bearer {key}", **headers})


async def test_a_key_is_exchanged_once_and_reaches_no_other_service(app: GatewayApp) -> None:
    key, token = new_api_key(), give_token(app, new_id())
    for _ in range(2):
        assert (await get(app, key)).status_code == 200
    assert paths_of(app) == [KEY_TOKEN_PATH, "/api/orders", "/api/orders"]
    exchanged, forwarded, _ = app.upstream.seen
    assert json.loads(exchanged["body"]) == {"key": key}
    assert exchanged["headers"]["x-client-address"] == "127.0.0.1"
    assert forwarded["headers"]["authorization"] == f"Bearer {token}"
    assert key not in str(forwarded)


async def test_an_expired_key_is_exchanged_again(app: GatewayApp) -> None:
    key = new_api_key()
    give_token(app, new_id(), seconds=-1)
    for _ in range(2):
        await get(app, key)
    assert paths_of(app).count(KEY_TOKEN_PATH) == 2


@pytest.mark.parametrize("key", ["cm_live_", "cm_live_" + "A" * 38, "cm_live_" + "A" * 39])
async def test_a_malformed_key_is_refused_without_a_lookup(app: GatewayApp, key: str) -> None:
    problem = problem_of(await get(app, key))
    assert (problem["status"], problem["code"]) == (401, "AUTH_UNAUTHORIZED")
    assert app.upstream.seen == []


async def test_a_refused_key_gets_the_error_of_a_wrong_token(app: GatewayApp) -> None:
    refuse_keys(app)
    refused, wrong = problem_of(await get(app, new_api_key())), problem_of(await get(app, "wrong"))
    names = ("type", "title", "detail", "code", "status")
    assert [refused[name] for name in names] == [wrong[name] for name in names]
    assert paths_of(app) == [KEY_TOKEN_PATH]


async def test_a_revoked_key_is_refused_before_its_cached_token_ends(app: GatewayApp) -> None:
    key, key_id = new_api_key(), new_id()
    give_token(app, key_id)
    assert (await get(app, key)).status_code == 200
    app.runtime.verifier.revocations.add(key_id, key_id, datetime.now(UTC))
    assert problem_of(await get(app, key))["status"] == 401


async def test_a_failing_identity_service_is_503(app: GatewayApp) -> None:
    app.upstream.response = (500, {})
    assert problem_of(await get(app, new_api_key()))["status"] == 503


async def test_a_key_has_a_quota_of_its_own(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_api_keys=2)
    key = new_api_key()
    give_token(app, new_id())
    responses: list[Any] = [await get(app, key) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert responses[0].headers["ratelimit-policy"].startswith('"keys";q=2')
