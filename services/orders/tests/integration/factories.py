"""Events of other services, about the orders and vendors of a test."""

from typing import Any
from uuid import UUID

from contracts.payments import EscrowRefunded, EscrowState, RefundFailed, RefundSettled

Order = dict[str, Any]


def escrow_refunded(
    order: Order, refund_id: UUID | str, amount_minor: int, *, remaining_minor: int = 0
) -> EscrowRefunded:
    """Payments posted the refund; `remaining_minor` (kobo) stays in escrow."""
    return EscrowRefunded(
        order_id=UUID(order["id"]),
        buyer_id=UUID(order["buyerId"]),
        vendor_id=UUID(order["vendorId"]),
        refund_id=UUID(str(refund_id)),
        amount_minor=amount_minor,
        from_vendor_minor=0,
        remaining_minor=remaining_minor,
        remaining_vendor_minor=remaining_minor,
        escrow=EscrowState(
            held_at="2026-01-05T09:00:00Z",
            held_minor=order["totalMinor"],
            locked_minor=remaining_minor,
            net_minor=order["totalMinor"] - remaining_minor - amount_minor,
            commission_minor=0,
            delivery_fee_minor=0,
        ),
    )


def refund_settled(order: Order, refund_id: UUID | str, amount_minor: int, kind: str = "order") -> RefundSettled:
    """Return the gateway paid the refund."""
    return RefundSettled(
        refund_id=UUID(str(refund_id)), kind=kind, amount_minor=amount_minor, order_id=UUID(order["id"])
    )


def refund_failed(order: Order, refund_id: UUID | str, amount_minor: int, kind: str = "order") -> RefundFailed:
    """Return the gateway could not pay the refund."""
    return RefundFailed(
        refund_id=UUID(str(refund_id)), kind=kind, amount_minor=amount_minor, order_id=UUID(order["id"])
    )
