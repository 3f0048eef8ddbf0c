"""Second factors beside one-time codes: how many, how long a challenge lasts, and what may be removed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from common.primitives.clock import iso, iso_or_none
from contracts.permissions import STAFF_ROLES

# A phone, a laptop, a security key and what replaces them; more would only hide a stranger's among them.
FACTORS_OF_A_KIND_MAX: Final = 10
RECOVERY_CODES: Final = 10
# A person finds their security key within that time.
CHALLENGE_LIFE: Final = timedelta(minutes=5)
# Several tabs, and a few attempts in each; beyond that the oldest give way.
OPEN_CHALLENGES_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Factor:
    """A second factor as its owner sees it: never a secret. `kind` is `totp` or `passkey`."""

    id: UUID
    kind: str
    name: str | None
    created_at: datetime
    last_used_at: datetime | None
    confirmed: bool

    def response(self) -> dict[str, Any]:
        """The public shape."""
        return {
            "id": self.id,
            "kind": self.kind,
            "name": self.name,
            "createdAt": iso(self.created_at),
            "lastUsedAt": iso_or_none(self.last_used_at),
            "confirmed": self.confirmed,
        }


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a browser hands to an authenticator. `public_key` is the JSON form of WebAuthn's options."""

    id: UUID
    expires_at: datetime
    public_key: Mapping[str, Any]

    def response(self) -> dict[str, Any]:
        """The public shape."""
        return {"challengeId": self.id, "expiresAt": iso(self.expires_at), "publicKey": self.public_key}


@dataclass(frozen=True, slots=True)
class Removable:
    """The factor may go. With the last one whatever stood in for it goes too."""

    is_last: bool


@dataclass(frozen=True, slots=True)
class RequiredByAppointment:
    """It is the last factor of a member of the staff."""


def check_removal(
    factor: Factor, owned: Collection[Factor], roles: Collection[str]
) -> Removable | RequiredByAppointment:
    """The verdict on removing a factor of a person who holds these roles. One that was never confirmed counts for nothing."""
    is_last = factor.confirmed and sum(other.confirmed for other in owned) == 1
    if is_last and not STAFF_ROLES.isdisjoint(roles):
        return RequiredByAppointment()
    return Removable(is_last)


@dataclass(frozen=True, slots=True)
class SignCountAdvanced:
    """The authenticator's counter went on, or the authenticator has none and always says zero."""


@dataclass(frozen=True, slots=True)
class SignCountRegressed:
    """The counter did not go on: two authenticators hold the same key, or an old answer was kept."""


def check_sign_count(known: int, shown: int) -> SignCountAdvanced | SignCountRegressed:
    """The verdict on the signature counter of an assertion (WebAuthn, section 6.1.1)."""
    return SignCountAdvanced() if shown > known or shown == known == 0 else SignCountRegressed()
