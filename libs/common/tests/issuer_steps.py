"""Two trusted issuers, their keys and tokens, and the API that accepts them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from common.auth.tokens import FurtherIssuers, TokenVerifier
from common.auth.user_lookup import PREVIOUS_PROFILE_PATH, IdentityUserLookup
from common.auth.verification_keys import KeySet
from common.primitives.clock import ManualClock
from common.process.settings import ServiceSettings
from testkit.fixtures import PATIENT

from .forging import (
    OUR_ISSUER,
    SECONDS,
    USER,
    Keys,
    KeyServer,
    clock_of_now,
    key_server,
    mac,
    token_of,
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
    """The identity service of the verifier: one address with the lookup of our users."""

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


@asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    """Yield a verifier that trusts us, the school by its published keys, and the club by a secret."""
    users = LocalUsers(known={"roles": ["buyer", "support_agent"], "vendorId": None, "campusId": CAMPUS})
    async with key_server(Route(PREVIOUS_PROFILE_PATH, users.response)) as keys:
        keys.sets |= {"ours": OURS.jwks(), "school": THEIRS.jwks()}
        issuers = [school(jwksUrl=keys.url("school")), club(allowStaffRoles=True)]
        clock = clock_of_now()
        lookup = IdentityUserLookup(keys.address, PATIENT.identity)
        verifier = TokenVerifier(
            KeySet(keys.url("ours"), clock, seconds_max=PATIENT.identity),
            issuer=OUR_ISSUER,
            clock=clock,
            further=FurtherIssuers(settings_with(json.dumps(issuers)).trusted_issuers, lookup, PATIENT.identity),
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
