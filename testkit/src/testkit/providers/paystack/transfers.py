"""Transfers: initiate, finalize, verify, list."""

from typing import Any, Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, PAGE_META, page, success
from testkit.providers.paystack.recipients import RECIPIENT_FIELDS
from testkit.providers.schemas import ANYTHING, FLAG, INSTANT, OBJECT, TEXT, WHOLE, Schema, choice, nullable, record

STATUSES: Final = (
    "abandoned",
    "blocked",
    "failed",
    "otp",
    "pending",
    "received",
    "rejected",
    "reversed",
    "success",
)
# paystack.com/docs/transfers/single-transfers: 16 to 50 lowercase letters, digits, dashes and underscores.
REFERENCE: Final = {"type": "string", "pattern": "^[a-z0-9_-]{16,50}$"}

_FIELDS: Final[dict[str, Any]] = {
    "amount id integration request": WHOLE,
    "createdAt updatedAt": INSTANT,
    "currency domain reason reference source transfer_code": TEXT,
    # Null in every example; a text, an object or a list where there is one.
    "failures": ANYTHING,
    "source_details titan_code transferred_at": ANYTHING,
    "status": choice(*STATUSES),
}
_PAID_OUT: Final[dict[str, Any]] = {
    "recipient": record(RECIPIENT_FIELDS, optional=("metadata",)),
    "session": record({"provider id": ANYTHING}),
    "fee_charged": WHOLE,
    "fees_breakdown": ANYTHING,
    "gateway_response": nullable(TEXT),
}
# The transfer that a call has just made: `recipient` is a number, and there is no fee yet.
CREATED: Final = record({**_FIELDS, "transfersessionid transfertrials": {"type": "array"}, "recipient": WHOLE})
VERIFIED: Final = record({**_FIELDS, **_PAID_OUT}, optional=("request", "fee_charged", "fees_breakdown"))
LISTED: Final = record({**_FIELDS, **_PAID_OUT}, optional=("gateway_response",))

_EXAMPLE: Final = "paystack.com/docs/api/transfer/#verify shows it in its example"


def _recipient_departures(place: str) -> dict[str, str]:
    return {
        f"{place}.recipient.email": "null in the examples of paystack.com/docs/api/transfer",
        f"{place}.recipient.details.account_number": "null for a recipient by authorization",
    }


INITIATE: Final = Operation(
    "POST",
    "/transfer",
    body=record(
        {
            "source": choice("balance"),
            "amount": {"type": "integer", "minimum": 1},
            "currency?": choice("NGN"),
            "recipient reason?": TEXT,
            "reference": REFERENCE,
        },
        closed=True,
    ),
    responses={200: success(CREATED), 401: FAULT},
)
FINALIZE: Final = Operation(
    "POST",
    "/transfer/finalize_transfer",
    body=record({"transfer_code otp": TEXT}, closed=True),
    responses={200: record({"status?": FLAG, "message?": TEXT}), 401: FAULT},
)
VERIFY: Final = Operation(
    "GET",
    "/transfer/verify/{reference}",
    responses={200: success(VERIFIED), 404: FAULT},
    departures={
        **_recipient_departures("200.data"),
        "200.data.recipient.isDeleted": _EXAMPLE,
        "200.data.recipient.details.account_name": _EXAMPLE,
        "200.data.request": _EXAMPLE,
        "200.data.fee_charged": _EXAMPLE,
        "200.data.fees_breakdown": _EXAMPLE,
    },
)
LIST: Final = Operation(
    "GET",
    "/transfer",
    query={"page": WHOLE, "perPage": WHOLE, "from": INSTANT, "to": INSTANT, "status": choice(*STATUSES)},
    responses={200: page(LISTED, {**PAGE_META, "perPage": WHOLE}), 401: FAULT},
    departures={
        **_recipient_departures("200.data[]"),
        "200.data[].gateway_response": "as in the other responses about transfers",
        "query.perPage": "paystack.com/docs/api/transfer/#list; the specification has per_page",
    },
)
OPERATIONS: Final = (INITIATE, FINALIZE, VERIFY, LIST)


def transfer_event(status: str) -> Schema:
    """Return a `transfer.*` body: times in either spelling, and neither fee nor bank's response in older ones."""
    times = dict.fromkeys(("createdAt", "updatedAt", "created_at", "updated_at"), INSTANT)
    recipient = record(
        {**RECIPIENT_FIELDS, **times, "description": nullable(TEXT)}, optional=(*times, "isDeleted", "metadata")
    )
    fields = {
        **_FIELDS,
        **_PAID_OUT,
        **times,
        "status": choice(status),
        "integration": record({"id": WHOLE, "is_live": FLAG, "business_name": TEXT}),
        "recipient": recipient,
        "session": OBJECT,
    }
    return record(fields, optional=(*times, "request", "fee_charged", "fees_breakdown", "gateway_response"))


EVENTS: Final = {f"transfer.{status}": transfer_event(status) for status in ("success", "failed", "reversed")}
