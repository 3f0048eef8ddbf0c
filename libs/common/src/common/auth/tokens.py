"""Verification of Bearer tokens (contract section 5). Every service verifies again and trusts no header of the edge."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.auth.api_keys import KEY_AUDIENCE
from common.auth.caller import Caller, permissions_in_session
from common.auth.issuers import FederatedIdentity, TrustedIssuer, federated_identity_of
from common.auth.jws_parser import ReadToken, instant_of, is_second_factor, read_token
from common.auth.user_lookup import LocalUser, NoUserLookup, UserLookup
from common.auth.verification_keys import KeySet, KeySource
from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.primitives.cells import Cells
from common.primitives.clock import Clock
from common.primitives.ids import parse_uuid
from common.primitives.limits import WAIT_LIMITS
from common.primitives.problems import TokenExpired, Unauthorized
from contracts.permissions import KEY_SCOPES, PERMISSIONS_BY_ROLE, STAFF_ROLES

AUDIENCE: Final = "campus-marketplace"
LEEWAY: Final = timedelta(seconds=30)
# A verified token is cached for a minute, the time within which a revocation must take effect.
CACHE_SECONDS: Final = 60
CACHE_TOKENS_MAX: Final = 10_000
# Longer than our tokens live; users of trusted issuers are looked up at identity each minute. A process loads the
# stored revocations of the same period.
REVOCATIONS_REMEMBERED: Final = timedelta(hours=2)
# A withdrawn key invalidates the tokens that it verified: with the loop's jitter well within that minute.
RENEW_KEYS_EVERY_SECONDS: Final = 20.0
# Trusted issuers change their keys seldom.
RENEW_FOREIGN_KEYS_SECONDS: Final = 300


@dataclass(slots=True)
class Revocations:
    """Revoked sessions and users, as published by the identity service.

    Each is held for one to two times REVOCATIONS_REMEMBERED, so that memory stays bounded.
    """

    sessions: set[UUID] = field(default_factory=set)
    users_not_before: dict[UUID, datetime] = field(default_factory=dict)
    _earlier: "Revocations | None" = None
    _started_at: datetime | None = None

    def forget_old(self, now: datetime) -> None:
        """Remove revocations that no longer cover a valid token. Call it periodically."""
        if self._started_at is None:
            self._started_at = now
        elif now - self._started_at >= REVOCATIONS_REMEMBERED:
            self._earlier = Revocations(self.sessions, self.users_not_before)
            self.sessions, self.users_not_before, self._started_at = set(), {}, now

    def add(self, user_id: UUID, session_id: UUID | None, not_before: datetime) -> None:
        if session_id is not None:
            self.sessions.add(session_id)
        else:
            self.users_not_before[user_id] = max(not_before, self.users_not_before.get(user_id, not_before))

    def cover(self, caller: Caller) -> bool:
        """Return whether this caller's token was revoked."""
        if caller.session_id in self.sessions:
            return True
        not_before = self.users_not_before.get(caller.id)
        if not_before is not None and caller.issued_at is not None and caller.issued_at < not_before:
            return True
        return self._earlier is not None and self._earlier.cover(caller)


@dataclass(frozen=True, slots=True)
class _Issuer:
    """An accepted issuer and its keys; `trusted` is None for our own."""

    keys: KeySource
    trusted: TrustedIssuer | None = None


# The caller, the end of the cache entry, and the key that verified it. A tuple, because every request reads it.
_Verified = tuple[Caller, datetime, KeySource, str | None]


@dataclass(frozen=True, slots=True)
class FurtherIssuers:
    """The issuers whose tokens identify users besides our own, and the look-up of the roles of these users.

    Their keys are fetched within `fetch_seconds_max`.
    """

    trusted: Sequence[TrustedIssuer] = ()
    user_lookup: UserLookup = field(default_factory=NoUserLookup)
    fetch_seconds_max: float = WAIT_LIMITS.identity


