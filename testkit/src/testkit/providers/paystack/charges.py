"""Charges by bank transfer, and the check of a pending one.

The specification shows a charge that is decided; paystack.com/docs/payments/payment-channels/#pay-with-transfer has the
object `bank_transfer` and the pending charge with its account.
"""

from typing import Final

from testkit.providers.operations import Operation
from testkit.providers.paystack.envelopes import FAULT, success
from testkit.providers.paystack.transactions import TRANSACTION
from testkit.providers.schemas import ANYTHING, INSTANT, TEXT, WHOLE, Schema, choice, record

PENDING_TRANSFER: Final = record(
    {
        "status": choice("pending_bank_transfer"),
        "display_text reference account_name": TEXT,
        "amount": WHOLE,
        "account_number": {"type": "string", "pattern": "^[0-9]{10}$"},
        "bank": record({"slug name": TEXT, "id": WHOLE}),
        "account_expires_at": INSTANT,
    }
)
_CHARGE: Final[Schema] = {"type": "object", "anyOf": [PENDING_TRANSFER, TRANSACTION]}
_BY_THE_PAGE: Final = "the specification lists no bank_transfer; the page does"

CREATE: Final = Operation(
    "POST",
    "/charge",
    body=record(
        {
            "email": {"type": "string", "pattern": "^[^@ ]+@[^@ ]+[.][^@ ]+$"},
            "amount": {"type": "integer", "minimum": 1},
            "reference?": {"type": "string", "pattern": "^[A-Za-z0-9.=_-]+$"},
            "metadata?": ANYTHING,
            "bank_transfer?": record({"account_expires_at": INSTANT}, closed=True),
        },
        closed=True,
    ),
    responses={200: success(_CHARGE)},
    departures={"body.bank_transfer": _BY_THE_PAGE, "body.bank_transfer.account_expires_at": _BY_THE_PAGE},
)
CHECK: Final = Operation("GET", "/charge/{reference}", responses={200: success(_CHARGE), 404: FAULT})
OPERATIONS: Final = (CREATE, CHECK)
