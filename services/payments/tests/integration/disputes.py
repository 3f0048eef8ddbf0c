"""Disputes of the gateway, for the tests of chargebacks."""

import itertools
from typing import Any

from contracts.orders import OrderPlaced

from .conftest import PaymentsApp

CREATE, REMIND, RESOLVE = (f"charge.dispute.{event}" for event in ("create", "remind", "resolve"))
LOST, WON = "merchant-accepted", "declined"
numbers = itertools.count(70_000)


async def paid(app: PaymentsApp, **changes: Any) -> tuple[OrderPlaced, str]:
    """Return a paid order, and the reference of its charge."""
    placed = await app.paid_order(**changes)
    [row] = await app.fetch("SELECT reference FROM charges WHERE order_id = $1", placed.order_id)
    return placed, row["reference"]


def dispute(number: int, event: str, reference: str, amount_minor: int | None = None, **changes: Any) -> dict[str, Any]:
    """Return a webhook of Paystack about a dispute of this charge, in kobo."""
    data = {
        "id": number,
        "refund_amount": amount_minor,
        "currency": "NGN",
        "status": "resolved" if "resolution" in changes else "awaiting-merchant-feedback",
        "resolution": None,
        "category": "chargeback",
        "transaction": {"reference": reference, "currency": "NGN", "status": "success"},
        **changes,
    }
    return {"event": event, "data": data}
