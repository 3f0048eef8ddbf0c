"""Who a Bearer token says is calling (contract section 5). Verified here again in every service: no header is believed."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import httpx
import jwt

from common.caller import Caller
from common.clock import Clock
from common.ids import parse_uuid
from common.logging import get_logger
from common.problems import TokenExpired, Unauthorized, Unavailable
from contracts.permissions import permissions_of

log = get_logger(__name__)

AUDIENCE: Final = "campus-marketplace"
ALGORITHMS: Final = ("EdDSA", "ES256")
# A longer token is no token of ours; refusing it early keeps the check cheap.
TOKEN_CHARACTERS_MAX: Final = 8_192
LEEWAY: Final = timedelta(seconds=30)
# A verified token is believed for a minute, the time within which a revocation must take effect anyway.
CACHE_SECONDS: Final = 60
CACHE_TOKENS_MAX: Final = 10_000
JWKS_SECONDS: Final = 300
# What counts as a second factor in `amr`. A list, and not "anything but a password": a one-time code by mail is a first one.
SECOND_FACTORS: Final = frozenset({"totp", "passkey", "webauthn", "recovery_code"})
SECOND_FACTOR_PREFIX: Final = "mfa/"
# An unknown `kid` may fetch the keys anew, but not more often than this, whoever asks.
JWKS_REFETCH_SECONDS: Final = 5


class KeySet:
    """The issuer's public keys, fetched when first needed, kept for five minutes, fetched anew for an unknown `kid`."""

    def __init__(self, jwks_url: str, clock: Clock) -> None:
        self._url, self._clock = jwks_url, clock
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at: datetime | None = None
        self._fetching = asyncio.Lock()

    async def key_of(self, kid: str) -> jwt.PyJWK | None:
        """The key with this id, or None. Raises Unavailable when there are no keys and the issuer is away."""
        if self._age() > JWKS_SECONDS or (kid not in self._keys and self._age() > JWKS_REFETCH_SECONDS):
            async with self._fetching:
                if self._age() > JWKS_SECONDS or (kid not in self._keys and self._age() > JWKS_REFETCH_SECONDS):
                    await self._fetch()
        return self._keys.get(kid)

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else (self._clock.now() - self._fetched_at).total_seconds()

    async def _fetch(self) -> None:
        try:
            async with httpx.AsyncClient(timeout=3) as client:
                answer = (await client.get(self._url)).raise_for_status()
            keys = {entry["kid"]: jwt.PyJWK.from_dict(entry) for entry in answer.json()["keys"]}
        except (httpx.HTTPError, ValueError, KeyError, jwt.PyJWTError) as error:
            log.warning("signing keys not fetched", url=self._url, error=repr(error))
            if self._fetched_at is None:
                raise Unavailable("The identity provider is not available for the moment.") from error
            return
        self._keys, self._fetched_at = keys, self._clock.now()


@dataclass(slots=True)
class Revocations:
    """Sessions and users whose tokens no longer hold, as heard from the identity service."""

    sessions: set[UUID] = field(default_factory=set)
    users_not_before: dict[UUID, datetime] = field(default_factory=dict)

    def add(self, user_id: UUID, session_id: UUID | None, not_before: datetime) -> None:
        if session_id is not None:
            self.sessions.add(session_id)
        else:
            self.users_not_before[user_id] = max(not_before, self.users_not_before.get(user_id, not_before))

    def cover(self, caller: Caller) -> bool:
        """Whether this caller's token was revoked."""
        if caller.session_id in self.sessions:
            return True
        not_before = self.users_not_before.get(caller.id)
        return not_before is not None and caller.issued_at is not None and caller.issued_at < not_before


