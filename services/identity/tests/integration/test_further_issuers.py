"""Federated users: identified by the local profile, stepped up with local factors (contract section 5.2)."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import jwt
import pyotp
import pytest
import pytest_asyncio

from common.auth.tokens import FurtherIssuers, TokenVerifier
from common.auth.user_lookup import (
    AUTHORIZATION_PROFILE_PATH,
    PREVIOUS_PROFILE_PATH,
    IdentityUserLookup,
    ProfileMissing,
)
from common.auth.verification_keys import KeySet
from common.primitives.clock import ManualClock
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from common.process.service import http_app
from common.process.settings import ServiceSettings
from contracts.identity import CODE_DELIVERY
from identity.app import SERVICE
from identity.timers import revoke_distrusted_sessions_once
from testkit.fixtures import PATIENT, DatabaseFactory
from testkit.responses import FORBIDDEN, STEP_UP_REQUIRED, UNAUTHORIZED, data_of, error_of
from testkit.service_kit import opened, served

from .conftest import CODE_DELIVERY_KEY, CREDENTIALS_KEY, PASSWORD, SERVICE_ROLE_KEY, IdentityApp, _Address

SCHOOL, CLUB = "https://login.school.example", "https://club.example"
SECRETS = {SCHOOL: "the school's secret, 32 bytes long", CLUB: "the club's secret, thirty-two bytes"}
ISSUERS: list[dict[str, Any]] = [
    {"issuer": SCHOOL, "secret": SECRETS[SCHOOL], "audience": "shop", "algorithms": ["HS256"], "primary": True},
    {"issuer": CLUB, "secret": SECRETS[CLUB], "audience": "shop", "algorithms": ["HS256"], "allowStaffRoles": True},
]
PROFILE = "/api/profiles/current"


@dataclass(slots=True)
class Elsewhere:
    """The identity service that trusts a school and a club, and tokens of both."""

    app: IdentityApp

    def token(self, issuer: str, sub: Any, **claims: Any) -> str:
        now = int(self.app.clock.now().timestamp())
        content = {
            "iss": issuer,
            "aud": "shop",
            "sub": str(sub),
            "iat": now,
            "exp": now + 3600,
            "session_id": "s",
            **claims,
        }
        return jwt.encode(content, SECRETS[issuer], algorithm="HS256")

    async def create_user(self, user_id: UUID, email: str, *, verified: bool = True) -> None:
        response = await self.app.client.post(
            "/functions/v1/create-user",
            json={"user": {"id": str(user_id), "email": email, "email_confirmed": verified}},
            headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"},
        )
        assert response.status_code == 200, response.text

    async def grant(self, user_id: UUID, role: str) -> None:
        await self.app.fetch(
            "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", user_id, role
        )

    async def step_up(self, token: str) -> dict[str, Any]:
        """Enrols a factor and shows its code; the token shape of our own."""
        enrolled = await self.app.post("/api/auth/mfa/enroll", token=token)
        assert enrolled.status_code == 200, enrolled.text
        code = pyotp.TOTP(enrolled.json()["data"]["secret"]).at(self.app.clock.now())
        return data_of(await self.app.post("/api/auth/mfa/verify", {"code": code}, token=token))

    async def roles_of(self, token: str) -> list[str]:
        return data_of(await self.app.get(AUTHORIZATION_PROFILE_PATH, token=token))["roles"]


@pytest_asyncio.fixture
async def elsewhere(fresh_database: DatabaseFactory, broker_url: str) -> AsyncIterator[Elsewhere]:
    urls = await fresh_database("identity")
    clock = ManualClock(datetime(2026, 9, 1, 8, tzinfo=UTC))
    address = _Address()
    trusted = ServiceSettings.model_validate(
        {"port": 1, "jwks_url": "http://x", "api_database_url": "postgresql://x",
        "service_database_url": "postgresql://x", "broker_url": "amqp://x",
         "cursor_key": "a cursor key for tests", "trusted_issuers": json.dumps(ISSUERS)}
    ).trusted_issuers  # fmt: skip
    async with served(address) as base:
        jwks_url = f"{base}/.well-known/jwks.json"
        async with opened(
            SERVICE,
            urls,
            broker_url,
            clock=clock,
            jwks_url=jwks_url,
            credentials_key=CREDENTIALS_KEY,
            code_delivery_key=CODE_DELIVERY_KEY,
            service_role_key=SERVICE_ROLE_KEY,
            trusted_issuers=trusted,
        ) as service:
            address.app = http_app(service.service, service.settings, service.runtime, service.dependencies)
            yield Elsewhere(IdentityApp(service, clock, jwks_url))


def claims_of(tokens: dict[str, Any]) -> dict[str, Any]:
    return jwt.decode(tokens["accessToken"], options={"verify_signature": False})


async def test_a_federated_user_is_rejected_before_create_user(elsewhere: Elsewhere) -> None:
    app, user_id = elsewhere.app, new_id()
    token = elsewhere.token(SCHOOL, user_id)
    for _ in range(2):
        response = await app.get(PROFILE, token=token)
        assert error_of(response) == FORBIDDEN
        assert response.json()["userId"] == str(user_id)
    refused = await app.post("/api/auth/mfa/enroll", token=token)
    assert (refused.status_code, await app.count("accounts")) == (403, 0)
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    response = await app.get(PROFILE, token=token)
    assert (response.status_code, response.json()["data"]["id"]) == (200, str(user_id))


async def test_the_same_subject_of_another_issuer_is_another_user(elsewhere: Elsewhere) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    token = elsewhere.token(CLUB, user_id)
    mapped = uuid5(uuid5(NAMESPACE_URL, CLUB), str(user_id))
    refused = await app.get(PROFILE, token=token)
    assert (refused.status_code, refused.json()["userId"]) == (403, str(mapped))
    await elsewhere.create_user(mapped, "tola@club.example")
    assert (await app.get(PROFILE, token=token)).json()["data"]["email"] == "tola@club.example"


async def test_other_services_query_the_rights_of_a_federated_user(elsewhere: Elsewhere) -> None:
    """A verifier of another process, over HTTP, with nothing but the token."""
    app, user_id = elsewhere.app, new_id()
    lookup = IdentityUserLookup(app.jwks_url.removesuffix("/.well-known/jwks.json"), PATIENT.identity)
    verifier = TokenVerifier(
        KeySet(app.jwks_url, app.clock, seconds_max=PATIENT.identity),
        issuer=app.dependencies.token_issuer.issuer,
        clock=app.clock,
        further=FurtherIssuers(app.settings.trusted_issuers, lookup),
    )
    token = elsewhere.token(SCHOOL, user_id)
    with pytest.raises(ProfileMissing):
        await verifier.caller_of(token)
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    caller = await verifier.caller_of(token)
    (profile,) = await app.fetch("SELECT campus_id FROM profiles")
    assert (caller.user_id, caller.roles, caller.campus_id) == (user_id, {"buyer"}, profile["campus_id"])
    await elsewhere.grant(user_id, "merchant")
    await elsewhere.grant(user_id, "auditor")
    # The lookup is refreshed within a minute, although the endpoint's guard caches its own.
    assert await elsewhere.roles_of(token) == ["auditor", "buyer", "merchant"]
    app.clock.advance(timedelta(seconds=60))
    assert (await verifier.caller_of(token)).roles == {"buyer", "merchant"}
    await lookup.close()


async def test_staff_roles_count_only_for_issuers_that_may_assert_them(elsewhere: Elsewhere) -> None:
    school_id, club_id = new_id(), uuid5(uuid5(NAMESPACE_URL, CLUB), "7")
    await elsewhere.create_user(school_id, "tola@unilag.edu.ng")
    await elsewhere.create_user(club_id, "tola@club.example")
    for user_id in (school_id, club_id):
        await elsewhere.grant(user_id, "ops_oncall")
    encoded = "/api/dead-letters/identity"
    for issuer, sub, status in ((SCHOOL, school_id, 403), (CLUB, 7, 200)):
        now = elsewhere.app.clock.now().timestamp()
        shown = {"aal": "aal2", "amr": [{"method": "totp", "timestamp": now}]}
        token = elsewhere.token(issuer, sub, app_metadata={"roles": ["ops_oncall"]}, **shown)
        assert (await elsewhere.app.get(encoded, token=token)).status_code == status


async def test_a_federated_user_steps_up_here(elsewhere: Elsewhere) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    token = elsewhere.token(SCHOOL, user_id)
    signed = await elsewhere.step_up(token)
    claims = claims_of(signed)
    assert (claims["sub"], claims["aal"], signed["aal"]) == (str(user_id), "aal2", "aal2")
    assert [method["method"] for method in claims["amr"]] == ["external", "totp"]
    caller = await app.runtime.verifier.caller_of(signed["accessToken"])
    assert (caller.issuer, caller.stepped_up_at) == (None, app.clock.now())
    refreshed = await app.post("/api/auth/refresh", {"refreshToken": signed["refreshToken"]})
    assert refreshed.json()["data"]["aal"] == "aal2"
    # The factor is theirs from now on, and a second enrolment needs it.
    assert error_of(await app.post("/api/auth/mfa/enroll", token=token)) == STEP_UP_REQUIRED
    assert (await app.count("accounts"), await app.count("sessions")) == (1, 1)


async def test_a_step_up_does_not_circumvent_the_limit_on_staff(elsewhere: Elsewhere) -> None:
    app, school_id, club_id = elsewhere.app, new_id(), uuid5(uuid5(NAMESPACE_URL, CLUB), "7")
    await elsewhere.create_user(school_id, "tola@unilag.edu.ng")
    await elsewhere.create_user(club_id, "tola@club.example")
    for user_id in (school_id, club_id):
        await elsewhere.grant(user_id, "finance_maker")
    for issuer, sub, roles in ((SCHOOL, school_id, {"buyer"}), (CLUB, 7, {"buyer", "finance_maker"})):
        signed = await elsewhere.step_up(elsewhere.token(issuer, sub))
        again = await app.post("/api/auth/refresh", {"refreshToken": signed["refreshToken"]})
        for tokens in (signed, again.json()["data"]):
            assert set(claims_of(tokens)["app_metadata"]["roles"]) == roles


async def test_no_user_logs_in_to_a_federated_account(elsewhere: Elsewhere) -> None:
    app, user_id = elsewhere.app, new_id()
    email = "tola@unilag.edu.ng"
    await elsewhere.create_user(user_id, email)
    await elsewhere.step_up(elsewhere.token(SCHOOL, user_id))
    for password in (PASSWORD, "", "!", "None"):
        assert (await app.post("/api/auth/login", {"email": email, "password": password or "x"})).status_code == 401
    # A local sign-up with the address is another user.
    assert await app.sign_up(email) != user_id
    assert claims_of(await app.log_in(email))["sub"] != str(user_id)


async def test_a_local_user_keeps_their_password_with_an_issuer(elsewhere: Elsewhere) -> None:
    app = elsewhere.app
    user_id = await app.sign_up("tola@unilag.edu.ng")
    await elsewhere.step_up(elsewhere.token(SCHOOL, user_id))
    assert (await app.log_in("tola@unilag.edu.ng"))["mfaRequired"] is True
    assert await app.count("accounts") == 1


async def test_logging_out_ends_the_session_with_all_its_tokens_everywhere_and_for_good(elsewhere: Elsewhere) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    token, other = elsewhere.token(SCHOOL, user_id), elsewhere.token(SCHOOL, user_id, session_id="another")
    assert (await app.post("/api/auth/logout", token=token)).status_code == 200
    (events,) = await app.published("identity.session_revoked.v1")
    assert events["userId"] == str(user_id)
    # Also in a process that missed the event, and after old sessions were purged: the database query decides.
    app.runtime.verifier.revocations.sessions.clear()
    app.clock.advance(timedelta(minutes=2))
    await app.remove_old()
    for refused in (token, elsewhere.token(SCHOOL, user_id)):
        assert error_of(await app.get(PROFILE, token=refused)) == UNAUTHORIZED
    assert (await app.get(PROFILE, token=other)).status_code == 200


async def test_logging_out_everywhere_revokes_tokens_of_every_issuer(elsewhere: Elsewhere) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    here, there = elsewhere.token(SCHOOL, user_id), elsewhere.token(SCHOOL, user_id, session_id="another")
    app.clock.advance(timedelta(seconds=1))
    response = await app.post("/api/auth/logout-all", token=here)
    assert (response.status_code, response.json()["data"]) == (200, {"sessionsEnded": 1})
    for refused in (here, there):
        assert (await app.get(PROFILE, token=refused)).status_code == 401
    again = elsewhere.token(SCHOOL, user_id, session_id="a third")
    assert (await app.get(PROFILE, token=again)).status_code == 200


async def test_sessions_of_an_issuer_that_is_no_longer_trusted_end(elsewhere: Elsewhere) -> None:
    app, user_id, club_id = elsewhere.app, new_id(), uuid5(uuid5(NAMESPACE_URL, CLUB), "7")
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    await elsewhere.create_user(club_id, "tola@club.example")
    school, club = [
        await elsewhere.step_up(elsewhere.token(issuer, sub)) for issuer, sub in ((SCHOOL, user_id), (CLUB, 7))
    ]
    await app.sign_up("ours@unilag.edu.ng")
    ours = await app.log_in("ours@unilag.edu.ng")

    async def end(issuers: set[str], staff_issuers: set[str]) -> int:
        trust = {"further_issuers": frozenset(issuers), "staff_issuers": frozenset(staff_issuers)}
        return await revoke_distrusted_sessions_once(replace(app.dependencies, **trust))

    async def refreshed(tokens: dict[str, Any]) -> int:
        return (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).status_code

    assert await end({SCHOOL, CLUB}, {CLUB}) == 0
    assert await end({SCHOOL, CLUB}, set()) == 1
    assert await refreshed(club) == 401
    assert await end(set(), set()) == 1
    assert [await refreshed(tokens) for tokens in (school, ours)] == [401, 200]
    assert len(await app.published("identity.session_revoked.v1")) == 2


async def test_a_suspended_federated_user_is_rejected(elsewhere: Elsewhere) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    token = elsewhere.token(SCHOOL, user_id)
    assert (await app.get(PROFILE, token=token)).status_code == 200
    await app.fetch(
        "INSERT INTO suspensions (user_id, suspended_by, suspended_at) VALUES ($1, $2, now())", user_id, new_id()
    )
    # The cached lookup of a minute ago expires, and every later token of the school is rejected as well.
    app.clock.advance(timedelta(seconds=60))
    for refused in (token, elsewhere.token(SCHOOL, user_id, session_id="another")):
        assert error_of(await app.get(PROFILE, token=refused)) == UNAUTHORIZED
    await app.fetch("DELETE FROM suspensions")
    assert (await app.get(PROFILE, token=token)).status_code == 200


# --- Proof of the address (contract section 10.1) ---------------------------------------------------------------------


async def apply_as_vendor(elsewhere: Elsewhere, token: str) -> tuple[int, Any]:
    """Return the status of an application, and the extension of its rejection."""
    app = elsewhere.app
    [campus] = await app.fetch("SELECT id FROM campuses")
    body = {
        "businessName": "Tola's",
        "legalName": "Tola Ltd",
        "campusId": str(campus["id"]),
        "category": "food",
        "description": "Rice.",
    }
    response = await app.post("/api/vendor-applications", body, token=token)
    return response.status_code, response.json().get("confirmationRequired")


@pytest.mark.parametrize(
    ("claims", "verified"),
    [
        ({}, False),
        ({"email_verified": False}, False),
        ({"email_verified": 1}, False),
        ({"email_verified": True}, True),
        ({"email_verified": "true"}, True),
        ({"email_verified": True, "email": "TOLA@unilag.edu.ng"}, True),
        ({"email_verified": True, "email": "somebody.else@unilag.edu.ng"}, False),
    ],
)
async def test_the_issuer_s_claim_decides_whether_the_address_is_proven(
    elsewhere: Elsewhere, claims: dict[str, Any], verified: bool
) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng", verified=False)
    token = elsewhere.token(SCHOOL, user_id, **claims)
    profile = (await app.get(AUTHORIZATION_PROFILE_PATH, token=token)).json()["data"]
    assert (await app.get(PREVIOUS_PROFILE_PATH, token=token)).json()["data"] == profile
    # A campus by mail domain gives rights only once proven.
    assert (profile["emailConfirmed"], profile["campusId"] is not None) == (verified, verified)
    assert await apply_as_vendor(elsewhere, token) == ((201, None) if verified else (403, True))
    events = await app.published("identity.email_confirmed.v1")
    assert [event["userId"] for event in events] == ([str(user_id)] if verified else [])


async def test_a_role_of_staff_counts_for_a_proven_address_only(elsewhere: Elsewhere) -> None:
    user_id = uuid5(uuid5(NAMESPACE_URL, CLUB), "7")
    await elsewhere.create_user(user_id, "tola@club.example", verified=False)
    await elsewhere.grant(user_id, "auditor")
    assert await elsewhere.roles_of(elsewhere.token(CLUB, 7)) == ["buyer"]
    assert await elsewhere.roles_of(elsewhere.token(CLUB, 7, email_verified=True)) == ["auditor", "buyer"]


async def test_the_issuers_confirmation_removes_old_credentials_but_not_its_own_session(
    elsewhere: Elsewhere,
) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng", verified=False)
    attacker = await elsewhere.step_up(elsewhere.token(SCHOOL, user_id, session_id="of the attacker"))
    app.clock.advance(timedelta(minutes=1))
    token = elsewhere.token(SCHOOL, user_id, session_id="of the owner", email_verified=True)
    for _ in range(2):
        assert (await app.get(PROFILE, token=token)).json()["data"]["emailConfirmed"] is True
    assert await app.count("totp_factors") == 0
    revoked = await app.published("identity.session_revoked.v1")
    assert [event["sessionId"] for event in revoked] == [claims_of(attacker)["session_id"]]
    assert (await app.post("/api/auth/refresh", {"refreshToken": attacker["refreshToken"]})).status_code == 401
    assert (await elsewhere.step_up(token))["aal"] == "aal2"


async def test_a_federated_user_confirms_the_number_of_the_profile(
    elsewhere: Elsewhere,
) -> None:
    app, user_id = elsewhere.app, new_id()
    await elsewhere.create_user(user_id, "tola@unilag.edu.ng")
    await app.fetch("UPDATE profiles SET phone = '+2348031234567' WHERE id = $1", user_id)
    await elsewhere.grant(user_id, "auditor")
    token = elsewhere.token(SCHOOL, user_id)
    assert (await app.post("/api/auth/otp", {"phone": "+2348031234567"}, token=token)).status_code == 200
    await app.work("identity.codes")
    [issued] = await app.published("identity.one_time_code_issued.v1")
    code = Encryptor(CODE_DELIVERY, CODE_DELIVERY_KEY).decrypt(issued["codeSealed"], issued["codeId"])
    shown = {"phone": "+2348031234567", "code": code}
    response = await app.post("/api/auth/otp/verify", shown, token=token)
    assert response.status_code == 200, response.text
    # The school may not assert staff roles, in this session either.
    assert claims_of(response.json()["data"])["app_metadata"]["roles"] == ["buyer"]
    assert (await app.get(PROFILE, token=token)).json()["data"]["phoneConfirmed"] is True
