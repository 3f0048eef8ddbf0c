"""When a signing key is published, signs, and may be forgotten."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from identity.domain.sessions import TOKEN_ACCEPTED_FOR

# How long a copy of the key set may be used unasked; it stands in the answer.
KEY_SET_SECONDS: Final = 60
# Published this long before it signs, a key is known to every copy of the key set by then: the copies of a minute, our own
# verifiers, which renew theirs every twenty seconds and ask for an unknown key at most every five, and clocks half a minute apart.
PUBLISHED_AHEAD: Final = timedelta(seconds=KEY_SET_SECONDS + 30)
# After the last token that it can have signed, whose signer may have read the key a moment before the next one's time came.
FORGOTTEN_AFTER: Final = TOKEN_ACCEPTED_FOR + timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key of the published set; it signs from `signs_from` until a newer one does."""

    kid: str
    signs_from: datetime


@dataclass(frozen=True, slots=True)
class KeyStates:
    """The published keys at one moment: `next` ones do not sign yet, `previous` ones sign no more."""

    next: tuple[ListedKey, ...]
    current: ListedKey | None
    previous: tuple[ListedKey, ...]


@dataclass(frozen=True, slots=True)
class TokensStillValid:
    """Tokens that the previous keys signed may live until then."""

    until: datetime


def states_of(keys: Sequence[ListedKey], now: datetime) -> KeyStates:
    """Which of the published keys signs now."""
    oldest_first = sorted(keys, key=lambda key: (key.signs_from, key.kid))
    started = [key for key in reversed(oldest_first) if key.signs_from <= now]
    waiting = [key for key in oldest_first if key.signs_from > now]
    return KeyStates(tuple(waiting), started[0] if started else None, tuple(started[1:]))


def evaluate_retirement(states: KeyStates, now: datetime) -> TokensStillValid | tuple[ListedKey, ...]:
    """The previous keys, when nobody can hold a good token of theirs any more."""
    if states.current is None or not states.previous:
        return ()
    until = states.current.signs_from + FORGOTTEN_AFTER
    return states.previous if until <= now else TokensStillValid(until)
