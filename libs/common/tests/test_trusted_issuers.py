"""Tokens of trusted issuers: whom they identify, which roles count, and what happens during outages."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
import pytest_asyncio

from common.auth.issuers import FederatedIdentity
from common.auth.tokens import FurtherIssuers, TokenVerifier
from common.auth.user_lookup import LocalUser
from common.auth.verification_keys import KeySet
from common.primitives.problems import Forbidden, Problem, TokenExpired, Unauthorized, Unavailable

from .forging import (
    OUR_ISSUER,
    SECONDS,
    USER,
    clock_of_now,
    mac,
    our_claims,
    token_of,
    without,
)
from .issuer_steps import (
    CAMPUS,
    CLUB,
    ED,
    OURS,
    SCHOOL,
    SECRET,
    THEIRS,
    World,
    by_club,
    by_school,
    club,
    of_club,
    of_school,
    open_world,
    settings_with,
)


@pytest_asyncio.fixture(loop_scope="session")
async def world() -> AsyncIterator[World]:
    """Yield an environment of its own, whose clock, keys and users a test may change."""
    async with open_world() as world:
        yield world


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def common_world() -> AsyncIterator[World]:
    """One stage for tokens that change nothing."""
    async with open_world() as world:
        yield world


async def test_the_primary_issuer_identifies_our_users_only(world: World) -> None:
    grand = {"role": "platform_admin", "aal": "aal2", "amr": [{"method": "totp", "timestamp": SECONDS}]}
    token = by_school(sub=USER.upper(), app_metadata={"roles": ["platform_admin"], "vendor_id": CAMPUS}, **grand)
    caller = await world.verifier.caller_of(token)
    assert (str(caller.user_id), caller.roles, str(caller.campus_id)) == (USER, {"buyer"}, CAMPUS)
    assert (caller.vendor_id, caller.stepped_up_at, caller.issuer) == (None, None, SCHOOL)
    assert world.users.requested == [f"Bearer {token}"]


async def test_the_user_id_of_another_issuer_is_a_uuid_of_issuer_and_subject(world: World) -> None:
    caller = await world.verifier.caller_of(by_club())
    assert caller.user_id == uuid5(uuid5(NAMESPACE_URL, CLUB), "member-7")
    assert caller.user_id != (await world.verifier.caller_of(by_club(sub=USER))).user_id


async def test_staff_roles_count_for_permitted_issuers_only(world: World) -> None:
    claims = {
        "app_metadata": {"roles": ["auditor", "merchant", "root"]},
        "aal": "aal2",
        "amr": [{"method": "password", "timestamp": SECONDS}, {"method": "totp", "timestamp": SECONDS - 60}],
    }
    caller = await world.verifier.caller_of(by_club(**claims))
    assert caller.roles == {"buyer", "support_agent", "auditor"}
    assert caller.stepped_up_at == world.clock.now() - timedelta(seconds=60)
    assert (await world.verifier.caller_of(by_club(**{**claims, "aal": "aal1"}))).stepped_up_at is None
    assert (await world.verifier.caller_of(by_club(**{**claims, "amr": ["totp"]}))).stepped_up_at is None


async def test_an_issuer_cannot_choose_our_session_id(world: World) -> None:
    first, second = by_school(session_id=USER), by_school(session_id=USER, iat=SECONDS - 5)
    session_id = (await world.verifier.caller_of(first)).session_id
    assert session_id not in (None, UUID(USER))
    assert (await world.verifier.caller_of(second)).session_id == session_id
    assert (await world.verifier.caller_of(by_school(session_id="other"))).session_id != session_id
    world.verifier.revocations.add(UUID(USER), session_id, world.clock.now())
    for token in (first, second):
        with pytest.raises(Unauthorized):
            await world.verifier.caller_of(token)


async def test_a_revoked_user_is_revoked_for_every_issuer(world: World) -> None:
    await world.verifier.caller_of(by_school())
    world.verifier.revocations.add(UUID(USER), None, world.clock.now() + timedelta(seconds=1))
    with pytest.raises(Unauthorized):
        await world.verifier.caller_of(by_school())


FAULTS = {
    "our key for the school's token": lambda: token_of(ED, of_school(), OURS.ed.sign),
    "the school's key for our token": lambda: token_of(ED, our_claims(), THEIRS.ed.sign),
    "the school's key for the club's token": lambda: token_of(ED, of_club(), THEIRS.ed.sign),
    "the club's secret for the school's token": lambda: token_of(
        {"alg": "HS256", "kid": "ed"}, of_school(), mac(SECRET.encode())
    ),
    "the club's secret for our token": lambda: token_of(
        {"alg": "HS256", "kid": "ed"}, our_claims(), mac(SECRET.encode())
    ),
    "a secret that the school published": lambda: token_of({"alg": "HS256", "kid": "oct"}, of_school(), mac(b"x" * 32)),
    "another secret": lambda: token_of({"alg": "HS256"}, of_club(), mac(b"another")),
    "an algorithm that the club has not": lambda: token_of({"alg": "HS512"}, of_club(), mac(SECRET.encode(), "sha512")),
    "an algorithm that the school has not": lambda: token_of(
        {"alg": "PS256", "kid": "rsa"}, of_school(), THEIRS.sign_rsa
    ),
    "alg none": lambda: token_of({"alg": "none"}, of_club(), lambda _: b""),
    "no signature": lambda: token_of({"alg": "HS256"}, of_club(), lambda _: b""),
    "our audience": lambda: by_school(aud="campus-marketplace"),
    "the club's audience at the school": lambda: by_school(aud="shop"),
    "no audience": lambda: token_of(ED, without(of_school(), "aud"), THEIRS.ed.sign),
    "audiences of numbers": lambda: by_school(aud=[1, None]),
    "an issuer that nobody listed": lambda: by_school(iss="https://login.school.example/"),
    "no key id": lambda: by_school({"alg": "EdDSA"}),
    "an unknown key id": lambda: by_school({"alg": "EdDSA", "kid": "x"}),
    "the primary's subject no UUID": lambda: by_school(sub="tola"),
    "no subject": lambda: by_club(sub=None),
    "an empty subject": lambda: by_club(sub=""),
    "a subject that is no text": lambda: by_club(sub=["member-7"]),
    "a subject that cannot be written": lambda: by_club(sub="\ud800"),
    "a subject of a thousand characters": lambda: by_club(sub="x" * 1_000),
    "a session that is no text": lambda: by_club(session_id=7),
    "no end": lambda: token_of({"alg": "HS256"}, without(of_club(), "exp"), mac(SECRET.encode())),
    "no beginning": lambda: token_of({"alg": "HS256"}, without(of_club(), "iat"), mac(SECRET.encode())),
    "an end that is no number": lambda: by_club(exp="never"),
    "of the future": lambda: by_club(iat=SECONDS + 60),
    "not yet": lambda: by_club(nbf=SECONDS + 60),
    "roles no list": lambda: by_club(app_metadata={"roles": "auditor"}),
    "two subjects": lambda: token_of(
        {"alg": "HS256"}, json.dumps(of_club())[:-1] + ', "sub": "x"}', mac(SECRET.encode())
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_of_a_trusted_issuer_s_token_is_unauthorized(common_world: World, fault: str) -> None:
    with pytest.raises(Unauthorized):
        await common_world.verifier.caller_of(FAULTS[fault]())
    assert common_world.users.requested == []


async def test_an_expired_token_causes_no_user_lookup(world: World) -> None:
    with pytest.raises(TokenExpired):
        await world.verifier.caller_of(by_school(iat=SECONDS - 900, exp=SECONDS - 60.5))
    assert world.users.requested == []


async def test_every_published_key_works_with_its_own_algorithm(world: World) -> None:
    for kid, algorithm, sign in (("ec", "ES256", THEIRS.sign_ec), ("rsa", "RS256", THEIRS.sign_rsa)):
        token = token_of({"alg": algorithm, "kid": kid}, of_school(iat=SECONDS - 0.25), sign)
        assert (await world.verifier.caller_of(token)).issuer == SCHOOL


async def test_a_user_lookup_is_cached_for_a_minute(world: World) -> None:
    token = by_school()
    for _ in range(3):
        assert (await world.verifier.caller_of(token)).roles == {"buyer"}
    assert len(world.users.requested) == 1
    world.users.known["roles"] = ["buyer", "merchant"]
    world.clock.advance(timedelta(seconds=60))
    assert (await world.verifier.caller_of(token)).roles == {"buyer", "merchant"}
    assert len(world.users.requested) == 2


@pytest.mark.parametrize(
    ("status", "problem_code"),
    [(403, Forbidden), (401, Unauthorized), (500, Unavailable), (503, Unavailable), (204, Unavailable)],
)
async def test_a_missing_profile_is_not_cached(world: World, status: int, problem_code: type[Problem]) -> None:
    world.users.status = status
    with pytest.raises(problem_code) as raised:
        await world.verifier.caller_of(by_school())
    if status == 403:
        assert raised.value.extensions == {"userId": UUID(USER)}
    world.users.status = 200
    assert (await world.verifier.caller_of(by_school())).roles == {"buyer"}


async def test_cached_callers_work_during_an_outage_of_identity(world: World) -> None:
    known = by_school()
    await world.verifier.caller_of(known)
    world.users.status = 503
    assert (await world.verifier.caller_of(known)).roles == {"buyer"}
    with pytest.raises(Unavailable):
        await world.verifier.caller_of(by_school(jti="new"))


async def test_claims_are_read_from_configured_paths() -> None:
    mapped = club(
        primary=True,
        allowStaffRoles=True,
        claims={"sub": ["user", "id"], "session_id": "sid", "roles": "https://club.example/roles"},
    )
    verifier = TokenVerifier(
        KeySet("http://127.0.0.1:1/", clock_of_now()),
        issuer=OUR_ISSUER,
        clock=clock_of_now(),
        further=FurtherIssuers(settings_with(json.dumps([mapped])).trusted_issuers, users := _Everybody()),
    )
    claims = {"user": {"id": USER}, "https://club.example/roles": ["auditor"]}
    caller = await verifier.caller_of(by_club(sid="a", **claims))
    assert (str(caller.user_id), caller.roles) == (USER, {"auditor"})
    assert caller.session_id != (await verifier.caller_of(by_club(sid="b", **claims))).session_id
    assert users.found == [UUID(USER), UUID(USER)]
    for user in (None, "x", {"id": {"id": USER}}, [USER]):
        with pytest.raises(Unauthorized):
            await verifier.caller_of(by_club(user=user))


class _Everybody:
    """The user lookup of a service in its own tables."""

    def __init__(self) -> None:
        self.found: list[UUID] = []

    async def find(self, token: str, identity: FederatedIdentity) -> LocalUser:
        self.found.append(identity.user_id)
        return LocalUser(frozenset(), None, None)


async def test_a_withdrawn_key_invalidates_its_tokens(world: World) -> None:
    ours, theirs, clubs = token_of(ED, our_claims(), OURS.ed.sign), by_school(), by_club()
    for token in (ours, theirs, clubs):
        await world.verifier.caller_of(token)
    for name in ("ours", "school"):
        world.keys.sets[name] = {
            "keys": [key for key in world.keys.sets[name]["keys"] if key == "no key at all" or key["kid"] != "ed"]
        }
    world.clock.advance(timedelta(seconds=20))
    await world.verifier.renew_keys_once()
    with pytest.raises(Unauthorized):
        await world.verifier.caller_of(ours)
    # Other issuers' keys are fetched every five minutes; a verified token is verified again within one.
    await world.verifier.caller_of(theirs)
    world.clock.advance(timedelta(seconds=300))
    await world.verifier.renew_keys_once()
    with pytest.raises(Unauthorized):
        await world.verifier.caller_of(theirs)
    assert (await world.verifier.caller_of(clubs)).issuer == CLUB


async def test_a_failed_key_renewal_signs_no_user_out(world: World) -> None:
    ours = token_of(ED, our_claims(), OURS.ed.sign)
    await world.verifier.caller_of(ours)
    world.keys.is_unavailable = True
    world.clock.advance(timedelta(seconds=30))
    await world.verifier.renew_keys_once()
    assert (await world.verifier.caller_of(ours)).roles == {"buyer"}


async def test_concurrent_requests_fetch_the_keys_once(world: World) -> None:
    token = token_of(ED, our_claims(), OURS.ed.sign)
    await asyncio.gather(*(world.verifier.caller_of(token) for _ in range(100)))
    assert world.keys.visits == ["ours"]
