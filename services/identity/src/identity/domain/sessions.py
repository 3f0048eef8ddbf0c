"""The validity of a presented refresh token, and the revocation of sessions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from identity.domain.authorization_profile import ACCESS_LIFE

# A student who signs in once a month stays signed in; each refresh extends the session.
REFRESH_LIFE: Final = timedelta(days=30)
# The previous token stays valid so long after its exchange (contract section 10.3).
REPEATED_FOR: Final = timedelta(seconds=30)
# How long a verifier may accept an access token after its issue, clock leeway included.
TOKEN_ACCEPTED_FOR: Final = ACCESS_LIFE + timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class StoredRefreshToken:
    """A refresh token as stored, with its session."""

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
    """The token was exchanged a moment ago, by another tab or before a lost response. Its successor is returned
    again.
    """


@dataclass(frozen=True, slots=True)
class Reused:
    """The token was exchanged before, so one of its two holders stole it: the session is revoked."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """The session has ended, or the token has expired."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """The revocation of all tokens of ended sessions.

    `not_before` revokes every earlier token of the user; None while one of their sessions continues.
    """

    not_before: datetime | None
    session_ids: tuple[UUID, ...]


def revocation_of(last_issued: Mapping[UUID, datetime], now: datetime, *, one_goes_on: bool) -> Revocation:
    """Return the revocation of sessions that end now, by the time of their last tokens.

    Tokens have a precision of a second. Earlier tokens are revoked by time, tokens of this second by their session, so
    that a login later in the same second stays valid.
    """
    second = now.replace(microsecond=0)
    since = now - TOKEN_ACCEPTED_FOR if one_goes_on else second
    given_since = tuple(session_id for session_id, issued_at in last_issued.items() if issued_at >= since)
    return Revocation(None if one_goes_on else second, given_since)


def evaluate_refresh(token: StoredRefreshToken, now: datetime) -> Usable | Repeated | Reused | Invalid:
    """Evaluate a refresh token. Repeated is valid only while its successor is the current token."""
    if token.session_revoked:
        return Invalid()
    if token.used_at is not None:
        return Repeated() if now - token.used_at <= REPEATED_FOR else Reused()
    return Invalid() if token.expires_at <= now else Usable()
