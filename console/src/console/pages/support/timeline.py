"""The timeline of an order, from the records of all services."""

from console.api import Json
from console.formats import naira


def order_timeline(
    order: Json,
    payments: list[Json],
    refunds: list[Json],
    returns: list[Json],
    dispute: Json | None,
    resolutions: list[Json],
) -> list[tuple[str, str]]:
    """Instant and event, oldest first."""
    events: list[tuple[str | None, str]] = [(order["createdAt"], "Placed")]
    for payment in payments:
        amount = naira(payment["amountMinor"])
        events.append((payment["createdAt"], f"Payment of {amount} started"))
        events.append((payment["paidAt"], f"{amount} paid by {payment.get('channel') or 'the gateway'}"))
    is_decided = bool(dispute and dispute["outcome"])
    events.append(
        (order.get("deliveredAt"), "Completed by decision" if is_decided else "Delivered: the PIN was accepted")
    )
    if dispute:
        events.append((dispute["raisedAt"], f"Disputed: {dispute['reason']}"))
        events.append((dispute["endedAt"], f"Dispute ended: {dispute['outcome']}"))
    for resolution in resolutions:
        events.append((resolution["createdAt"], f"Resolution for {resolution['outcome']} prepared"))
        events.append((resolution["decidedAt"], f"Resolution {resolution['status']}"))
    for request in returns:
        events.append((request["createdAt"], f"Return requested: {request['reason']}"))
        events.append((request["decidedAt"], f"Return {request['status']}"))
    for refund in refunds:
        events.append((refund["createdAt"], f"Refund of {naira(refund['amountMinor'])} opened"))
        events.append((refund["settledAt"], f"Refund of {naira(refund['amountMinor'])} settled"))
    if order["status"] in ("cancelled", "expired", "dispatched", "refund_pending"):
        events.append((order["updatedAt"], f"Now {order['status'].replace('_', ' ')}"))
    return sorted((at, event) for at, event in events if at)
