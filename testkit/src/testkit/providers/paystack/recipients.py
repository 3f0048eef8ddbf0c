"""Recipients of transfers: create."""

from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, OBJECT_OR_NULL, success
from testkit.providers.schemas import DIGITS, FLAG, INSTANT, TEXT, WHOLE, choice, nullable, record

# The account of a recipient; of a card there is an authorization, and no number.
DETAILS: Final = record(
    {
        "authorization_code": nullable(TEXT),
        "account_number": nullable(TEXT),
        "account_name": nullable(TEXT),
        "bank_code": TEXT,
        "bank_name": TEXT,
    }
)
RECIPIENT_FIELDS: Final = {
    "active": FLAG,
    "createdAt": INSTANT,
    "currency": TEXT,
    "description": TEXT,
    "domain": TEXT,
    "email": nullable(TEXT),
    "id": WHOLE,
    "integration": WHOLE,
    "metadata": OBJECT_OR_NULL,
    "name": TEXT,
    "recipient_code": TEXT,
    "type": TEXT,
    "updatedAt": INSTANT,
    "is_deleted": FLAG,
    "isDeleted": FLAG,
    "details": DETAILS,
}

CREATE: Final = Operation(
    "POST",
    "/transferrecipient",
    body=record(
        {
            "type": choice("nuban"),
            "name": TEXT,
            "account_number": DIGITS,
            "bank_code": TEXT,
            "currency": choice("NGN"),
        },
        optional=("currency",),
        closed=True,
    ),
    responses={201: success(record(RECIPIENT_FIELDS, optional=("metadata",))), 401: FAULT},
    departures={"201.data.email": "null for a recipient without one, as in the responses about transfers"},
)
OPERATIONS: Final = (CREATE,)
