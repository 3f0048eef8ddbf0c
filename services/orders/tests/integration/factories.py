"""Events of other services, about the orders and vendors of a test."""

from typing import Any
from uuid import UUID

from contracts.payments import EscrowRefunded, RefundFailed, RefundSettled

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
    )


def refund_settled(order: Order, refund_id: UUID | str, amount_minor: int, kind: str = "order") -> RefundSettled:
    """The gateway paid the refund."""
    return RefundSettled(
        refund_id=UUID(str(refund_id)), kind=kind, amount_minor=amount_minor, order_id=UUID(order["id"])
    )


def refund_failed(order: Order, refund_id: UUID | str, amount_minor: int, kind: str = "order") -> RefundFailed:
    """The gateway could not pay the refund."""
    return RefundFailed(
        refund_id=UUID(str(refund_id)), kind=kind, amount_minor=amount_minor, order_id=UUID(order["id"])
    )
