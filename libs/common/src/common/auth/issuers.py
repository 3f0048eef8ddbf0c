"""Trusted issuers of tokens, as TRUSTED_ISSUERS lists them (contract section 5.2).

Each has its own keys, audience and algorithms. Its tokens identify a user. The permissions of that user come from our
identity service; staff roles of the token count only with `allowStaffRoles`.

`TRUSTED_ISSUERS` is a JSON list of

    {"issuer": "https://login.school.example", "jwksUrl": "https://login.school.example/keys", "audience": "shop",
     "algorithms": ["ES256"], "primary": true, "allowStaffRoles": false, "claims": {"session_id": "sid"}}

or with `secret` (at least 32 bytes, `HS256` to `HS512`) in place of `jwksUrl` (https; `EdDSA`, `ES*`, `RS*`, `PS*`).
`audience` may be a list. `claims` maps `sub`, `session_id`, `roles`, `aal` and `amr` to a claim, each by a name or a
path of names. An invalid list stops the start with the reason.

The user id is the `sub` of the one primary issuer, a UUID; of other issuers `uuid5(uuid5(NAMESPACE_URL, issuer),
sub)`. Before create-user was called with that id, every request is 403 `AUTH_FORBIDDEN` with the id as `userId`.
"""

import ipaddress
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic.alias_generators import to_camel

from common.auth.jws_parser import instant_of, is_second_factor
from common.auth.verification_keys import ASYMMETRIC, SYMMETRIC, KeySet, KeySource, SharedSecret
from common.primitives.clock import Clock
from common.primitives.ids import parse_uuid
from common.primitives.limits import WAIT_LIMITS
from common.primitives.problems import Unauthorized
from contracts.permissions import STAFF_ROLES

ClaimPath = tuple[str, ...]
# Longer than any subject of an issuer. A subject is hashed, never stored.
_TEXT_CHARACTERS_MAX: Final = 512


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True)


