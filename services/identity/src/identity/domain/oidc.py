"""Sign-in by an institution's identity provider (OpenID Connect): the named user, and the proof of their address."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from identity.domain.addresses import domain_of, normal_email

# From the redirect to the provider until its callback.
STATE_LIFE: Final = timedelta(minutes=10)
CODE_LIFE: Final = timedelta(seconds=60)
# The provider asks for credentials again when its own session is older. It then also reports `auth_time`.
AUTHENTICATION_AGE_MAX: Final = timedelta(hours=12)
# A second factor of an unknown time: it opens permissions of any age, and no step-up of 15 minutes.
UNKNOWN_FACTOR_AGE: Final = timedelta(hours=1)
SESSION_METHOD: Final = "oidc"
# In `amr`, where every method with this prefix is a second factor.
STEP_UP_METHOD: Final = "mfa/oidc"

SignInError = Literal[
    "access_denied",
    "provider_error",
    "provider_unavailable",
    "invalid_response",
    "email_not_verified",
    "email_domain_not_accepted",
    "no_account",
    "linked_to_another_user",
]
"""The reason why no account was signed in, as the parameter `error` of the page that the user returns to."""


class SignInFailed(Exception):
    """The provider signed no user in, or none that is accepted here."""

    def __init__(self, error: SignInError) -> None:
        self.error: SignInError = error
        super().__init__(error)


@dataclass(frozen=True, slots=True)
class ProviderRules:
    """A configured provider without its secret. `aal2_acr` names values of `acr` or `amr` that stand for two
    factors. Groups in `groups_claim` propose roles, and never give one.
    """

    name: str
    issuer: str
    client_id: str
    email_domains: frozenset[str]
    aal2_acr: frozenset[str] = frozenset()
    # Without a claim, groups propose no role.
    groups_claim: str = ""
    role_by_group: Mapping[str, str] = field(default_factory=dict)

    def accepts(self, email: str) -> bool:
        """Return whether the normal address belongs to one of the provider's domains, subdomains apart."""
        return domain_of(email) in self.email_domains


@dataclass(frozen=True, slots=True)
class ReturnAddress:
    """The page that a user returns to. With `code_challenge` (S256) its code is exchanged with the verifier only."""

    url: str
    code_challenge: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """A user of a provider, in one of the provider's sessions if it names them."""

    issuer: str
    sub: str
    sid: str | None = None


@dataclass(frozen=True, slots=True)
class ProviderIdentity:
    """The user whom a valid ID token names. `stepped_up_at` is None without a second factor."""

    subject: Subject
    email: str | None
    email_verified: bool
    stepped_up_at: datetime | None
    proposed_roles: frozenset[str] = frozenset()

    def proven_email(self, rules: ProviderRules) -> str:
        """Return the normal address that the provider has verified. Raises SignInFailed."""
        email = normal_email(self.email or "")
        if not self.email_verified or not email:
            raise SignInFailed("email_not_verified")
        if not rules.accepts(email):
            raise SignInFailed("email_domain_not_accepted")
        return email


def proposed_roles(rules: ProviderRules, claims: Mapping[str, object]) -> frozenset[str]:
    """Return the roles of the user's groups; groups without a role, and values that are no text, propose none."""
    named = claims.get(rules.groups_claim)
    groups = named if isinstance(named, list) else [named]
    return frozenset(
        rules.role_by_group[group] for group in groups if isinstance(group, str) and group in rules.role_by_group
    )


def stepped_up_at(
    rules: ProviderRules, claims: Mapping[str, object], authenticated_at: datetime | None, now: datetime
) -> datetime | None:
    """Return the time of the provider's second factor; None where neither `acr` nor `amr` names one of `aal2_acr`."""
    methods = claims.get("amr")
    named = [claims.get("acr"), *(methods if isinstance(methods, list) else [])]
    if rules.aal2_acr.isdisjoint(value for value in named if isinstance(value, str)):
        return None
    return now - UNKNOWN_FACTOR_AGE if authenticated_at is None else min(authenticated_at, now)
