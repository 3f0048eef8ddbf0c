"""When a signing key is published, signs, and may be retired."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from identity.domain.sessions import TOKEN_ACCEPTED_FOR

# How long clients may cache the key set; the response's Cache-Control states it.
KEY_SET_SECONDS: Final = 60
# By the end of this time every cache has the key: copies of a minute, verifiers that poll every 20 s and query an
# unknown key at most every 5 s, and clocks half a minute apart.
PUBLISHED_AHEAD: Final = timedelta(seconds=KEY_SET_SECONDS + 30)
# After the expiry of the last token that the key can have signed. A signer may read the key a moment before its
# successor starts.
FORGOTTEN_AFTER: Final = TOKEN_ACCEPTED_FOR + timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A published key, which signs from `signs_from` until a newer one does."""

    kid: str
    signs_from: datetime


@dataclass(frozen=True, slots=True)
class KeyStates:
    """The published keys: `next` ones do not sign yet, `previous` ones no longer sign."""

    next: tuple[ListedKey, ...]
    current: ListedKey | None
    previous: tuple[ListedKey, ...]


@dataclass(frozen=True, slots=True)
class TokensStillValid:
    """Tokens signed by the previous keys may be valid until then."""

    until: datetime


def states_of(keys: Sequence[ListedKey], now: datetime) -> KeyStates:
    """Classify the published keys at this moment."""
    oldest_first = sorted(keys, key=lambda key: (key.signs_from, key.kid))
    started = [key for key in reversed(oldest_first) if key.signs_from <= now]
    waiting = [key for key in oldest_first if key.signs_from > now]
    return KeyStates(tuple(waiting), started[0] if started else None, tuple(started[1:]))


def evaluate_retirement(states: KeyStates, now: datetime) -> TokensStillValid | tuple[ListedKey, ...]:
    """Return the previous keys, if no token of theirs can still be valid."""
    if states.current is None or not states.previous:
        return ()
    until = states.current.signs_from + FORGOTTEN_AFTER
    return states.previous if until <= now else TokensStillValid(until)
