"""What a refresh token is worth when it is shown."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

# A student who signs in once a month stays signed in; each refresh begins the time anew.
REFRESH_LIFE: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A refresh token as it is stored, with its session."""

    session_id: UUID
    user_id: UUID
    signed_in_at: datetime
    stepped_up_at: datetime | None
    expires_at: datetime
    used_at: datetime | None
    session_ended: bool


@dataclass(frozen=True, slots=True)
class Usable:
    """The token may be exchanged, once."""


@dataclass(frozen=True, slots=True)
class Reused:
    """The token was exchanged before: one of its two holders is a thief, so the whole family ends."""


@dataclass(frozen=True, slots=True)
class Worthless:
    """The session has ended, or the token is too old."""


def judge_refresh(token: ShownToken, now: datetime) -> Usable | Reused | Worthless:
    """The verdict on a refresh token."""
    if token.session_ended:
        return Worthless()
    if token.used_at is not None:
        return Reused()
    return Worthless() if token.expires_at <= now else Usable()
