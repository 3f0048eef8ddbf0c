"""What a refresh token is worth when it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from identity.domain.authorization_profile import ACCESS_LIFE

# A student who signs in once a month stays signed in; each refresh begins the time anew.
REFRESH_LIFE: Final = timedelta(days=30)
# The token before the present one is good for so long after its exchange (contract section 10.3).
REPEATED_FOR: Final = timedelta(seconds=30)
# What a token of ours may still be believed after it was issued, with the leeway of those who check it.
TOKEN_ACCEPTED_FOR: Final = ACCESS_LIFE + timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class StoredRefreshToken:
    """A refresh token as it is stored, with its session."""

    session_id: UUID
    user_id: UUID
    signed_in_at: datetime
    method: str
    stepped_up_at: datetime | None
    expires_at: datetime
    used_at: datetime | None
    session_revoked: bool
    stepped_up_by: str | None = None
    stepped_up_factor_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Usable:
    """The token may be exchanged, once."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """The token was exchanged a moment ago: by another tab, or the answer was lost. Its successor is the answer again."""


@dataclass(frozen=True, slots=True)
class Reused:
    """The token was exchanged before: one of its two holders is a thief, so the whole family ends."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """The session has ended, or the token is too old."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """What must be said so that no token of sessions that ended is believed.

    `not_before` revokes whatever the person was given before it; None where a session of theirs goes on.
    """

    not_before: datetime | None
    session_ids: tuple[UUID, ...]


def revocation_of(last_issued: Mapping[UUID, datetime], now: datetime, *, one_goes_on: bool) -> Revocation:
    """What to say about sessions that ended now, by when each of them was last given tokens.

    A token tells the second of its birth only. So whatever was issued before this second is revoked by the time, and what
    was issued within it by its session: a login of the same second, after the end, stays good.
    """
    second = now.replace(microsecond=0)
    since = now - TOKEN_ACCEPTED_FOR if one_goes_on else second
    given_since = tuple(session_id for session_id, issued_at in last_issued.items() if issued_at >= since)
    return Revocation(None if one_goes_on else second, given_since)


def evaluate_refresh(token: StoredRefreshToken, now: datetime) -> Usable | Repeated | Reused | Invalid:
    """The verdict on a refresh token. Repeated holds only while its successor is the present token of the chain."""
    if token.session_revoked:
        return Invalid()
    if token.used_at is not None:
        return Repeated() if now - token.used_at <= REPEATED_FOR else Reused()
    return Invalid() if token.expires_at <= now else Usable()
