"""Second factors other than TOTP codes: their number, the validity of a challenge, and their removal."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.primitives.json_records import Json
from contracts.permissions import STAFF_ROLES

# A phone, a laptop, a security key and their successors. More would only hide an attacker's factor.
FACTORS_OF_A_KIND_MAX: Final = 10
RECOVERY_CODES: Final = 10
# Enough time to fetch a security key.
CHALLENGE_LIFE: Final = timedelta(minutes=5)
# Several tabs with a few attempts each. Beyond it the oldest challenges are deleted.
OPEN_CHALLENGES_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Factor:
    """A second factor as its owner sees it, without its secret. `kind` is `totp` or `passkey`."""

    id: UUID
    kind: str
    name: str | None
    created_at: datetime
    last_used_at: datetime | None
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge for an authenticator. `public_key` is the JSON form of WebAuthn's options."""

    id: UUID
    expires_at: datetime
    public_key: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Removable:
    """The factor may be removed. Removing the last one also removes its substitutes."""

    is_last: bool


@dataclass(frozen=True, slots=True)
class RequiredByAppointment:
    """The last factor of a member of the staff."""


def check_removal(
    factor: Factor, owned: Collection[Factor], roles: Collection[str]
) -> Removable | RequiredByAppointment:
    """Return whether a user with these roles may remove the factor. Unconfirmed factors do not count."""
    is_last = factor.confirmed and sum(other.confirmed for other in owned) == 1
    if is_last and not STAFF_ROLES.isdisjoint(roles):
        return RequiredByAppointment()
    return Removable(is_last)


@dataclass(frozen=True, slots=True)
class SignCountAdvanced:
    """The counter increased, or the authenticator has none and always sends zero."""


@dataclass(frozen=True, slots=True)
class SignCountRegressed:
    """The counter did not increase: the key was cloned, or an old response was replayed."""


def check_sign_count(known: int, shown: int) -> SignCountAdvanced | SignCountRegressed:
    """Check the signature counter of an assertion (WebAuthn, section 6.1.1)."""
    return SignCountAdvanced() if shown > known or shown == known == 0 else SignCountRegressed()
