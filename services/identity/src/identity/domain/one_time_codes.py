"""Codes sent to an address: how long one is valid, and how often a source may try it (decision 93)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple
from uuid import UUID

# `already_registered` has no code: it mails the owner of an address about a repeated sign-up.
Purpose = Literal["sign_in", "password_reset", "already_registered"]
Channel = Literal["sms", "email"]

# A text message may need minutes on a campus; with a longer validity a code on a screen could be used. Mail is read
# later than a text message, and a reset token cannot be guessed.
LIFE: Final[dict[Purpose, timedelta]] = {
    "sign_in": timedelta(minutes=10),
    "password_reset": timedelta(minutes=30),
    "already_registered": timedelta(minutes=30),
}
SENDING_QUEUE: Final = "identity.codes"
CODE_DIGITS: Final = 6
# Wrong codes of another source use up its own tries, and not those of the owner.
TRIES_OF_SOURCE_MAX: Final = 5
# Six sources together; a guesser with more of them needs a new code, which the owner receives.
TRIES_MAX: Final = 30
# Of the sent ones: a message may overtake the one before it. Requests of others displace no code of this source.
CODES_OF_SOURCE_MAX: Final = 2
# A login before the confirmation sends a new code at most once a minute (contract section 10.1).
LOGIN_RESEND_AFTER: Final = timedelta(minutes=1)
# Repeated sign-ups of a registered address: the mail holds no code, so one at a time is enough.
REGISTERED_RESEND_AFTER: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Destination:
    """The recipient of a code: a mail address or an E.164 number in its normal form."""

    channel: Channel
    address: str


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A requested code. `source` is the client's address; `claimant_id` the signed-in user who proves their number."""

    purpose: Purpose
    destination: Destination
    source: str
    claimant_id: UUID | None = None


class CodeKey(NamedTuple):
    """The properties that the codes of one source for one address share. Address and source are keyed hashes."""

    purpose: Purpose
    address_hash: bytes
    source_hash: bytes


@dataclass(frozen=True, slots=True)
class IssuedCode:
    """A code of a purpose and an address, as stored. `tries` counts the wrong ones of all sources."""

    id: UUID
    code_hash: bytes
    expires_at: datetime
    tries: int
    used_at: datetime | None
    user_id: UUID | None


def is_redeemable(code: IssuedCode, now: datetime) -> bool:
    """Return whether the code is unused, unexpired, and has tries left."""
    return code.used_at is None and now < code.expires_at and code.tries < TRIES_MAX


def codes_with_tries_left(
    codes: Sequence[IssuedCode], tries_of_source: Mapping[UUID, int], now: datetime
) -> list[IssuedCode]:
    """Return the codes that a source may still try, by the number of its wrong tries of each."""
    return [
        code for code in codes if is_redeemable(code, now) and tries_of_source.get(code.id, 0) < TRIES_OF_SOURCE_MAX
    ]
