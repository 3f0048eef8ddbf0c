"""The sessions of a user: list, end, end all (contract section 5)."""

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import jwt
import pytest

from common.auth.tokens import Revocations
from common.primitives.ids import new_id
from common.process import revocations
from testkit.responses import UNAUTHORIZED, error_of

from .code_steps import EMAIL, REVOKED, is_alive, problem_of
from .conftest import PASSWORD, IdentityApp


async def test_a_user_lists_their_active_sessions_newest_first(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    await app.sign_up("bisi@unilag.edu.ng")
    await app.log_in("bisi@unilag.edu.ng")
    forgotten = await app.log_in(EMAIL)
    app.clock.advance(timedelta(days=20))
    ended = await app.log_in(EMAIL)
    await app.post("/api/auth/logout", {}, token=ended["accessToken"])
    app.clock.advance(timedelta(days=11))
    signed = []
    for number in range(3):
        signed.append(
            (
                await app.client.post(
                    "/api/auth/login",
                    json={"email": EMAIL, "password": PASSWORD},
                    headers={"User-Agent": f"Phone/{number}"},
                )
            ).json()["data"]
        )
        app.clock.advance(timedelta(seconds=1))
    await app.post("/api/auth/refresh", {"refreshToken": signed[0]["refreshToken"]})
    token = signed[1]["accessToken"]
    assert forgotten
    first = (await app.get("/api/auth/sessions", token=token, limit=2)).json()
    rest = (await app.get("/api/auth/sessions", token=token, limit=2, cursor=first["meta"]["next_cursor"])).json()
    assert (first["meta"]["has_more"], rest["meta"]["has_more"]) == (True, False)
    shown = first["data"] + rest["data"]
    assert [session["userAgent"] for session in shown] == ["Phone/2", "Phone/1", "Phone/0"]
    assert [session["current"] for session in shown] == [False, True, False]
    assert [session["lastUsedAt"] > session["signedInAt"] for session in shown] == [False, False, True]
    assert {session["method"] for session in shown} == {"password"}
    foreign = await app.get(
        "/api/auth/sessions",
        token=(await app.log_in("bisi@unilag.edu.ng"))["accessToken"],
        cursor=first["meta"]["next_cursor"],
    )
    assert problem_of(foreign) == (422, "VALIDATION_FAILED", ["cursor"])


async def test_a_user_ends_only_their_own_sessions(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    await app.sign_up("bisi@unilag.edu.ng")
    here, lost, federated = [await app.log_in(email) for email in (EMAIL, EMAIL, "bisi@unilag.edu.ng")]

    def session_of(tokens: dict[str, Any]) -> str:
        return str(jwt.decode(tokens["accessToken"], options={"verify_signature": False})["session_id"])

    async def end(tokens: dict[str, Any], session_id: str) -> int:
        headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
        return (await app.client.delete(f"/api/auth/sessions/{session_id}", headers=headers)).status_code

    assert await end(federated, session_of(lost)) == await end(here, session_of(federated)) == 404
    assert await end(here, "not-an-id") == 404
    assert await end(here, session_of(lost)) == 200
    assert not await is_alive(app, lost)
    assert await is_alive(app, here)
    assert await end(here, session_of(lost)) == 404
    assert (await app.post("/api/auth/refresh", {"refreshToken": lost["refreshToken"]})).status_code == 401
    events = await app.published(REVOKED)
    assert [event["sessionId"] for event in events] == [session_of(lost)]


async def test_logging_out_everywhere_revokes_tokens_of_the_same_second_but_no_later_ones(
    app: IdentityApp,
) -> None:
    await app.sign_up(EMAIL)
    before = await app.log_in(EMAIL)
    app.clock.advance(timedelta(milliseconds=600))
    same_second = await app.log_in(EMAIL)
    other = await app.log_in(EMAIL)
    app.clock.advance(timedelta(milliseconds=100))
    response = await app.post("/api/auth/logout-all", {}, token=other["accessToken"])
    assert (response.status_code, response.json()["data"]) == (200, {"sessionsEnded": 3})
    app.clock.advance(timedelta(milliseconds=100))
    fresh = await app.log_in(EMAIL)
    for tokens in (before, same_second, other):
        assert error_of(await app.get("/api/profiles/current", token=tokens["accessToken"])) == UNAUTHORIZED
        assert (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).status_code == 401
    assert await is_alive(app, fresh)
    # Another service has only the published events.
    received = Revocations()
    for event in await app.published(REVOKED):
        session_id = UUID(event["sessionId"]) if "sessionId" in event else None
        received.add(UUID(event["userId"]), session_id, datetime.fromisoformat(event["notBefore"]))
    app.runtime.verifier.revocations = Revocations()
    callers = [
        await app.runtime.verifier.caller_of(tokens["accessToken"]) for tokens in (before, same_second, other, fresh)
    ]
    believed = [not received.cover(caller) for caller in callers]
    assert believed == [False, False, False, True]


async def test_a_flood_of_log_outs_hides_no_newer_revocation_from_a_process_that_starts(
    app: IdentityApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = new_id(), new_id()
    for session_id, minutes in ((older, 90), (newer, 1)):
        await app.fetch(
            "INSERT INTO session_revocations (user_id, session_id, not_before, heard_at) "
            "VALUES ($1, $1, now(), now() - make_interval(mins => $2))",
            session_id,
            minutes,
        )
    runtime = app.runtime
    runtime.verifier.revocations = Revocations()
    monkeypatch.setattr(revocations, "REVOCATIONS_LOADED_MAX", 1)
    await revocations.load_stored_revocations(runtime)
    assert runtime.verifier.revocations.sessions == {newer}


async def test_a_refresh_concurrent_with_logging_out_everywhere_issues_no_valid_token(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    signed = [await app.log_in(EMAIL) for _ in range(6)]
    responses = await asyncio.gather(
        *(app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}) for tokens in signed[1:]),
        app.post("/api/auth/logout-all", {}, token=signed[0]["accessToken"]),
    )
    assert responses[-1].status_code == 200
    for response in responses[:-1]:
        assert response.status_code in (200, 401)
        if response.status_code == 200:
            assert not await is_alive(app, response.json()["data"])
    assert await app.fetch("SELECT 1 FROM sessions WHERE ended_at IS NULL") == []


async def test_endpoints_of_sessions_and_passwords_require_a_token(app: IdentityApp) -> None:
    for method, path in (
        ("POST", "/api/auth/logout-all"),
        ("POST", "/api/auth/password/change"),
        ("GET", "/api/auth/sessions"),
        ("DELETE", "/api/auth/sessions/018cc251-f400-7001-8000-000000000001"),
    ):
        assert error_of(await app.client.request(method, path)) == UNAUTHORIZED
