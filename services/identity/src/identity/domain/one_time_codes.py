"""Codes sent to an address: how often one may be requested, and when it may be redeemed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

# `already_registered` has no code: its row counts the mails to an address of a repeated sign-up.
Purpose = Literal["sign_in", "password_reset", "already_registered"]
Channel = Literal["sms", "email"]

# A text message may need minutes on a campus; with a longer validity a code on a screen could be used. Mail is read later than a
# text message, and a reset token cannot be guessed.
LIFE: Final[dict[Purpose, timedelta]] = {
    "sign_in": timedelta(minutes=10),
    "password_reset": timedelta(minutes=30),
    "already_registered": timedelta(minutes=30),
}
CODE_DIGITS: Final = 6
# With these three limits, a year of guessing at one address succeeds in less than 3 % of cases.
TRIES_MAX: Final = 5
ISSUED_IN_HOUR_MAX: Final = 5
ISSUED_IN_DAY_MAX: Final = 15
# A request before the first code could arrive keeps that code valid.
RESEND_AFTER: Final = timedelta(seconds=30)
# A login before the confirmation sends a new code at most once a minute (contract section 10.1).
LOGIN_RESEND_AFTER: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Destination:
    """The recipient of a code: a mail address or an E.164 number in its normal form."""

    channel: Channel
    address: str


@dataclass(frozen=True, slots=True)
class IssuedCode:
    """The current code of a purpose and an address, as stored."""

    id: UUID
    code_hash: bytes
    issued_at: datetime
    expires_at: datetime
    tries: int
    used_at: datetime | None
    hour_began_at: datetime
    issued_in_hour: int
    day_began_at: datetime
    issued_in_day: int
    user_id: UUID | None


@dataclass(frozen=True, slots=True)
class Issuable:
    """A new code may be issued; it counts in these windows."""

    hour_began_at: datetime
    issued_in_hour: int
    day_began_at: datetime
    issued_in_day: int


@dataclass(frozen=True, slots=True)
class RateExceeded:
    """No new code: the last one is recent, or the limit is reached."""


def evaluate_request(
    last: IssuedCode | None, now: datetime, *, resend_after: timedelta = RESEND_AFTER
) -> Issuable | RateExceeded:
    """Whether another code may be issued for an address. Redeeming the last code resets the limits."""
    if last is None or last.used_at is not None:
        return Issuable(now, 1, now, 1)
    if now - last.issued_at < resend_after:
        return RateExceeded()
    same_hour, same_day = now - last.hour_began_at < HOUR, now - last.day_began_at < DAY
    in_hour, in_day = last.issued_in_hour if same_hour else 0, last.issued_in_day if same_day else 0
    if in_hour >= ISSUED_IN_HOUR_MAX or in_day >= ISSUED_IN_DAY_MAX:
        return RateExceeded()
    hour_began_at = last.hour_began_at if same_hour else now
    return Issuable(hour_began_at, in_hour + 1, last.day_began_at if same_day else now, in_day + 1)


def is_redeemable(code: IssuedCode, now: datetime) -> bool:
    """Whether the code is unused, unexpired, and has tries left."""
    return code.used_at is None and now < code.expires_at and code.tries < TRIES_MAX
