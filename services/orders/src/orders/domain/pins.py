"""The delivery PIN (contract section 6): its digest, and what a try is worth."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.primitives.problems import Problem
from orders.domain.errors import DeliveryPinLocked, ForbiddenTransition, NoDeliveryPinYet
from orders.domain.transitions import Rejection, State, next_state

# Five tries at six digits find a PIN once in 200,000 orders, whoever makes them (contract section 6).
WRONG_ATTEMPTS_MAX: Final = 5
# The first issue, and three more when the buyer asks: at most twenty tries in an order's life.
ISSUES_MAX: Final = 4
# A PIN that has opened its order, or that no order waits for any more, is shown to nobody.
_SHOWN_IN: Final[frozenset[State]] = frozenset({"paid_escrow", "dispatched", "disputed"})


# A late charge revives what has expired or was cancelled: `not paid yet` is true of all three.
_UNPAID: Final[frozenset[State]] = frozenset({"Processing", "expired", "cancelled"})


@dataclass(frozen=True, slots=True)
class IssuedPin:
    """The PIN of an order as it is kept: never in the clear."""

    issue: int
    digest: bytes
    wrong_tries: int


@dataclass(frozen=True, slots=True)
class CorrectPin:
    """The right PIN. `moves` is false when the order was delivered before."""

    moves: bool


@dataclass(frozen=True, slots=True)
class WrongPin:
    """So many tries are left; this one was spent when it counts, as all do until the PIN is used."""

    attempts_remaining: int
    counts: bool = True


class PinKey:
    """Makes the digests of PINs in the database under `PIN_KEY`; a stored digest is compared under both keys of a rotation."""

    def __init__(self, key: str, previous: str = "") -> None:
        self._keys = [hashlib.sha256(b"delivery-pin:" + value.encode()).digest() for value in (key, previous) if value]

    def digest(self, order_id: UUID, issue: int, pin: str) -> bytes:
        """The digest that is stored: under the current key, bound to the order and the issue."""
        return self.digests(order_id, issue, pin)[0]

    def digests(self, order_id: UUID, issue: int, pin: str) -> list[bytes]:
        """The digests to compare with a stored one, the current key's first."""
        text = order_id.bytes + issue.to_bytes(4, "big") + pin.encode()
        return [hmac.digest(key, text, "sha256") for key in self._keys]

    def fingerprints(self, order_id: UUID, pin: str) -> list[bytes]:
        """A request under its Idempotency-Key without its PIN, the current key's first: that one is stored."""
        return [hmac.digest(key, b"request" + order_id.bytes + pin.encode(), "sha256") for key in self._keys]


def evaluate_attempt(state: State, pin: IssuedPin | None, offered_digests: Sequence[bytes]) -> CorrectPin | WrongPin:
    """What a try is worth. Raises ForbiddenMove (409) and DeliveryPinLocked (429), which spend no try."""
    transition = next_state(state, "pin_accepted")
    if transition is Rejection.FORBIDDEN or pin is None:
        raise ForbiddenTransition(state)
    right = any(hmac.compare_digest(pin.digest, offered) for offered in offered_digests)
    if transition is Rejection.REPEATED:
        # The PIN is used: guessing it gains nothing, and must not lock out who repeats the right one.
        return CorrectPin(moves=False) if right else WrongPin(attempts_remaining(pin.wrong_tries), counts=False)
    if pin.wrong_tries >= WRONG_ATTEMPTS_MAX:
        raise DeliveryPinLocked
    return CorrectPin(moves=True) if right else WrongPin(attempts_remaining(pin.wrong_tries + 1))


def missing_pin_error(state: State) -> Problem:
    """Why an order in this state has no PIN (409): it was not paid, or what was paid goes back because the goods were gone."""
    return NoDeliveryPinYet() if state in _UNPAID else ForbiddenTransition(state)


def check_pin_visible(state: State) -> None:
    """Raises ForbiddenMove (409) when the PIN was used, or the money is on its way back."""
    if state not in _SHOWN_IN:
        raise ForbiddenTransition(state)


def attempts_remaining(wrong_tries: int) -> int:
    """How many wrong tries an issue still bears."""
    return max(0, WRONG_ATTEMPTS_MAX - wrong_tries)
