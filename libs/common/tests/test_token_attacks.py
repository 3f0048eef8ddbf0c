"""A forged, malformed or expired token is unauthorized; keys are fetched seldom and survive an outage."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN
from common.auth.tokens import TokenVerifier
from common.auth.verification_keys import KeySet
from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.primitives.clock import ManualClock
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, create_app, ok
from common.web.http_context import HttpContext
from common.web.request_scope import RequestScope
from testkit.cases import for_each
from testkit.fixtures import PATIENT

from .forging import (
    OUR_ISSUER,
    SECONDS,
    SESSION,
    USER,
    KeyServer,
    clock_of_now,
    key_server,
    our_claims,
    token_of,
    without,
)
from .token_forgeries import EC, ED, FOREIGN_KEY, FORMS, KEYS, ed, es, signed_as


@dataclass
class Api:
    client: httpx.AsyncClient
    clock: ManualClock
    verifier: TokenVerifier
    server: KeyServer

    async def knock(self, authorization: Any) -> tuple[int, str | None, str]:
        headers = [("Authorization", value) for value in authorization] if isinstance(authorization, list) else None
        response = await self.client.get("/closed", headers=headers or {"Authorization": authorization})
        return response.status_code, response.json().get("code"), response.headers["content-type"]


@pytest_asyncio.fixture(loop_scope="session")
async def api() -> AsyncIterator[Api]:
    """Yield an endpoint of its own, whose clock and keys a test may change."""
    async with open_api() as api:
        yield api


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def common_api() -> AsyncIterator[Api]:
    """One endpoint for all tests that only call it."""
    async with open_api() as api:
        yield api


@asynccontextmanager
async def open_api() -> AsyncIterator[Api]:
    endpoint = Endpoints("test")

    @endpoint("GET", "/closed", allow=SIGNED_IN)
    async def closed(request: Request, caller: CurrentCaller) -> Response:
        return ok(request, {"userId": caller.id, "sessionId": caller.session_id})

    async with key_server() as server:
        server.sets["ours"] = KEYS.jwks()
        clock = clock_of_now()
        verifier = TokenVerifier(
            KeySet(server.url("ours"), clock, seconds_max=PATIENT.identity), issuer=OUR_ISSUER, clock=clock
        )
        app = create_app(
            title="test", endpoints=[endpoint], context=HttpContext(verifier, clock, OUR_ISSUER), dependencies=None
        )
        transport = httpx.ASGITransport(app=RequestScope(app), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            yield Api(client, clock, verifier, server)


@for_each("form", FORMS)
async def test_a_forged_token_is_unauthorized(common_api: Api, form: str) -> None:
    forged = FORMS[form]().encode()
    assert await common_api.knock(b"Bearer " + forged) == (401, "AUTH_UNAUTHORIZED", "application/problem+json")
    assert set(common_api.server.visits) <= {"ours"}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic abc",
        "bearer",
        f"Token {ed()}",
        f"Bearer  {ed()}",
        f"Bearer {ed()} x",
        f"Bearer\t{ed()}",
        ed(),
        f"Bearer,{ed()}",
        f"Bearer {ed()}, Bearer {ed()}",
        f'Bearer "{ed()}"',
    ],
)
async def test_a_malformed_header_is_unauthorized(common_api: Api, header: str) -> None:
    assert (await common_api.knock(header))[:2] == (401, "AUTH_UNAUTHORIZED")


async def test_two_authorization_headers_are_rejected(common_api: Api) -> None:
    good, forged = f"Bearer {ed()}", f"Bearer {signed_as(ED, FOREIGN_KEY.sign)}"
    for pair in ([good, forged], [forged, good], [good, good]):
        assert (await common_api.knock(pair))[:2] == (401, "AUTH_UNAUTHORIZED")


@pytest.mark.parametrize(
    ("form", "good"),
    {
        "EdDSA": ed(),
        "ES256": es(),
        "typ in lower case": ed({**ED, "typ": "jwt"}),
        "typ of an access token": ed({**ED, "typ": "application/at+jwt"}),
        "no typ": ed(without(ED, "typ")),
        "an upper-case user": ed(sub=USER.upper()),
        "aud a list of ours": ed(aud=["campus-marketplace"]),
        "a header that says nothing to us": ed({**ED, "nonce": "x"}),
        "a claim that says nothing to us": ed(name="Tola"),
        "within the leeway of its end": ed(iat=SECONDS - 900, exp=SECONDS - 29),
        "within the leeway of its beginning": ed(iat=SECONDS + 30, nbf=SECONDS + 30),
    }.items(),
)
async def test_a_valid_token_is_accepted_in_every_allowed_form(common_api: Api, form: str, good: str) -> None:
    for scheme in ("Bearer", "bearer", "BEARER"):
        response = await common_api.client.get("/closed", headers={"Authorization": f"{scheme} {good}"})
        assert (response.status_code, response.json()["data"]) == (200, {"userId": USER, "sessionId": SESSION})


async def test_only_an_otherwise_valid_token_is_reported_as_expired(api: Api) -> None:
    expired = ed(iat=SECONDS - 1_000, exp=SECONDS - 100)
    assert (await api.knock(f"Bearer {expired}"))[:2] == (401, "AUTH_TOKEN_EXPIRED")
    good = ed()
    assert (await api.knock(f"Bearer {good}"))[0] == 200
    api.clock.advance(timedelta(seconds=929))
    assert (await api.knock(f"Bearer {good}"))[0] == 200
    api.clock.advance(timedelta(seconds=1))
    assert (await api.knock(f"Bearer {good}"))[:2] == (401, "AUTH_TOKEN_EXPIRED")


async def test_a_step_up_needs_a_second_factor_of_the_past(api: Api) -> None:
    totp, password = {"method": "totp", "timestamp": SECONDS}, {"method": "password", "timestamp": SECONDS}
    sent = {
        "aal2 by totp": (ed(aal="aal2", amr=[password, totp]), True),
        "aal1 with totp": (ed(aal="aal1", amr=[password, totp]), False),
        "aal2 by a password": (ed(aal="aal2", amr=[password]), False),
        "aal2 by a code by mail": (ed(aal="aal2", amr=[{"method": "otp", "timestamp": SECONDS}]), False),
        "aal2 by nothing": (ed(aal="aal2", amr=[]), False),
        "aal2 of tomorrow": (ed(aal="aal2", amr=[{"method": "totp", "timestamp": SECONDS + 86_400}]), False),
    }
    for case, (token, expected) in sent.items():
        caller = await api.verifier.caller_of(token)
        assert (case, caller.stepped_up_at is not None) == (case, expected)


async def test_tokens_of_the_previous_signing_key_are_counted(api: Api) -> None:
    counter = PREVIOUS_KEY_ACCEPTED.labels("jwt-signing-keys")

    async def counted(token: str) -> float:
        before = counter._value.get()
        assert (await api.knock(f"Bearer {token}"))[0] == 200
        return float(counter._value.get() - before)

    # Two tokens of one key, in any order, are no rotation.
    assert [await counted(ed(iat=SECONDS - age)) for age in (0, 9)] == [0, 0]
    assert await counted(token_of(EC, our_claims(iat=SECONDS + 1), KEYS.sign_ec)) == 0
    assert await counted(ed(iat=SECONDS - 5)) == 1


async def test_unknown_key_ids_fetch_the_keys_once_in_five_seconds(api: Api) -> None:
    async def flood() -> None:
        responses = await asyncio.gather(*(api.knock(f"Bearer {ed({**ED, 'kid': f'k{n}'})}") for n in range(50)))
        assert {response[:2] for response in responses} == {(401, "AUTH_UNAUTHORIZED")}

    await flood()
    assert len(api.server.visits) == 1
    api.clock.advance(timedelta(seconds=5))
    await flood()
    assert len(api.server.visits) == 1
    api.clock.advance(timedelta(seconds=1))
    await flood()
    assert len(api.server.visits) == 2


async def test_known_keys_work_during_an_outage_of_their_issuer(api: Api) -> None:
    assert (await api.knock(f"Bearer {ed()}"))[0] == 200
    api.server.is_unavailable = True
    api.clock.advance(timedelta(seconds=400))
    late = ed(iat=SECONDS + 400, exp=SECONDS + 900)
    responses = await asyncio.gather(*(api.knock(f"Bearer {late}") for _ in range(20)))
    assert {response[0] for response in responses} == {200}
    assert len(api.server.visits) == 2


async def test_without_keys_a_token_is_unavailable(api: Api) -> None:
    api.server.is_unavailable = True
    responses = await asyncio.gather(*(api.knock(f"Bearer {ed()}") for _ in range(20)))
    assert {response[:2] for response in responses} == {(503, "INTERNAL_ERROR")}
    assert len(api.server.visits) < 20
    # What is no token of ours in any case needs no keys to be refused.
    assert (await api.knock("Bearer nonsense"))[:2] == (401, "AUTH_UNAUTHORIZED")
    api.server.is_unavailable = False
    assert (await api.knock(f"Bearer {ed()}"))[0] == 200


def test_the_table_of_attacks_is_complete() -> None:
    assert len(FORMS) >= 80
