"""Refunds. `completed` is an accepted refund; `completed-...` is one that the customer received.

https://developer.flutterwave.com/docs/payment-operations/refunds,
https://developer.flutterwave.com/v3.0.0/reference/get-all-refunds, Flutterwave/Node-v3 documentation/transactions.md.
"""

from typing import Final

from testkit.providers.flutterwave.fields import IDENTIFIER, INSTANT, NAIRA, NULLABLE_TEXT, exact, listing, success
from testkit.providers.schemas import TEXT, record

ACCEPTED: Final = ("new", "pending", "pending-momo", "processing", "completed")
PAID: Final = (
    "completed-bank-transfer",
    "completed-momo",
    "completed-mpgs",
    "completed-offline",
    "completed-preauth",
    "successful",
)
FAILED: Final = ("failed",)
_STATUS: Final = {"enum": [*ACCEPTED, *PAID, *FAILED]}
_META: Final = {"type": ["object", "string", "null"]}
_REFUND: Final = record(
    {
        "id account_id tx_id wallet_id": IDENTIFIER,
        "flw_ref destination": TEXT,
        "amount_refunded": NAIRA,
        "status": _STATUS,
        "meta": _META,
        "created_at": INSTANT,
        "comments?": NULLABLE_TEXT,
    }
)

CREATE_REFUND: Final = exact({"amount?": NAIRA, "comments?": TEXT})
REFUND: Final = success(_REFUND)
LIST_QUERY: Final = frozenset({"from", "to", "status", "currency", "flw_ref", "id", "page"})
REFUNDS: Final = listing(_REFUND)
REFUND_EVENT: Final = record(
    {
        "event": TEXT,
        "data": record(
            {
                "id walletId AccountId TransactionId": IDENTIFIER,
                "AmountRefunded": NAIRA,
                "status": _STATUS,
                "FlwRef destination": TEXT,
                "createdAt": INSTANT,
                "comments? settlement_id?": NULLABLE_TEXT,
                "meta?": _META,
                "updatedAt?": INSTANT,
            }
        ),
    }
)
