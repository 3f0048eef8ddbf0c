"""Each trusted issuer has its own keys, audience and algorithms, and identifies users only (section 5.2)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from common.auth.issuers import FederatedIdentity, federated_identity_of
from common.auth.tokens import TokenVerifier
from common.auth.user_lookup import USER_STATUS_PATH, IdentityUserLookup, LocalUser
from common.auth.verification_keys import KeySet, public_keys_of
from common.primitives.clock import ManualClock
from common.primitives.problems import Forbidden, Problem, TokenExpired, Unauthorized, Unavailable
from common.process.settings import ServiceSettings

from .forging import (
    OUR_ISSUER,
    SECONDS,
    USER,
    Keys,
    KeyServer,
    clock_of_now,
    key_server,
    mac,
    our_claims,
    token_of,
    without,
)

OURS, THEIRS = Keys(), Keys()
SCHOOL = "https://login.school.example"
CLUB = "https://club.example/"
SECRET = "a secret of thirty-two characters"
ED = {"alg": "EdDSA", "kid": "ed"}
CAMPUS = "0198f0c0-0000-7000-8000-00000000000c"
SETTINGS = {
    "port": 1,
    "jwks_url": "http://identity:1/.well-known/jwks.json",
    "api_database_url": "postgresql://x",
    "service_database_url": "postgresql://x",
    "broker_url": "amqp://x",
    "cursor_key": "a cursor key for tests",
}


def settings_with(text: str) -> ServiceSettings:
    return ServiceSettings(**SETTINGS, trusted_issuers=text)  # type: ignore[arg-type]


def school(**changed: Any) -> dict[str, Any]:
    return {
        "issuer": SCHOOL,
        "jwksUrl": "https://login.school.example/keys",
        "audience": "marketplace",
        "algorithms": ["EdDSA", "ES256", "RS256"],
        "primary": True,
        **changed,
    }


def club(**changed: Any) -> dict[str, Any]:
    return {"issuer": CLUB, "secret": SECRET, "audience": ["shop", "marketplace"], "algorithms": ["HS256"], **changed}


@dataclass
class LocalUsers:
    """The identity service as the verifier meets it: one address that knows the people of ours."""

    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    requested: list[str] = field(default_factory=list)
    status: int = 200

    async def response(self, request: Request) -> JSONResponse:
        self.requested.append(request.headers["authorization"])
        return JSONResponse({"success": True, "data": self.known, "meta": {}}, status_code=self.status)


@dataclass
class World:
    verifier: TokenVerifier
    clock: ManualClock
    keys: KeyServer
    users: LocalUsers


@pytest_asyncio.fixture(loop_scope="session")
async def world() -> AsyncIterator[World]:
    """A stage of its own, whose clock, keys and people a test may move."""
    async with open_world() as world:
        yield world


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def common_world() -> AsyncIterator[World]:
    """One stage for tokens that change nothing."""
    async with open_world() as world:
        yield world


@asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    """A verifier that believes us, the school by its published keys, and the club by a secret."""
    users = LocalUsers(known={"roles": ["buyer", "support_agent"], "vendorId": None, "campusId": CAMPUS})
    async with key_server(Route(USER_STATUS_PATH, users.response)) as keys:
        keys.sets |= {"ours": OURS.jwks(), "school": THEIRS.jwks()}
        issuers = [school(jwksUrl=keys.url("school")), club(allowStaffRoles=True)]
        clock = clock_of_now()
        lookup = IdentityUserLookup(keys.address)
        verifier = TokenVerifier(
            KeySet(keys.url("ours"), clock),
            issuer=OUR_ISSUER,
            clock=clock,
            trusted=settings_with(json.dumps(issuers)).trusted_issuers,
            user_lookup=lookup,
        )
        yield World(verifier, clock, keys, users)
        await lookup.close()


def of_school(**changed: Any) -> dict[str, Any]:
    return {"iss": SCHOOL, "aud": "marketplace", "sub": USER, "iat": SECONDS, "exp": SECONDS + 3600, **changed}


def of_club(**changed: Any) -> dict[str, Any]:
    return {"iss": CLUB, "aud": "shop", "sub": "member-7", "iat": SECONDS, "exp": SECONDS + 3600, **changed}


def by_school(header: Any = ED, **changed: Any) -> str:
    return token_of(header, of_school(**changed), THEIRS.ed.sign)


def by_club(header: Any = None, **changed: Any) -> str:
    return token_of(header or {"alg": "HS256"}, of_club(**changed), mac(SECRET.encode()))


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
        trusted=settings_with(json.dumps([mapped])).trusted_issuers,
        user_lookup=(users := _Everybody()),
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
    """Standings of a service that finds people at home."""

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
    # Other issuers are asked every five minutes; what was verified is verified again within one.
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


BAD: dict[str, tuple[str, str]] = {
    "no JSON": ("[", "must be a JSON list"),
    "no list": ('{"issuer": "x"}', "must be a JSON list"),
    "no object": ('["x"]', "valid dictionary"),
    "no keys": (json.dumps([without(school(), "jwksUrl")]), "exactly one of jwksUrl and secret"),
    "both kinds of keys": (json.dumps([school(secret=SECRET)]), "exactly one of jwksUrl and secret"),
    "no algorithms": (json.dumps([school(algorithms=[])]), "at least one algorithm"),
    "algorithms missing": (json.dumps([without(school(), "algorithms")]), "Field required"),
    "the algorithm none": (json.dumps([school(algorithms=["none"])]), "not supported: none"),
    "mixed algorithms": (json.dumps([school(algorithms=["ES256", "HS256"])]), "must not mix"),
    "HS256 by address": (json.dumps([school(algorithms=["HS256"])]), "only"),
    "RS256 by secret": (json.dumps([club(algorithms=["RS256"])]), "only"),
    "a short secret": (json.dumps([club(secret="x" * 31)]), "at least 32 bytes"),
    "a short secret for HS512": (json.dumps([club(algorithms=["HS512"])]), "at least 64 bytes"),
    "two primaries": (json.dumps([school(), club(primary=True)]), "at most one issuer can be primary"),
    "our own issuer": (json.dumps([school(issuer=OUR_ISSUER)]), "our own issuer"),
    "our own issuer with a slash": (json.dumps([school(issuer=f"{OUR_ISSUER}/")]), "our own issuer"),
    "one issuer twice": (json.dumps([school(), school(primary=False)]), "listed once"),
    "http elsewhere": (json.dumps([school(jwksUrl="http://login.school.example/keys")]), "https"),
    "http by a look-alike": (json.dumps([school(jwksUrl="http://localhost.school.example/keys")]), "https"),
    "http by a user name": (json.dumps([school(jwksUrl="http://localhost@school.example/keys")]), "https"),
    "a file": (json.dumps([school(jwksUrl="file:///etc/passwd")]), "https"),
    "no address": (json.dumps([school(jwksUrl="keys")]), "https"),
    "no audience": (json.dumps([school(audience=[])]), "must name an audience"),
    "an empty audience": (json.dumps([school(audience="")]), "must name an audience"),
    "an empty issuer": (json.dumps([school(issuer="")]), "at least 1 character"),
    "a word that nobody knows": (json.dumps([school(trusted=True)]), "not permitted"),
    "an empty claim": (json.dumps([school(claims={"sub": ""})]), "name of a claim"),
    "an empty claim of the proof": (json.dumps([school(emailVerifiedClaim="")]), "name of a claim"),
}


@pytest.mark.parametrize("fault", BAD)
def test_an_invalid_list_of_issuers_stops_the_start(
    fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, reason = BAD[fault]
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name.upper(), str(value))
    monkeypatch.setenv("TRUSTED_ISSUERS", text)
    with pytest.raises(SystemExit) as ended:
        ServiceSettings.from_environment()
    claims_sent = capsys.readouterr().err
    assert ended.value.code == 78
    assert "TRUSTED_ISSUERS" in claims_sent
    assert reason in claims_sent
    assert SECRET not in claims_sent


def test_the_representation_of_an_issuer_hides_its_secret() -> None:
    settings = settings_with(json.dumps([club()]))
    assert SECRET not in repr(settings)
    with pytest.raises(ValidationError) as raised:
        settings_with(json.dumps([club(algorithms=[])]))
    assert SECRET not in str(raised.value)


def test_trusted_issuers_are_empty_by_default() -> None:
    for text in ("", "[]"):
        assert settings_with(text or "[]").trusted_issuers == ()
    assert settings_with("[]").identity_address == "http://identity:1"
    claims_sent = ServiceSettings(**SETTINGS, identity_url="http://elsewhere:2")  # type: ignore[arg-type]
    assert claims_sent.identity_address == "http://elsewhere:2"


def test_a_published_key_is_used_with_fitting_algorithms_only() -> None:
    weak = rsa.generate_private_key(65537, 1024).public_key()
    entries = {entry["kid"]: entry for entry in THEIRS.jwks()["keys"] if isinstance(entry, dict)}
    uses: dict[str, tuple[Any, set[str]]] = {
        "its own algorithm": (entries["ec"], {"ES256"}),
        "no algorithm named": (without(entries["rsa"], "alg"), {"RS256", "PS256"}),
        "an algorithm of another kind": ({**entries["ec"], "alg": "RS256"}, set()),
        "another curve": ({**entries["ec"], "crv": "P-384", "alg": "ES384"}, set()),
        "an algorithm that is not trusted": ({**entries["rsa"], "alg": "RS512"}, set()),
        "a point off the curve": ({**entries["ec"], "y": entries["ec"]["x"]}, set()),
        "for encryption": ({**entries["ec"], "use": "enc"}, set()),
        "a secret": (entries["oct"], set()),
        "a weak key": ({**RSAAlgorithm.to_jwk(weak, as_dict=True), "kid": "weak", "alg": "RS256"}, set()),
        "no name": (without(entries["ec"], "kid"), set()),
        "a name that is no text": ({**entries["ec"], "kid": 1}, set()),
        "nothing": (None, set()),
    }
    for case, (entry, algorithms) in uses.items():
        assert (case, set(public_keys_of(entry, ["EdDSA", "ES256", "ES384", "RS256", "PS256"]))) == (case, algorithms)


@pytest.mark.parametrize(
    ("named", "claims", "proven"),
    [
        ({}, {"email_verified": True}, True),
        ({}, {"email_verified": "yes"}, False),
        ({}, {}, False),
        ({"emailVerifiedClaim": "https://club.example/proven"}, {"https://club.example/proven": True}, True),
        ({"emailVerifiedClaim": "https://club.example/proven"}, {"email_verified": True}, False),
        ({"emailVerifiedClaim": ["user", "verified"]}, {"user": {"verified": True}}, True),
    ],
)
def test_the_issuer_s_own_claim_confirms_the_mail_address(
    named: dict[str, Any], claims: dict[str, Any], proven: bool
) -> None:
    [issuer] = settings_with(json.dumps([club(**named)])).trusted_issuers
    assert federated_identity_of(of_club(**claims), issuer, clock_of_now().now()).email_verified is proven