class ClaimPaths(_Part):
    """The claims that we read, each as the name of a claim or as a path of names."""

    sub: ClaimPath = ("sub",)
    session_id: ClaimPath = Field(default=("session_id",), alias="session_id")
    roles: ClaimPath = ("app_metadata", "roles")
    aal: ClaimPath = ("aal",)
    amr: ClaimPath = ("amr",)
    email: ClaimPath = ("email",)

    @field_validator("*", mode="before")
    @classmethod
    def name_is_a_short_path(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("*")
    @classmethod
    def names_are_not_empty(cls, value: ClaimPath) -> ClaimPath:
        if not value or not all(value):
            raise ValueError("must be the name of a claim, or a list of names")
        return value


class TrustedIssuer(_Part):
    """One entry of TRUSTED_ISSUERS."""

    issuer: str = Field(min_length=1, max_length=_TEXT_CHARACTERS_MAX)
    audience: tuple[str, ...]
    algorithms: frozenset[str]
    jwks_url: str | None = None
    secret: SecretStr | None = Field(default=None, repr=False)
    primary: bool = False
    allow_staff_roles: bool = False
    # The claim by which the issuer confirms the mail address (contract section 10.1).
    email_verified_claim: ClaimPath = ("email_verified",)
    claims: ClaimPaths = ClaimPaths()

    @field_validator("email_verified_claim", mode="before")
    @classmethod
    def claim_name_is_a_short_path(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("email_verified_claim")
    @classmethod
    def claim_name_is_not_empty(cls, value: ClaimPath) -> ClaimPath:
        if not value or not all(value):
            raise ValueError("must be the name of a claim, or a list of names")
        return value

    @field_validator("audience", mode="before")
    @classmethod
    def one_audience_is_a_list_of_one(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("audience")
    @classmethod
    def some_audience(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not all(value):
            raise ValueError("must name an audience")
        return value

    @field_validator("algorithms")
    @classmethod
    def known_algorithms(cls, value: frozenset[str]) -> frozenset[str]:
        if not value:
            raise ValueError("must name at least one algorithm")
        unknown = value - ASYMMETRIC - set(SYMMETRIC)
        if unknown:
            raise ValueError(f"not supported: {', '.join(sorted(unknown))}")
        return value

    @field_validator("jwks_url")
    @classmethod
    def fetched_safely(cls, value: str | None) -> str | None:
        if value is not None and not is_safe_to_fetch(value):
            raise ValueError("must be an https address (http on this machine only)")
        return value

    @model_validator(mode="after")
    def keys_fit_the_algorithms(self) -> Self:
        if (self.jwks_url is None) == (self.secret is None):
            raise ValueError("exactly one of jwksUrl and secret must be given")
        fitting = ASYMMETRIC if self.secret is None else set(SYMMETRIC)
        if not self.algorithms <= fitting:
            kind = "jwksUrl goes with EdDSA, ES*, RS* and PS*" if self.secret is None else "secret goes with HS*"
            raise ValueError(f"{kind} only, and algorithms must not mix them")
        if self.secret is not None:
            bytes_min = max(SYMMETRIC[name] for name in self.algorithms)
            if len(self.secret.get_secret_value().encode()) < bytes_min:
                raise ValueError(f"secret must be at least {bytes_min} bytes long for these algorithms")
        return self

    def key_source(self, clock: Clock, seconds_max: float = WAIT_LIMITS.identity) -> KeySource:
        """Return this issuer's keys, and no others."""
        if self.secret is not None:
            return SharedSecret(self.secret.get_secret_value().encode(), self.algorithms)
        if self.jwks_url is None:
            raise ValueError("an issuer has a secret or an address of keys")
        return KeySet(self.jwks_url, clock, self.algorithms, seconds_max)

    def user_id_of(self, sub: str) -> UUID:
        """Our user id for a subject: the same for the primary issuer, else the UUIDv5 of (issuer, sub)."""
        if self.primary:
            user_id = parse_uuid(sub)
            if user_id is None:
                raise Unauthorized
            return user_id
        return uuid5(uuid5(NAMESPACE_URL, self.issuer), sub)


@dataclass(frozen=True, slots=True)
class FederatedIdentity:
    """The user of a valid token of a trusted issuer, with our ids."""

    user_id: UUID
    session_id: UUID
    issuer: str
    # Whether staff roles, of the token and of our database, count for this token.
    may_be_staff: bool
    staff_roles: frozenset[str]
    stepped_up_at: datetime | None
    issued_at: datetime
    expires_at: datetime
    # Whether the issuer confirmed the mail address, and the address, where the token has one.
    email_verified: bool = False
    email: str | None = None


def federated_identity_of(claims: Mapping[str, object], issuer: TrustedIssuer, now: datetime) -> FederatedIdentity:
    """Read the claims of a token with a valid signature. Raises Unauthorized. The caller checks its times."""
    audiences = claims.get("aud")
    named = [audiences] if isinstance(audiences, str) else audiences
    if not isinstance(named, list) or not any(isinstance(name, str) and name in issuer.audience for name in named):
        raise Unauthorized
    sub = _text(_at(claims, issuer.claims.sub))
    issued_at = instant_of(claims.get("iat"), fractions=True)
    staff = issuer.allow_staff_roles
    return FederatedIdentity(
        user_id=issuer.user_id_of(sub),
        session_id=_session_id(claims, issuer, sub, issued_at),
        issuer=issuer.issuer,
        may_be_staff=staff,
        staff_roles=_staff_roles(claims, issuer) if staff else frozenset(),
        stepped_up_at=_stepped_up_at(claims, issuer, now) if staff else None,
        issued_at=issued_at,
        expires_at=instant_of(claims.get("exp"), fractions=True),
        email_verified=_is_true(_at(claims, issuer.email_verified_claim)),
        email=_email_of(claims, issuer),
    )


def read_trusted_issuers(text: str) -> object:
    """Return the JSON list of TRUSTED_ISSUERS; raises ValueError."""
    try:
        entries = json.loads(text)
    except ValueError as error:
        raise ValueError(f"must be a JSON list ({error})") from None
    if not isinstance(entries, list):
        raise ValueError("must be a JSON list")
    return entries


def check_issuers_together(issuers: Sequence[TrustedIssuer], our_issuer: str) -> None:
    """Raise ValueError when two have the same name, when two are primary, or when our own issuer is listed."""
    names = [issuer.issuer.rstrip("/") for issuer in issuers]
    if our_issuer.rstrip("/") in names:
        raise ValueError(f"{our_issuer} is our own issuer (BASE_URL) and must not be listed")
    if len(set(names)) < len(names):
        raise ValueError("each issuer must be listed once")
    if sum(issuer.primary for issuer in issuers) > 1:
        raise ValueError("at most one issuer can be primary")


def is_safe_to_fetch(url: str, *, allow_loopback: bool = True) -> bool:
    """Return whether an address is https, or with `allow_loopback` http on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or parts.username or parts.password or parts.fragment:
        return False
    return parts.scheme == "https" or (allow_loopback and parts.scheme == "http" and _is_this_machine(host))


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _at(claims: Mapping[str, object], path: ClaimPath) -> object:
    value: object = claims
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _is_true(value: object) -> bool:
    """Return whether a claim is true. Some issuers write the flag as a text; any other value is false."""
    return value is True or value == "true"


def _email_of(claims: Mapping[str, object], issuer: TrustedIssuer) -> str | None:
    email = _at(claims, issuer.claims.email)
    return email if isinstance(email, str) else None


def _text(value: object) -> str:
    """Return a text that can be hashed: lone surrogates cannot."""
    if not isinstance(value, str) or not 0 < len(value) <= _TEXT_CHARACTERS_MAX:
        raise Unauthorized
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Unauthorized from error
    return value


def _session_id(claims: Mapping[str, object], issuer: TrustedIssuer, sub: str, issued_at: datetime) -> UUID:
    """Our session id for a session of the issuer; its own id is never used. Without sessions each token is one
    session.
    """
    named = _at(claims, issuer.claims.session_id)
    jti = claims.get("jti")
    if named is not None:
        session = f"session:{_text(named)}"
    elif jti is not None:
        session = f"token:{_text(jti)}"
    else:
        session = f"issued:{issued_at.timestamp()}"
    return uuid5(uuid5(uuid5(NAMESPACE_URL, issuer.issuer), sub), session)


def _staff_roles(claims: Mapping[str, object], issuer: TrustedIssuer) -> frozenset[str]:
    roles = _at(claims, issuer.claims.roles)
    if roles is None:
        return frozenset()
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        raise Unauthorized
    return STAFF_ROLES.intersection(roles)


def _stepped_up_at(claims: Mapping[str, object], issuer: TrustedIssuer, now: datetime) -> datetime | None:
    """Return the time of the last second factor. Entries in another form or of the future do not count."""
    methods = _at(claims, issuer.claims.amr)
    if _at(claims, issuer.claims.aal) != "aal2" or not isinstance(methods, list):
        return None
    shown = [
        instant_of(entry.get("timestamp"), fractions=True)
        for entry in methods
        if isinstance(entry, dict) and is_second_factor(entry.get("method"))
    ]
    return max((instant for instant in shown if instant <= now), default=None)
