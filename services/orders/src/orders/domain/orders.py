"""An order as the use cases hold it in hand, and the time that each state is given."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple
from uuid import UUID

from orders.domain.transitions import State

TimerKind = Literal["payment_window", "vendor_idle", "pin_window"]


@dataclass(frozen=True, slots=True)
class Order:
    """The locked row of an order. Money in kobo."""

    id: UUID
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    status: State
    total_minor: int
    refunded_minor: int
    delivered_at: datetime | None
    # What escrow holds of it, as far as payments has told.
    escrow_minor: int = 0
    return_due_at: datetime | None = None

    @property
    def stock_is_reserved(self) -> bool:
        """Whether the vendor holds the goods for this order: taken from the shelf, and not handed over."""
        return self.status in ("Processing", "paid_escrow")


@dataclass(frozen=True, slots=True)
class Windows:
    """How long an order may stay where something must happen next, and how long its goods may come back (contract section 6)."""

    payment: timedelta
    vendor_idle: timedelta
    pin: timedelta
    returns: timedelta


class Timer(NamedTuple):
    """What happens to the order when nothing else has happened before."""

    kind: TimerKind
    due_at: datetime


_TIMER_OF_STATE: Final[Mapping[State, TimerKind]] = {
    "Processing": "payment_window",
    "paid_escrow": "vendor_idle",
    "dispatched": "pin_window",
}


def timer_of(state: State, since: datetime, windows: Windows) -> Timer | None:
    """The timer that runs while an order is in `state`; None where it may stay for ever."""
    kind = _TIMER_OF_STATE.get(state)
    if kind is None:
        return None
    lengths: Mapping[TimerKind, timedelta] = {
        "payment_window": windows.payment,
        "vendor_idle": windows.vendor_idle,
        "pin_window": windows.pin,
    }
    return Timer(kind, since + lengths[kind])
