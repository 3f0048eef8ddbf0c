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
    "id amount requested_amount": WHOLE,
    "domain reference gateway_response channel currency": TEXT,
    # `reversed` after a lost dispute.
    "status": TEXT,
    "message customer order_id pos_transaction_data": ANYTHING,
    "paid_at created_at paidAt": INSTANT,
    "ip_address": nullable(TEXT),
    # The merchant's object, or "" without one.
    "metadata": ANYTHING,
    "log": OBJECT_OR_NULL,
    "fees fees_split": nullable(WHOLE),
    "authorization plan subaccount split": OBJECT,
}
# What the calls add to the transaction of an event.
_CALLED: Final[Mapping[str, Schema]] = {"createdAt": INSTANT, "source fees_breakdown connect": ANYTHING}
_PAYER: Final = customer({"metadata": ANYTHING, "international_format_phone": nullable(TEXT)})
_FIELDS: Final[Mapping[str, Schema]] = {
    "id refund_amount": WHOLE,
    "currency domain category bin last4": TEXT,
    "status": STATUS,
    "resolution": nullable(RESOLUTION),
    "transaction_reference evidence attachments note": ANYTHING,
    "customer": _PAYER,
    "dueAt resolvedAt": nullable(INSTANT),
    "history": rows(record({"status by": TEXT, "createdAt": INSTANT})),
    "messages": rows(record({"sender body": TEXT, "createdAt": INSTANT})),
}
_TIMES: Final[Mapping[str, Schema]] = {"createdAt updatedAt": INSTANT}
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
    "customer_email customer_name customer_phone service_details delivery_address": TEXT,
    # A date, although the specification calls it a time.
    "delivery_date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d"},
}
_DELIVERY: Final = ("delivery_address", "delivery_date")
EVIDENCE: Final = record({**EVIDENCE_FIELDS, "dispute id": WHOLE, "createdAt updatedAt": INSTANT}, optional=_DELIVERY)
RESOLVED: Final = record(
    {
        "currency last4 bin merchant_transaction_reference domain category attachments": TEXT,
        "transaction_reference note": ANYTHING,
        "refund_amount id integration transaction created_by": WHOLE,
        "status": STATUS,
        "resolution": RESOLUTION,
        "evidence": nullable(WHOLE),
        "resolvedAt dueAt": nullable(INSTANT),
        "createdAt updatedAt": INSTANT,
        "message": record({"dispute id": WHOLE, "sender body": TEXT, "createdAt updatedAt": INSTANT}),
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
    responses={200: success(record({"signedUrl fileName": TEXT})), 404: FAULT},
)
RESOLVE: Final = Operation(
    "PUT",
    "/dispute/{id}/resolve",
    body=record(
        {
            "resolution": choice("merchant-accepted", "declined"),
            "message uploaded_filename": TEXT,
            "refund_amount": {"type": "integer", "minimum": 0},
            "evidence?": WHOLE,
        },
        closed=True,
    ),
    responses={200: success(RESOLVED), 404: FAULT},
    departures={
        "200.data.evidence": "the request may omit it",
        "200.data.resolvedAt": "null while the bank decides about a declined claim",
    },
)
OPERATIONS: Final = (LIST, FETCH, ADD_EVIDENCE, UPLOAD_URL, RESOLVE)
