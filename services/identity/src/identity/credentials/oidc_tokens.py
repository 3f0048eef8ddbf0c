"""The secrets of a sign-in at a provider, and the claims of the provider's tokens (OpenID Connect Core 3.1.3.7)."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from common.auth.jws_parser import instant_of
from common.auth.tokens import LEEWAY
from common.primitives.problems import Unauthorized
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.oidc import (
    AUTHENTICATION_AGE_MAX,
    ProviderIdentity,
    ProviderRules,
    Subject,
    proposed_roles,
    stepped_up_at,
)

# A `sub` has at most 255 characters (OpenID Connect Core 2); the same for `sid` and `jti`.
_TEXT_CHARACTERS_MAX: Final = 255
_LOGOUT_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
# A logout token that the provider issued earlier was lost or held back.
_LOGOUT_AGE_MAX: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class FlowSecrets:
    """The values of one sign-in. `nonce` and `verifier` derive from `state`, whose hash alone is stored."""

    state: str
    nonce: str
    verifier: str

    @property
    def challenge(self) -> str:
        """The code challenge of PKCE, method S256 (RFC 7636)."""
        return challenge_of(self.verifier)


@dataclass(frozen=True, slots=True)
class Logout:
    """A valid logout token: the user or the session that ended at the provider, and until when it could be repeated."""

    issuer: str
    sub: str | None
    sid: str | None
    token_id: str
    expires_at: datetime


def challenge_of(verifier: str) -> str:
    """Return the code challenge of PKCE, method S256 (RFC 7636)."""
    return _base64url(hashlib.sha256(verifier.encode()).digest())


def flow_secrets_of(hashes: KeyedHashes, state: str) -> FlowSecrets:
    """Return the secrets of the sign-in with this `state`."""
    nonce, verifier = (_base64url(hashes.of(purpose, state)) for purpose in ("oidc_nonce", "oidc_verifier"))
    return FlowSecrets(state, nonce, verifier)


def identity_of(rules: ProviderRules, claims: Mapping[str, object], nonce: str, now: datetime) -> ProviderIdentity:
    """Check the claims of an ID token with a valid signature. Raises Unauthorized."""
    _check_issuer_and_audience(rules, claims)
    _check_times(claims, now)
    if claims.get("nonce") != nonce:
        raise Unauthorized
    authenticated_at = instant_of(claims["auth_time"], fractions=True) if "auth_time" in claims else None
    if authenticated_at is not None and not (now - AUTHENTICATION_AGE_MAX - LEEWAY <= authenticated_at <= now + LEEWAY):
        raise Unauthorized
    email, verified = claims.get("email"), claims.get("email_verified")
    return ProviderIdentity(
        Subject(rules.issuer, _text(claims, "sub"), _text(claims, "sid") if "sid" in claims else None),
        email if isinstance(email, str) else None,
        # Some providers write the flag as a text.
        verified is True or verified == "true",
        stepped_up_at(rules, claims, authenticated_at, now),
        proposed_roles(rules, claims),
    )


def logout_of(rules: ProviderRules, claims: Mapping[str, object], now: datetime) -> Logout:
    """Check the claims of a logout token with a valid signature (OpenID Connect Back-Channel Logout 2.6).

    Raises Unauthorized.
    """
    _check_issuer_and_audience(rules, claims)
    expires_at, issued_at = _check_times(claims, now)
    events = claims.get("events")
    is_logout = isinstance(events, dict) and isinstance(events.get(_LOGOUT_EVENT), dict)
    if not is_logout or "nonce" in claims or now - issued_at > _LOGOUT_AGE_MAX:
        raise Unauthorized
    sub, sid = (_text(claims, name) if name in claims else None for name in ("sub", "sid"))
    if sub is None and sid is None:
        raise Unauthorized
    return Logout(rules.issuer, sub, sid, _text(claims, "jti"), expires_at + LEEWAY)


def _check_issuer_and_audience(rules: ProviderRules, claims: Mapping[str, object]) -> None:
    named = claims.get("aud")
    audiences = [named] if isinstance(named, str) else named
    party = claims.get("azp", rules.client_id if audiences == [rules.client_id] else None)
    if claims.get("iss") != rules.issuer or not isinstance(audiences, list) or rules.client_id not in audiences:
        raise Unauthorized
    if party != rules.client_id:
        raise Unauthorized


def _check_times(claims: Mapping[str, object], now: datetime) -> tuple[datetime, datetime]:
    """Return the ends of the token's life: `exp` and `iat`."""
    expires_at, issued_at = (instant_of(claims.get(name), fractions=True) for name in ("exp", "iat"))
    starts_at = instant_of(claims["nbf"], fractions=True) if "nbf" in claims else issued_at
    if expires_at + LEEWAY <= now or max(issued_at, starts_at) > now + LEEWAY:
        raise Unauthorized
    return expires_at, issued_at


def _text(claims: Mapping[str, object], name: str) -> str:
    """Return a claim that the database can store. Raises Unauthorized."""
    value = claims.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _TEXT_CHARACTERS_MAX or not value.isprintable():
        raise Unauthorized
    return value


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
