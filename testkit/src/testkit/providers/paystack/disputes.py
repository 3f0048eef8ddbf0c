"""Disputes: their list and state, evidence, the upload of a file, and the resolution.

Pages: paystack.com/docs/api/dispute and /docs/payments/manage-disputes.
"""

from collections.abc import Mapping
from typing import Any, Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, OBJECT_OR_NULL, PAGE_META, customer, page, success
from testkit.providers.schemas import (
    ANYTHING,
    INSTANT,
    OBJECT,
    TEXT,
    WHOLE,
    Schema,
    choice,
    nullable,
    record,
    rows,
)

STATUS: Final = choice("awaiting-merchant-feedback", "awaiting-bank-feedback", "pending", "resolved")
RESOLUTION: Final = choice("merchant-accepted", "declined", "auto-accepted")
_TRANSACTION: Final[Mapping[str, Schema]] = {
    "id": WHOLE,
    "domain": TEXT,
    # `reversed` after a lost dispute.
    "status": TEXT,
    "reference": TEXT,
    "amount": WHOLE,
    "message": ANYTHING,
    "gateway_response": TEXT,
    "paid_at": INSTANT,
    "created_at": INSTANT,
    "channel": TEXT,
    "currency": TEXT,
    "ip_address": nullable(TEXT),
    # The merchant's object, or "" without one.
    "metadata": ANYTHING,
    "log": OBJECT_OR_NULL,
    "fees": nullable(WHOLE),
    "fees_split": nullable(WHOLE),
    "authorization": OBJECT,
    "customer": ANYTHING,
    "plan": OBJECT,
    "subaccount": OBJECT,
    "split": OBJECT,
    "order_id": ANYTHING,
    "paidAt": INSTANT,
    "requested_amount": WHOLE,
    "pos_transaction_data": ANYTHING,
}
# What the calls add to the transaction of an event.
_CALLED: Final[Mapping[str, Schema]] = {
    "createdAt": INSTANT,
    "source": ANYTHING,
    "fees_breakdown": ANYTHING,
    "connect": ANYTHING,
}
_PAYER: Final = customer({"metadata": ANYTHING, "international_format_phone": nullable(TEXT)})
_FIELDS: Final[Mapping[str, Schema]] = {
    "id": WHOLE,
    "refund_amount": WHOLE,
    "currency": TEXT,
    "status": STATUS,
    "resolution": nullable(RESOLUTION),
    "domain": TEXT,
    "transaction_reference": ANYTHING,
    "category": TEXT,
    "customer": _PAYER,
    "bin": TEXT,
    "last4": TEXT,
    "dueAt": nullable(INSTANT),
    "resolvedAt": nullable(INSTANT),
    "evidence": ANYTHING,
    "attachments": ANYTHING,
    "note": ANYTHING,
    "history": rows(record({"status": TEXT, "by": TEXT, "createdAt": INSTANT})),
    "messages": rows(record({"sender": TEXT, "body": TEXT, "createdAt": INSTANT})),
}
_TIMES: Final[Mapping[str, Schema]] = {"createdAt": INSTANT, "updatedAt": INSTANT}
DISPUTE: Final = record({**_FIELDS, "transaction": record({**_TRANSACTION, **_CALLED}), **_TIMES})
LISTED_DISPUTE: Final = record(
    {**_FIELDS, "transaction": record({**_TRANSACTION, **_CALLED}, optional=("requested_amount",)), **_TIMES}
)


def dispute_event(*, is_resolved: bool) -> Schema:
    """Return a `charge.dispute.*` body: its own two times are spelled as those of a transaction."""
    changed: dict[str, Any] = {"status": STATUS, "resolution": nullable(RESOLUTION)}
    if is_resolved:
        changed = {"status": choice("resolved"), "resolution": RESOLUTION}
    times = {"created_at": INSTANT, "updated_at": INSTANT}
    return record({**_FIELDS, **changed, "transaction": record(_TRANSACTION), **times})