class TokenVerifier:
    """Checks signature, issuer, audience and times of a token, and keeps what it verified for a minute."""

    def __init__(self, keys: KeySet, *, issuer: str, clock: Clock, revocations: Revocations | None = None) -> None:
        self._keys, self._issuer, self._clock = keys, issuer, clock
        self.revocations = revocations or Revocations()
        self._verified: OrderedDict[str, tuple[Caller, datetime]] = OrderedDict()

    async def caller_of(self, token: str) -> Caller:
        """The caller; raises Unauthorized, or TokenExpired for a well-signed token past its time."""
        now = self._clock.now()
        cached = self._verified.get(token)
        if cached is not None and now < cached[1]:
            caller = cached[0]
        else:
            caller = await self._verify(token, now)
            self._keep(token, caller, now)
        if self.revocations.cover(caller):
            raise Unauthorized("The session was ended. Sign in again.")
        return caller

    async def _verify(self, token: str, now: datetime) -> Caller:
        claims = await self._claims_of(token)
        expires_at = _instant(claims.get("exp"))
        issued_at = _instant(claims.get("iat"))
        if issued_at > now + LEEWAY:
            raise Unauthorized
        not_before = claims.get("nbf")
        if not_before is not None and _instant(not_before) > now + LEEWAY:
            raise Unauthorized
        if expires_at + LEEWAY <= now:
            raise TokenExpired
        return _caller(claims, issued_at, expires_at)

    async def _claims_of(self, token: str) -> dict[str, Any]:
        if len(token) > TOKEN_CHARACTERS_MAX:
            raise Unauthorized
        try:
            header = jwt.get_unverified_header(token)
            kid = header.get("kid")
            if not isinstance(kid, str) or header.get("alg") not in ALGORITHMS:
                raise Unauthorized
            key = await self._keys.key_of(kid)
            if key is None or key.algorithm_name != header["alg"]:
                raise Unauthorized
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm_name],
                audience=AUDIENCE,
                issuer=self._issuer,
                # The times are judged on the injected clock, by the caller of this function.
                options={
                    "require": ["exp", "iat", "iss", "aud", "sub"],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError) as error:
            raise Unauthorized from error
        return claims

    def _keep(self, token: str, caller: Caller, now: datetime) -> None:
        until = min(now + timedelta(seconds=CACHE_SECONDS), (caller.expires_at or now) + LEEWAY)
        self._verified[token] = (caller, until)
        self._verified.move_to_end(token)
        if len(self._verified) > CACHE_TOKENS_MAX:
            self._verified.popitem(last=False)


def bearer_token(authorization: str | None) -> str | None:
    """The token of an Authorization header; None without one; Unauthorized when it is malformed."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token or " " in token:
        raise Unauthorized
    return token


def _caller(claims: dict[str, Any], issued_at: datetime, expires_at: datetime) -> Caller:
    metadata = claims.get("app_metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("roles"), list):
        raise Unauthorized
    user_id = parse_uuid(str(claims["sub"]))
    if user_id is None:
        raise Unauthorized
    roles = frozenset(str(role) for role in metadata["roles"])
    return Caller(
        user_id=user_id,
        session_id=_uuid_or_none(claims.get("session_id")),
        roles=roles,
        permissions=permissions_of(roles),
        vendor_id=_uuid_or_none(metadata.get("vendor_id")),
        campus_id=_uuid_or_none(metadata.get("campus_id")),
        stepped_up_at=_stepped_up_at(claims),
        issued_at=issued_at,
        expires_at=expires_at,
    )


def _stepped_up_at(claims: dict[str, Any]) -> datetime | None:
    """When the second factor was shown; None below AAL2."""
    methods = claims.get("amr")
    if claims.get("aal") != "aal2" or not isinstance(methods, list):
        return None
    shown = [
        entry["timestamp"]
        for entry in methods
        if isinstance(entry, dict) and _is_second_factor(entry.get("method")) and "timestamp" in entry
    ]
    return max((_instant(stamp) for stamp in shown), default=None)


def _is_second_factor(method: Any) -> bool:
    return isinstance(method, str) and (method in SECOND_FACTORS or method.startswith(SECOND_FACTOR_PREFIX))


def _instant(stamp: Any) -> datetime:
    if isinstance(stamp, bool) or not isinstance(stamp, int | float) or not 0 <= stamp < 2**40:
        raise Unauthorized
    return datetime.fromtimestamp(stamp, UTC)


def _uuid_or_none(value: Any) -> UUID | None:
    return parse_uuid(value) if isinstance(value, str) else None
