"""The delivery PIN (contract section 6): its digest, and what a try is worth."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.problems import Problem
from orders.domain.errors import DeliveryPinLocked, ForbiddenMove, NoDeliveryPinYet
from orders.domain.moves import NoMove, State, answer

# Five tries at six digits find a PIN once in 200,000 orders, whoever makes them (contract section 6).
WRONG_TRIES_MAX: Final = 5
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
class Accepted:
    """The right PIN. `moves` is false when the order was delivered before."""

    moves: bool


@dataclass(frozen=True, slots=True)
class Wrong:
    """So many tries are left; this one was spent when it counts, as all do until the PIN is used."""

    attempts_remaining: int
    counts: bool = True


class PinKey:
    """Makes the digests that stand in the database; they tell nothing without this key (`PIN_KEY`)."""

    def __init__(self, key: str) -> None:
        self._key = hashlib.sha256(b"delivery-pin:" + key.encode()).digest()

    def digest(self, order_id: UUID, issue: int, pin: str) -> bytes:
        """What is kept for checking a PIN; bound to the order and the issue."""
        return hmac.digest(self._key, order_id.bytes + issue.to_bytes(4, "big") + pin.encode(), "sha256")

    def fingerprint(self, order_id: UUID, pin: str) -> bytes:
        """What is kept of a request under its Idempotency-Key; its PIN cannot be read from it."""
        return hmac.digest(self._key, b"request" + order_id.bytes + pin.encode(), "sha256")


def judge(state: State, pin: IssuedPin | None, offered_digest: bytes) -> Accepted | Wrong:
    """What a try is worth. Raises ForbiddenMove (409) and DeliveryPinLocked (429), which spend no try."""
    move = answer(state, "pin_accepted")
    if move is NoMove.FORBIDDEN or pin is None:
        raise ForbiddenMove(state)
    right = hmac.compare_digest(pin.digest, offered_digest)
    if move is NoMove.REPEATED:
        # The PIN is used: guessing it gains nothing, and must not lock out who repeats the right one.
        return Accepted(moves=False) if right else Wrong(attempts_remaining(pin.wrong_tries), counts=False)
    if pin.wrong_tries >= WRONG_TRIES_MAX:
        raise DeliveryPinLocked
    return Accepted(moves=True) if right else Wrong(attempts_remaining(pin.wrong_tries + 1))


def refusal_of_missing(state: State) -> Problem:
    """Why an order in this state has no PIN (409): it was not paid, or what was paid goes back because the goods were gone."""
    return NoDeliveryPinYet() if state in _UNPAID else ForbiddenMove(state)


def check_shown(state: State) -> None:
    """Raises ForbiddenMove (409) when the PIN was used, or the money is on its way back."""
    if state not in _SHOWN_IN:
        raise ForbiddenMove(state)


def attempts_remaining(wrong_tries: int) -> int:
    """How many wrong tries an issue still bears."""
    return max(0, WRONG_TRIES_MAX - wrong_tries)
