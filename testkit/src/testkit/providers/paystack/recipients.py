"""Recipients of transfers: create."""

from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, OBJECT_OR_NULL, success
from testkit.providers.schemas import DIGITS, FLAG, INSTANT, TEXT, WHOLE, choice, nullable, record

# The account of a recipient; of a card there is an authorization, and no number.
DETAILS: Final = record({"authorization_code account_number account_name": nullable(TEXT), "bank_code bank_name": TEXT})
RECIPIENT_FIELDS: Final = {
    "active is_deleted isDeleted": FLAG,
    "createdAt updatedAt": INSTANT,
    "currency description domain name recipient_code type": TEXT,
    "email": nullable(TEXT),
    "id integration": WHOLE,
    "metadata": OBJECT_OR_NULL,
    "details": DETAILS,
}

CREATE: Final = Operation(
    "POST",
    "/transferrecipient",
    body=record(
        {"type": choice("nuban"), "name bank_code": TEXT, "account_number": DIGITS, "currency?": choice("NGN")},
        closed=True,
    ),
    responses={201: success(record(RECIPIENT_FIELDS, optional=("metadata",))), 401: FAULT},
    departures={"201.data.email": "null for a recipient without one, as in the responses about transfers"},
)
OPERATIONS: Final = (CREATE,)
