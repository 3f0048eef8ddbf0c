"""Chargebacks. They are listed by the gateway's reference of the transaction; none is fetched by its id.

https://developer.flutterwave.com/docs/payment-operations/chargebacks,
https://flutterwaveinc.mintlify.app/api-reference/chargebacks/get-all-chargebacks, Flutterwave/PHP-v3
src/Service/ChargeBacks.php. The documentation shows no webhook of a chargeback: only its listed row is described here.
"""

from typing import Final

from testkit.providers.flutterwave.fields import IDENTIFIER, INSTANT, NAIRA, NULLABLE_TEXT, listing
from testkit.providers.schemas import TEXT, record

OPEN: Final = ("initiated", "pending", "declined")
LOST: Final = ("accepted", "lost")
WON: Final = ("won",)
ROUNDS: Final = ("new", "second", "pre-arbitration", "arbitration")
CHARGEBACK: Final = record(
    {
        "id transaction_id": IDENTIFIER,
        "amount": NAIRA,
        "flw_ref tx_ref": TEXT,
        "status": {"enum": [*OPEN, *LOST, *WON]},
        "stage": {"enum": list(ROUNDS)},
        "comment settlement_id": NULLABLE_TEXT,
        "meta": record({"uploaded_proof": NULLABLE_TEXT, "history": {"type": "array"}}),
        "due_date created_at": INSTANT,
    }
)
LIST_QUERY: Final = frozenset({"flw_ref", "status", "page", "from", "to", "currency"})
CHARGEBACKS: Final = listing(CHARGEBACK)