EVIDENCE_FIELDS: Final[Mapping[str, Schema]] = {
    "customer_email": TEXT,
    "customer_name": TEXT,
    "customer_phone": TEXT,
    "service_details": TEXT,
    "delivery_address": TEXT,
    # A date, although the specification calls it a time.
    "delivery_date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d"},
}
_DELIVERY: Final = ("delivery_address", "delivery_date")
EVIDENCE: Final = record(
    {**EVIDENCE_FIELDS, "dispute": WHOLE, "id": WHOLE, "createdAt": INSTANT, "updatedAt": INSTANT}, optional=_DELIVERY
)
RESOLVED: Final = record(
    {
        "currency": TEXT,
        "last4": TEXT,
        "bin": TEXT,
        "transaction_reference": ANYTHING,
        "merchant_transaction_reference": TEXT,
        "refund_amount": WHOLE,
        "status": STATUS,
        "domain": TEXT,
        "resolution": RESOLUTION,
        "category": TEXT,
        "note": ANYTHING,
        "attachments": TEXT,
        "id": WHOLE,
        "integration": WHOLE,
        "transaction": WHOLE,
        "created_by": WHOLE,
        "evidence": nullable(WHOLE),
        "resolvedAt": nullable(INSTANT),
        "createdAt": INSTANT,
        "updatedAt": INSTANT,
        "dueAt": nullable(INSTANT),
        "message": record(
            {"dispute": WHOLE, "sender": TEXT, "body": TEXT, "id": WHOLE, "createdAt": INSTANT, "updatedAt": INSTANT}
        ),
    }
)

_AS_IN_EVENT: Final = "null in the events of paystack.com/docs/payments/webhooks, which have the same object"
_NULLABLE: Final = (
    "customer.first_name",
    "customer.last_name",
    "customer.international_format_phone",
    "transaction.ip_address",
    "transaction.fees",
)

LIST: Final = Operation(
    "GET",
    "/dispute",
    query={
        "perPage": WHOLE,
        "page": WHOLE,
        "status": STATUS,
        "transaction": TEXT,
        "from": INSTANT,
        "to": INSTANT,
    },
    responses={200: page(LISTED_DISPUTE, {**PAGE_META, "perPage": WHOLE})},
    departures={
        **{f"200.data[].{name}": _AS_IN_EVENT for name in _NULLABLE},
        "200.data[].transaction.requested_amount": "in the response to a single dispute",
    },
)
FETCH: Final = Operation(
    "GET",
    "/dispute/{id}",
    responses={200: success(DISPUTE), 404: FAULT},
    departures={
        **{f"200.data.{name}": _AS_IN_EVENT for name in _NULLABLE},
        "200.data.customer.phone": "null for a payer without one, as in the list",
    },
)
ADD_EVIDENCE: Final = Operation(
    "POST",
    "/dispute/{id}/evidence",
    body=record(EVIDENCE_FIELDS, optional=_DELIVERY, closed=True),
    responses={200: success(EVIDENCE)},
    departures={f"200.data.{name}": "the request may omit it" for name in _DELIVERY},
)
UPLOAD_URL: Final = Operation(
    "GET",
    "/dispute/{id}/upload_url",
    responses={200: success(record({"signedUrl": TEXT, "fileName": TEXT})), 404: FAULT},
)
RESOLVE: Final = Operation(
    "PUT",
    "/dispute/{id}/resolve",
    body=record(
        {
            "resolution": choice("merchant-accepted", "declined"),
            "message": TEXT,
            "refund_amount": {"type": "integer", "minimum": 0},
            "uploaded_filename": TEXT,
            "evidence": WHOLE,
        },
        optional=("evidence",),
        closed=True,
    ),
    responses={200: success(RESOLVED), 404: FAULT},
    departures={
        "200.data.evidence": "the request may omit it",
        "200.data.resolvedAt": "null while the bank decides about a declined claim",
    },
)
OPERATIONS: Final = (LIST, FETCH, ADD_EVIDENCE, UPLOAD_URL, RESOLVE)