class TokenVerifier:
    """Checks signature, issuer, audience and times of a token, and caches the caller for a minute.

    The roles of a user of a further issuer are cached for the same time.
    """

    def __init__(
        self,
        keys: KeySet,
        *,
        issuer: str,
        clock: Clock,
        revocations: Revocations | None = None,
        further: FurtherIssuers | None = None,
        cells: Cells | None = None,
    ) -> None:
        self._clock, self._cells = clock, cells
        further = further or FurtherIssuers()
        # Each issuer has its own keys; a key of one issuer never verifies a token of another.
        self._issuers = {
            entry.issuer: _Issuer(entry.key_source(clock, further.fetch_seconds_max), entry)
            for entry in further.trusted
        }
        self._issuers[issuer] = _Issuer(keys)
        self.revocations = revocations or Revocations()
        self.user_lookup = further.user_lookup
        self._verified: OrderedDict[str, _Verified] = OrderedDict()
        # Issue time and key of our newest token: its key is the one that signs now.
        self._newest: tuple[datetime, str | None] | None = None

    async def caller_of(self, token: str) -> Caller:
        """Return the caller of a token.

        Raises Unauthorized, TokenExpired for an otherwise valid token, Misdirected for a campus of another cell, and
        for a token of a trusted issuer ProfileMissing or Unavailable.
        """
        now = self._clock.now()
        verified = self._verified.get(token)
        if verified is None or now >= verified[1]:
            verified = await self._verify(token, now)
            self._remember(token, verified)
        caller = verified[0]
        if self.revocations.cover(caller):
            raise Unauthorized("The session was ended. Sign in again.")
        return caller

    async def renew_keys_once(self) -> None:
        """Fetch the keys of all issuers, and removes cached callers whose key was withdrawn."""
        for issuer in self._issuers.values():
            if isinstance(issuer.keys, KeySet):
                older_than = RENEW_FOREIGN_KEYS_SECONDS if issuer.trusted else RENEW_KEYS_EVERY_SECONDS / 2
                await issuer.keys.refresh(older_than)
        withdrawn = [token for token, (_, _, keys, kid) in self._verified.items() if not keys.holds(kid)]
        for token in withdrawn:
            del self._verified[token]

    async def _verify(self, token: str, now: datetime) -> _Verified:
        read = read_token(token)
        named = read.claims.get("iss")
        issuer = self._issuers.get(named) if isinstance(named, str) else None
        if issuer is None:
            raise Unauthorized
        key = await issuer.keys.find(read.kid, read.algorithm)
        if key is None or not read.is_signed_with(key):
            raise Unauthorized
        if issuer.trusted is None:
            caller = _our_caller(read, now)
            _check_times(read.claims, caller.issued_at, caller.expires_at, now)
            self._count_previous_key(read.kid, caller.issued_at or now)
        else:
            identity = federated_identity_of(read.claims, issuer.trusted, now)
            _check_times(read.claims, identity.issued_at, identity.expires_at, now)
            caller = caller_named(identity, await self.user_lookup.find(token, identity))
        if self._cells is not None:
            self._cells.check_campus(caller.campus_id)
        expires_at = caller.expires_at or now
        until = min(now + timedelta(seconds=CACHE_SECONDS), expires_at + LEEWAY)
        return caller, until, issuer.keys, read.kid

    def _count_previous_key(self, kid: str | None, issued_at: datetime) -> None:
        """Count a token of the previous key of a rotation: an older token under another key than the newest one."""
        if self._newest is None or issued_at >= self._newest[0]:
            self._newest = (issued_at, kid)
        elif kid != self._newest[1]:
            PREVIOUS_KEY_ACCEPTED.labels("jwt-signing-keys").inc()

    def _remember(self, token: str, verified: _Verified) -> None:
        self._verified[token] = verified
        self._verified.move_to_end(token)
        if len(self._verified) > CACHE_TOKENS_MAX:
            self._verified.popitem(last=False)


