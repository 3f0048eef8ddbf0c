"""Webhooks, by the examples of the documentation.

The specification has none. Pages: paystack.com/docs/payments/webhooks and /refunds; their examples are in the
repository PaystackOSS/doc-code-snippets, `dist/doc/payments/webhooks/events.js` and
`dist/doc/payments/refunds/events.js`.
"""

from collections.abc import Mapping
from typing import Any, Final

from testkit.providers.paystack import transfers
from testkit.providers.paystack.disputes import dispute_event
from testkit.providers.paystack.envelopes import OBJECT_OR_NULL, TEXT_OR_WHOLE, customer
from testkit.providers.paystack.transactions import AUTHORIZATION
from testkit.providers.schemas import (
    ANYTHING,
    DIGITS,
    INSTANT,
    OBJECT,
    TEXT,
    WHOLE,
    Nonconformance,
    Schema,
    choice,
    conform,
    nullable,
    record,
)

CHARGE_FIELDS: Final[Mapping[str, Schema]] = {
    "id amount": WHOLE,
    "domain reference gateway_response channel currency": TEXT,
    "message ip_address": nullable(TEXT),
    "created_at": INSTANT,
    # The merchant's object, or 0 and "" without one.
    "metadata": ANYTHING,
    "log": OBJECT_OR_NULL,
    "fees": nullable(WHOLE),
    "customer": customer({}),
    "authorization": AUTHORIZATION,
    "plan": ANYTHING,
}
CHARGE_SUCCESS: Final = record({**CHARGE_FIELDS, "status": choice("success"), "paid_at": INSTANT})
# Not on the page of events; the sandbox sends it because the specification of this project demands it.
CHARGE_FAILED: Final = record({**CHARGE_FIELDS, "status": choice("failed"), "paid_at": nullable(INSTANT)})


def refund_event(status: str) -> Schema:
    """Return a `refund.*` body: no id and no note, and the amount as a text of digits (a number in `refund.failed`)."""
    return record(
        {
            "status": choice(status),
            "transaction_reference currency processor domain": TEXT,
            "refund_reference": nullable(TEXT),
            "amount": {"type": ["string", "integer"], "pattern": DIGITS["pattern"]},
            "customer": record({"first_name last_name": nullable(TEXT), "email": TEXT}),
            "integration": WHOLE,
            "id?": TEXT_OR_WHOLE,
        }
    )


EVENTS: Final[Mapping[str, Schema]] = {
    "charge.success": CHARGE_SUCCESS,
    "charge.failed": CHARGE_FAILED,
    "refund.pending": refund_event("pending"),
    "refund.processing": refund_event("processing"),
    "refund.processed": refund_event("processed"),
    "refund.failed": refund_event("failed"),
    "refund.needs-attention": refund_event("needs-attention"),
    "charge.dispute.create": dispute_event(is_resolved=False),
    "charge.dispute.remind": dispute_event(is_resolved=False),
    "charge.dispute.resolve": dispute_event(is_resolved=True),
    **transfers.EVENTS,
}


def check_event(body: Any) -> None:
    """Raise Nonconformance for a webhook of another shape, or of a type that is not held here."""
    conform(body, record({"event": TEXT, "data": OBJECT}), "webhook")
    schema = EVENTS.get(body["event"])
    if schema is None:
        raise Nonconformance(f"unknown event {body['event']}")
    conform(body["data"], schema, body["event"])
