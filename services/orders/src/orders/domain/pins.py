"""The delivery PIN: its digest, and the evaluation of attempts (contract section 6)."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from common.primitives.lifecycles import Rejection
from common.primitives.problems import Problem
from orders.domain.errors import ForbiddenTransition, NoDeliveryPinYet
from orders.domain.transitions import State, next_state

# Five attempts at six digits find a PIN once in 200,000 orders (contract section 6).
WRONG_ATTEMPTS_MAX: Final = 5
# The first issue and three reissues: at most twenty attempts for an order.
ISSUES_MAX: Final = 4
# With those that two members of staff add: at most fifty attempts for an order.
STAFF_ISSUES_MAX: Final = 10
# The states that show the PIN to the buyer: after its use and during a refund it is hidden.
_VISIBLE_IN: Final[frozenset[State]] = frozenset({"paid_escrow", "dispatched", "disputed"})
# A late charge revives expired and cancelled orders, so `not paid yet` is true of all three.
_UNPAID: Final[frozenset[State]] = frozenset({"Processing", "expired", "cancelled"})

PinEvent = Literal["pin_issued", "pin_rejected", "pin_locked"]
"""The events of a PIN in the order's history; `pin_locked` is the last wrong attempt. A correct PIN is a transition."""


@dataclass(frozen=True, slots=True)
class IssuedPin:
    """The stored digest of an order's PIN."""

    issue: int
    digest: bytes
    wrong_tries: int


@dataclass(frozen=True, slots=True)
class SharedPayment:
    """The payment of several orders, whose first PINs share a text message: its reference, and their number."""

    reference: str
    paid_orders: int


@dataclass(frozen=True, slots=True)
class CorrectPin:
    """The correct PIN; `delivers` is false when the order was delivered before."""

    delivers: bool


@dataclass(frozen=True, slots=True)
class WrongPin:
    """A wrong PIN; the attempt counts unless the order was delivered before."""

    attempts_remaining: int
    counts: bool = True

    @property
    def event(self) -> PinEvent:
        """The event of a counted attempt."""
        return "pin_rejected" if self.attempts_remaining else "pin_locked"


class PinKey:
    """Digests of PINs under `PIN_KEY`. During a rotation a stored digest is compared under both keys."""

    def __init__(self, key: str, previous: str = "") -> None:
        self._keys = [hashlib.sha256(b"delivery-pin:" + value.encode()).digest() for value in (key, previous) if value]

    def digest(self, order_id: UUID, issue: int, pin: str) -> bytes:
        """Return the digest to store: under the current key, bound to order and issue."""
        return self.digests(order_id, issue, pin)[0]

    def digests(self, order_id: UUID, issue: int, pin: str) -> list[bytes]:
        """Return the digests to compare with a stored digest, the current key's first."""
        text = order_id.bytes + issue.to_bytes(4, "big") + pin.encode()
        return [hmac.digest(key, text, "sha256") for key in self._keys]

    def fingerprints(self, order_id: UUID, pin: str) -> list[bytes]:
        """Fingerprints of a verification request, the current key's first. The first one is stored."""
        return [hmac.digest(key, b"request" + order_id.bytes + pin.encode(), "sha256") for key in self._keys]


@dataclass(frozen=True, slots=True)
class LockedPin:
    """Five wrong attempts were made; even the correct PIN is rejected until a reissue."""

    reissues_remaining: int


def evaluate_attempt(
    state: State, pin: IssuedPin | None, offered_digests: Sequence[bytes]
) -> CorrectPin | WrongPin | LockedPin:
    """Evaluate an attempt; a locked PIN counts none. Raises ForbiddenTransition (409)."""
    transition = next_state(state, "pin_accepted")
    if transition is Rejection.FORBIDDEN or pin is None:
        raise ForbiddenTransition(state)
    correct = any(hmac.compare_digest(pin.digest, offered) for offered in offered_digests)
    if transition is Rejection.REPEATED:
        # The order is delivered: a guess gains nothing, and must not lock out a repeated correct PIN.
        return CorrectPin(delivers=False) if correct else WrongPin(attempts_remaining(pin.wrong_tries), counts=False)
    if pin.wrong_tries >= WRONG_ATTEMPTS_MAX:
        return LockedPin(max(0, ISSUES_MAX - pin.issue))
    return CorrectPin(delivers=True) if correct else WrongPin(attempts_remaining(pin.wrong_tries + 1))


def missing_pin_error(state: State) -> Problem:
    """Return the error for an order without PIN (409): it is unpaid, or refunded for lack of stock."""
    return NoDeliveryPinYet() if state in _UNPAID else ForbiddenTransition(state)


def check_pin_visible(state: State) -> None:
    """Raise ForbiddenTransition (409) when the PIN was used or the order is being refunded."""
    if state not in _VISIBLE_IN:
        raise ForbiddenTransition(state)


def attempts_remaining(wrong_tries: int) -> int:
    """Return the attempts that are left before an issue is locked."""
    return max(0, WRONG_ATTEMPTS_MAX - wrong_tries)