def bearer_token(authorization: str | None) -> str | None:
    """Return the token of an Authorization header, or None without one. Raises Unauthorized when it is malformed."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token or " " in token:
        raise Unauthorized
    return token


def caller_named(identity: FederatedIdentity, user: LocalUser) -> Caller:
    """Return the caller for a token of a trusted issuer. Staff roles count only with `allowStaffRoles`."""
    roles = user.roles | identity.staff_roles if identity.may_be_staff else user.roles - STAFF_ROLES
    permissions, withheld = permissions_in_session(roles, identity.stepped_up_at)
    return Caller(
        user_id=identity.user_id,
        session_id=identity.session_id,
        roles=roles,
        permissions=permissions,
        withheld=withheld,
        vendor_id=user.vendor_id,
        campus_id=user.campus_id,
        hub_id=user.hub_id,
        packing_vendor_id=user.packing_vendor_id,
        stepped_up_at=identity.stepped_up_at,
        issued_at=identity.issued_at,
        expires_at=identity.expires_at,
        issuer=identity.issuer,
        email_confirmed=user.email_confirmed,
    )


def _check_times(
    claims: Mapping[str, object], issued_at: datetime | None, expires_at: datetime | None, now: datetime
) -> None:
    """Check the times last, so that only an otherwise valid token is reported as expired."""
    if issued_at is None or expires_at is None or issued_at > now + LEEWAY:
        raise Unauthorized
    if "nbf" in claims and instant_of(claims["nbf"], fractions=True) > now + LEEWAY:
        raise Unauthorized
    if expires_at + LEEWAY <= now:
        raise TokenExpired


def _our_caller(read: ReadToken, now: datetime) -> Caller:
    """Return the caller of our own token, which has every claim of the contract in exactly one form."""
    claims = read.claims
    if claims.get("aud") == KEY_AUDIENCE:
        return _api_key_caller(claims)
    metadata = claims.get("app_metadata")
    if claims.get("aud") not in (AUDIENCE, [AUDIENCE]) or not isinstance(metadata, dict):
        raise Unauthorized
    roles = _roles_of(metadata.get("roles"))
    _roles_of([claims.get("role")])
    if claims.get("aal") not in ("aal1", "aal2"):
        raise Unauthorized
    stepped_up_at = _stepped_up_at(claims, now)
    permissions, withheld = permissions_in_session(roles, stepped_up_at)
    return Caller(
        user_id=_uuid_of(claims.get("sub")),
        session_id=_uuid_of(claims.get("session_id")),
        roles=roles,
        permissions=permissions,
        withheld=withheld,
        vendor_id=_uuid_or_none_of(metadata, "vendor_id"),
        campus_id=_uuid_or_none_of(metadata, "campus_id"),
        # Absent from the previous version's tokens, whose agents see no order until their next refresh.
        hub_id=_uuid_or_none_of(metadata, "hub_id") if "hub_id" in metadata else None,
        packing_vendor_id=(
            _uuid_or_none_of(metadata, "packing_vendor_id") if "packing_vendor_id" in metadata else None
        ),
        stepped_up_at=stepped_up_at,
        issued_at=instant_of(claims.get("iat")),
        expires_at=instant_of(claims.get("exp")),
        email_confirmed=claims.get("email_verified") is True,
    )


def _api_key_caller(claims: Mapping[str, object]) -> Caller:
    """Return the caller of an API key's token. Its permissions are those of its scopes."""
    scope, metadata = claims.get("scope"), claims.get("app_metadata")
    scopes = frozenset(scope.split(" ")) if isinstance(scope, str) else frozenset()
    if not scopes or not scopes <= KEY_SCOPES.keys() or not isinstance(metadata, dict):
        raise Unauthorized
    key_id = _uuid_of(claims.get("sub"))
    return Caller(
        user_id=key_id,
        session_id=key_id,
        permissions=frozenset(KEY_SCOPES[one] for one in scopes),
        vendor_id=_uuid_or_none_of(metadata, "vendor_id"),
        campus_id=_uuid_or_none_of(metadata, "campus_id"),
        issued_at=instant_of(claims.get("iat")),
        expires_at=instant_of(claims.get("exp")),
        key_scopes=scopes,
    )


def _roles_of(named: object) -> frozenset[str]:
    if not isinstance(named, list) or not all(isinstance(role, str) and role in PERMISSIONS_BY_ROLE for role in named):
        raise Unauthorized
    return frozenset(named)


def _stepped_up_at(claims: Mapping[str, object], now: datetime) -> datetime | None:
    """Return the time of the last second factor; None below AAL2."""
    methods = claims.get("amr")
    if not isinstance(methods, list) or not all(isinstance(entry, dict) for entry in methods):
        raise Unauthorized
    shown = [(entry.get("method"), instant_of(entry.get("timestamp"))) for entry in methods]
    if not all(isinstance(method, str) for method, _ in shown):
        raise Unauthorized
    if claims["aal"] != "aal2":
        return None
    return max((at for method, at in shown if is_second_factor(method) and at <= now + LEEWAY), default=None)


def _uuid_of(value: object) -> UUID:
    found = parse_uuid(value) if isinstance(value, str) else None
    if found is None:
        raise Unauthorized
    return found


def _uuid_or_none_of(metadata: Mapping[str, object], name: str) -> UUID | None:
    if name not in metadata:
        raise Unauthorized
    return None if metadata[name] is None else _uuid_of(metadata[name])
