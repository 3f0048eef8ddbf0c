"""Sign-up, login, refresh, log-out (contract sections 5 and 10)."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from argon2 import PasswordHasher

from common.auth.caller import THE_SERVICE
from identity.app import SERVICE
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import HASHER, Passwords
from identity.domain.errors import WrongCredentials
from identity.domain.institutions import Institutions
from identity.use_cases.accounts.sign_up import SignUp, sign_up
from identity.use_cases.sessions.log_in import LogIn, log_in
from identity.use_cases.sessions.refresh_session import refresh_session
from testkit.responses import UNAUTHORIZED, data_of, error_of
from testkit.service_kit import opened

from .conftest import DEMO_SECRET, PASSWORD, IdentityApp

RETENTION_RULES = ("profiles", "role_grants", "sessions", "refresh_tokens", "outbox", "referrals")


class CountingHasher(PasswordHasher):
    """The real hasher, which also counts its work."""

    hashed = 0
    verified = 0

    def hash(self, *arguments: Any, **more: Any) -> str:
        self.hashed += 1
        return super().hash(*arguments, **more)

    def verify(self, *arguments: Any, **more: Any) -> Any:
        self.verified += 1
        return super().verify(*arguments, **more)


async def state_of(app: IdentityApp) -> dict[str, list[Any]]:
    return {table: await app.fetch(f"SELECT * FROM {table} ORDER BY 1") for table in RETENTION_RULES}


async def test_a_new_user_signs_up_logs_in_and_reads_their_profile(app: IdentityApp) -> None:
    user_id = await app.sign_up("  Tola@UNILAG.edu.ng ", phone="0803 123 4567")
    tokens = await app.log_in("tola@unilag.edu.ng")
    assert tokens["tokenType"] == "Bearer"
    assert tokens["expiresIn"] == 900
    assert tokens["aal"] == "aal1"
    assert tokens["mfaRequired"] is False
    profile = (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
    assert profile["id"] == str(user_id)
    assert profile["email"] == "tola@unilag.edu.ng"
    assert profile["phone"] == "+2348031234567"
    assert profile["roles"] == ["buyer"]
    events = await app.published("identity.user_provisioned.v1")
    assert [(event["userId"], event["role"], event["campusId"]) for event in events] == [
        (str(user_id), "buyer", profile["campusId"])
    ]


async def test_sign_up_of_a_known_address_equals_that_of_a_new_one_and_changes_nothing(app: IdentityApp) -> None:
    first = await app.post(
        "/api/auth/signup", {"email": "tola@unilag.edu.ng", "password": PASSWORD, "fullName": "Tola"}
    )
    before = await state_of(app)
    second = await app.post(
        "/api/auth/signup", {"email": "TOLA@unilag.edu.ng", "password": "another password", "fullName": "Thief"}
    )
    assert second.status_code == first.status_code == 201
    assert second.json()["data"].keys() == first.json()["data"].keys()
    assert second.json()["data"] != first.json()["data"]
    after = await state_of(app)
    # One work item notifies the owner.
    assert [row["queue"] for row in after.pop("outbox") if row not in before["outbox"]] == ["identity.codes"]
    assert after == {table: rows for table, rows in before.items() if table != "outbox"}
    await app.fetch("UPDATE profiles SET confirmed_email = email")
    await app.log_in("tola@unilag.edu.ng", PASSWORD)
    refused = await app.post("/api/auth/login", {"email": "tola@unilag.edu.ng", "password": "another password"})
    assert refused.status_code == 403


async def test_twenty_sign_ups_of_one_address_at_once_open_one_account(app: IdentityApp) -> None:
    body = {"email": "tola@unilag.edu.ng", "password": PASSWORD, "fullName": "Tola"}
    responses = await asyncio.gather(*(app.post("/api/auth/signup", body) for _ in range(20)))
    assert {response.status_code for response in responses} == {201}
    assert await app.count("accounts") == await app.count("profiles") == 1
    assert len(await app.published("identity.user_provisioned.v1")) == 1


async def test_an_unknown_address_costs_the_same_hashing_as_a_wrong_password(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    dependencies = app.dependencies
    hasher = CountingHasher(HASHER.time_cost, HASHER.memory_cost, HASHER.parallelism)
    passwords = Passwords(hasher)
    try:
        for address in ("tola@unilag.edu.ng", "nobody@unilag.edu.ng", "no address at all"):
            verified = hasher.verified
            with pytest.raises(WrongCredentials):
                await log_in(
                    replace(dependencies.password_verifier, passwords=passwords),
                    dependencies.token_issuer,
                    LogIn(address, "a wrong password"),
                    encryptor=dependencies.encryption.codes,
                    now=app.clock.now(),
                )
            assert hasher.verified == verified + 1
        for address in ("tola@unilag.edu.ng", "nobody@unilag.edu.ng"):
            hashed = hasher.hashed
            await sign_up(
                dependencies.database,
                passwords,
                SignUp(address, PASSWORD, "Anybody", None, None),
                encryptor=dependencies.encryption.codes,
                provisioning=replace(dependencies.provisioning, institutions=Institutions([], {})),
                text_policy=dependencies.text_policy,
                now=app.clock.now(),
            )
            assert hasher.hashed == hashed + 1
    finally:
        passwords.close()


async def test_an_unknown_address_and_a_wrong_password_get_the_same_response(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    responses = []
    for address in ("tola@unilag.edu.ng", "nobody@unilag.edu.ng", "no address at all"):
        response = await app.post("/api/auth/login", {"email": address, "password": "a wrong password"})
        assert response.status_code == 401
        responses.append({**response.json(), "requestId": None})
    assert responses[0] == responses[1] == responses[2]
    assert responses[0]["code"] == "AUTH_UNAUTHORIZED"


async def test_an_invalid_sign_up_is_rejected_with_the_name_of_its_field(app: IdentityApp) -> None:
    faults: list[tuple[dict[str, Any], str]] = [
        ({"password": "too short"}, "password"),
        ({"password": "x" * 129}, "password"),
        ({"email": "unilag.edu.ng"}, "email"),
        ({"email": "a b@unilag.edu.ng"}, "email"),
        ({"email": "a@unilag.edu.ng."}, "email"),
        ({"phone": "12"}, "phone"),
        ({"fullName": "  "}, "fullName"),
        ({"fullName": "A\x00B"}, "body"),
        ({"fullName": "Tola\r\nBcc: all@unilag.edu.ng"}, "fullName"),
        ({"fullName": "Tola \u202egnp.exe"}, "fullName"),
        ({"fullName": "\u200b\u2060"}, "fullName"),
        ({"roles": ["platform_admin"]}, "roles"),
    ]
    for change, name in faults:
        body = {"email": "tola@unilag.edu.ng", "password": PASSWORD, "fullName": "Tola", **change}
        response = await app.post("/api/auth/signup", body)
        assert response.status_code == 422
        assert response.json()["code"] == "VALIDATION_FAILED"
        assert [param["name"] for param in response.json()["invalid_params"]] == [name]
    assert await app.count("profiles") == 0


async def test_the_service_hashes_at_its_full_cost(app: IdentityApp, broker_url: str) -> None:
    keys = {name: getattr(app.settings, name) for name in ("jwks_url", "credentials_key", "code_delivery_key")}
    async with opened(SERVICE, app.urls, broker_url, clock=app.clock, **keys) as shipped:
        stored = await shipped.dependencies.passwords.hash(PASSWORD)
    assert stored.startswith("$argon2id$v=19$m=19456,t=3,p=1$")


async def test_a_hash_of_older_parameters_is_renewed_at_the_next_login(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    old = PasswordHasher(time_cost=1, memory_cost=16, parallelism=1).hash(PASSWORD)
    await app.fetch("UPDATE accounts SET password_hash = $1", old)
    await app.log_in("tola@unilag.edu.ng")
    renewed = (await app.fetch("SELECT password_hash FROM accounts"))[0]["password_hash"]
    assert renewed != old
    assert not app.dependencies.passwords.is_outdated(renewed)
    await app.log_in("tola@unilag.edu.ng")


async def test_a_refresh_token_is_exchanged_for_new_tokens(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    app.clock.advance(timedelta(minutes=20))
    assert error_of(await app.get("/api/profiles/current", token=tokens["accessToken"])) == (401, "AUTH_TOKEN_EXPIRED")
    fresh = data_of(await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}))
    assert fresh["refreshToken"] != tokens["refreshToken"]
    assert (await app.get("/api/profiles/current", token=fresh["accessToken"])).status_code == 200
    stored = await app.fetch("SELECT token_hash FROM refresh_tokens")
    assert all(fresh["refreshToken"].encode() not in row["token_hash"] for row in stored)


async def test_a_refresh_token_reused_later_ends_its_session(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    stolen = await app.log_in("tola@unilag.edu.ng")
    other = await app.log_in("tola@unilag.edu.ng")
    fresh = (await app.post("/api/auth/refresh", {"refreshToken": stolen["refreshToken"]})).json()["data"]
    app.clock.advance(timedelta(seconds=31))
    assert error_of(await app.post("/api/auth/refresh", {"refreshToken": stolen["refreshToken"]})) == UNAUTHORIZED
    assert (await app.post("/api/auth/refresh", {"refreshToken": fresh["refreshToken"]})).status_code == 401
    caller = await app.runtime.verifier.caller_of(fresh["accessToken"])
    events = await app.published("identity.session_revoked.v1")
    assert [(event["userId"], event["sessionId"]) for event in events] == [(str(caller.id), str(caller.session_id))]
    assert (await app.post("/api/auth/refresh", {"refreshToken": other["refreshToken"]})).status_code == 200


async def refresh(app: IdentityApp, tokens: dict[str, Any]) -> tuple[int, str | None]:
    """Return the status of an exchange and the successor."""
    response = await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})
    return response.status_code, response.json().get("data", {}).get("refreshToken")


async def test_twenty_parallel_refreshes_of_one_token_give_one_successor(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    responses = await asyncio.gather(*(refresh(app, tokens) for _ in range(20)))
    assert {status for status, _ in responses} == {200}
    [successor] = {token for _, token in responses}
    assert await app.count("refresh_tokens") == 2
    status, _ = await refresh(app, {"refreshToken": successor})
    assert status == 200
    assert await app.published("identity.session_revoked.v1") == []


async def test_a_repeated_refresh_within_thirty_seconds_gives_the_same_successor(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    first = await refresh(app, tokens)
    app.clock.advance(timedelta(seconds=30))
    assert await refresh(app, tokens) == first
    response = await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})
    assert (await app.get("/api/profiles/current", token=response.json()["data"]["accessToken"])).status_code == 200


async def test_a_repeated_refresh_after_thirty_seconds_ends_the_family(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    _, successor = await refresh(app, tokens)
    app.clock.advance(timedelta(seconds=30, milliseconds=1))
    assert await refresh(app, tokens) == (401, None)
    assert await refresh(app, {"refreshToken": successor}) == (401, None)


async def test_the_token_before_the_previous_one_ends_the_family_at_any_time(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    _, parent = await refresh(app, tokens)
    _, present = await refresh(app, {"refreshToken": parent})
    assert await refresh(app, tokens) == (401, None)
    for token in (parent, present):
        assert await refresh(app, {"refreshToken": token}) == (401, None)
    assert len(await app.published("identity.session_revoked.v1")) == 1


async def test_a_process_that_starts_anew_gives_the_same_successor(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    first = await refresh(app, tokens)
    dependencies = app.dependencies

    async def exchanged_by(hashes: KeyedHashes) -> str | None:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            signed = await refresh_session(
                uow, dependencies.token_issuer, hashes, tokens["refreshToken"], now=app.clock.now()
            )
        return signed.refresh_token if signed else None

    assert await exchanged_by(dependencies.hashes) == first[1]
    # Another key repeats nothing, and no user is signed out.
    assert await exchanged_by(KeyedHashes(b"quite another key")) is None
    assert (await refresh(app, {"refreshToken": first[1]}))[0] == 200


async def test_a_repeated_refresh_drops_a_second_factor_removed_since(app: IdentityApp) -> None:
    await app.load_demo()
    tokens = await app.step_up(await app.demo_log_in("VENDOR"), DEMO_SECRET)
    refreshed = (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).json()["data"]
    assert refreshed["aal"] == "aal2"
    await app.fetch(
        "UPDATE refresh_tokens SET stepped_up_at = NULL, stepped_up_by = NULL, stepped_up_factor_id = NULL "
        "WHERE used_at IS NULL"
    )
    again = (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).json()["data"]
    assert (again["aal"], again["refreshToken"]) == ("aal1", refreshed["refreshToken"])


async def test_a_repeated_refresh_of_an_ended_session_is_rejected(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    fresh = (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).json()["data"]
    assert (await app.post("/api/auth/logout", {}, token=fresh["accessToken"])).status_code == 200
    assert await refresh(app, tokens) == (401, None)


async def test_a_refresh_that_fails_before_its_commit_burns_no_token(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    dependencies = app.dependencies
    before = await state_of(app)

    class Crash(Exception):
        pass

    async def refresh_and_crash() -> None:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            signed = await refresh_session(
                uow,
                dependencies.token_issuer,
                dependencies.hashes,
                tokens["refreshToken"],
                now=app.clock.now(),
            )
            assert signed is not None
            raise Crash

    with pytest.raises(Crash):
        await refresh_and_crash()
    assert await state_of(app) == before
    assert (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).status_code == 200


async def test_a_refresh_token_that_was_never_issued_is_rejected(app: IdentityApp) -> None:
    for forged in ("x", "018cc251-f400-7001-8000-000000000001.secret", "a.b.c", "é" * 40):
        assert error_of(await app.post("/api/auth/refresh", {"refreshToken": forged})) == UNAUTHORIZED


async def test_a_refresh_token_is_valid_for_thirty_days(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    kept, left = await app.log_in("tola@unilag.edu.ng"), await app.log_in("tola@unilag.edu.ng")
    app.clock.advance(timedelta(days=29))
    assert (await app.post("/api/auth/refresh", {"refreshToken": kept["refreshToken"]})).status_code == 200
    app.clock.advance(timedelta(days=1))
    assert (await app.post("/api/auth/refresh", {"refreshToken": left["refreshToken"]})).status_code == 401


async def test_logging_out_ends_this_session_and_no_other(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    here, there = await app.log_in("tola@unilag.edu.ng"), await app.log_in("tola@unilag.edu.ng")
    caller = await app.runtime.verifier.caller_of(here["accessToken"])
    assert (await app.post("/api/auth/logout", {}, token=here["accessToken"])).status_code == 200
    assert error_of(await app.get("/api/profiles/current", token=here["accessToken"])) == UNAUTHORIZED
    assert (await app.post("/api/auth/refresh", {"refreshToken": here["refreshToken"]})).status_code == 401
    events = await app.published("identity.session_revoked.v1")
    assert [(event["userId"], event["sessionId"]) for event in events] == [(str(caller.id), str(caller.session_id))]
    assert (await app.get("/api/profiles/current", token=there["accessToken"])).status_code == 200
    assert (await app.post("/api/auth/refresh", {"refreshToken": there["refreshToken"]})).status_code == 200


async def test_logging_out_needs_a_token(app: IdentityApp) -> None:
    assert error_of(await app.post("/api/auth/logout")) == UNAUTHORIZED


async def test_retention_purges_old_sessions_and_keeps_active_ones(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    await app.log_in("tola@unilag.edu.ng")
    living = await app.log_in("tola@unilag.edu.ng")
    app.clock.advance(timedelta(days=20))
    living = (await app.post("/api/auth/refresh", {"refreshToken": living["refreshToken"]})).json()["data"]
    assert await app.remove_old() == 0
    app.clock.advance(timedelta(days=10))
    # The abandoned login's session and token, and the used token of the active session.
    assert await app.remove_old() == 3
    assert await app.count("sessions") == await app.count("refresh_tokens") == 1
    assert (await app.post("/api/auth/refresh", {"refreshToken": living["refreshToken"]})).status_code == 200
