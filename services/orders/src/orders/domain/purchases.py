"""Purchases: one checkout of orders of one or more vendors (contract section 6.3)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from orders.domain.transitions import State

PurchaseStatus = Literal["unpaid", "paid", "closed"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """The destination of one vendor's order where it differs from that of the purchase."""

    vendor_id: UUID
    hub_id: UUID | None
    delivery_note: str | None


class NewPurchase(NamedTuple):
    """A purchase at checkout, before its row is read."""

    id: UUID
    number: str
    buyer_id: UUID
    created_at: datetime


def purchase_status(order_statuses: Collection[State]) -> PurchaseStatus:
    """Derive the status of a purchase: `closed` when none of its orders was paid and none waits for its payment."""
    if "Processing" in order_statuses:
        return "unpaid"
    return "closed" if set(order_statuses) <= {"expired", "cancelled"} else "paid"
