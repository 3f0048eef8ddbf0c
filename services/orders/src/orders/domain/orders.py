"""Orders and the timers of their states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple
from uuid import UUID

from orders.domain.refund_destinations import RefundTo
from orders.domain.transitions import State

TimerKind = Literal["payment_window", "vendor_idle", "pin_window"]


@dataclass(frozen=True, slots=True)
class Order:
    """The row of an order, locked or as of `version`, which each change of the row replaces. Money in kobo."""

    id: UUID
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    status: State
    total_minor: int
    refunded_minor: int
    delivered_at: datetime | None
    # The escrow balance that payments reported last.
    escrow_minor: int
    return_due_at: datetime | None
    commission_minor: int
    number: str
    hub_id: UUID | None
    # The parcel was received at the hub.
    arrived_at: datetime | None
    version: str = ""

    @property
    def stock_is_reserved(self) -> bool:
        """Return whether units are reserved for this order and not dispatched."""
        return self.status in ("Processing", "paid_escrow")


class NewItem(NamedTuple):
    """An item of a new order. Money in kobo."""

    id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int
    variant_id: UUID | None = None


class NewOrder(NamedTuple):
    """An order at checkout, before its row is read. Money in kobo.

    `buyer` and `vendor` are the names of the parties; a new order shows no contacts.
    """

    id: UUID
    number: str
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    hub_id: UUID | None
    total_minor: int
    subtotal_minor: int
    delivery_fee_minor: int
    commission_minor: int
    delivery_note: str | None
    payment_due_at: datetime
    created_at: datetime
    updated_at: datetime
    items: Sequence[NewItem]
    buyer: Sequence[str | None]
    vendor: Sequence[str | None]
    status: State = "Processing"
    currency: str = "NGN"
    refunded_minor: int = 0
    delivered_at: datetime | None = None
    return_due_at: datetime | None = None
    revision: int = 1
    purchase_id: UUID | None = None
    arrived_at: datetime | None = None


class ReportedEscrow(NamedTuple):
    """The escrow of an order in kobo, as payments reported it with this sequence."""

    remaining_minor: int
    sequence: int


class Cancellation(NamedTuple):
    """A requested cancellation: its reason, and the destination that the buyer chose for the refund."""

    reason: str
    refund_to: RefundTo | None = None


class LineCancellation(NamedTuple):
    """A requested cancellation of one item of an order."""

    item_id: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class Windows:
    """The time limits of payment, dispatch, PIN and returns (contract section 6)."""

    payment: timedelta
    vendor_idle: timedelta
    pin: timedelta
    returns: timedelta


class Timer(NamedTuple):
    """The time-out of an order's state."""

    kind: TimerKind
    due_at: datetime


_TIMER_OF_STATE: Final[Mapping[State, TimerKind]] = {
    "Processing": "payment_window",
    "paid_escrow": "vendor_idle",
    "dispatched": "pin_window",
}


def timer_of(state: State, since: datetime, windows: Windows) -> Timer | None:
    """Return the timer of an order that entered `state` at `since`; None for a state without time limit."""
    kind = _TIMER_OF_STATE.get(state)
    if kind is None:
        return None
    lengths: Mapping[TimerKind, timedelta] = {
        "payment_window": windows.payment,
        "vendor_idle": windows.vendor_idle,
        "pin_window": windows.pin,
    }
    return Timer(kind, since + lengths[kind])
