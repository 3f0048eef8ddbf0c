"""Settlements to the bank account or to the wallet.

https://developer.flutterwave.com/v3.0/docs/settlements,
https://developer.flutterwave.com/reference/endpoints/settlements, Flutterwave/Node-v3 documentation/settlements.md.
`destination` is `account` for the bank, and `autowallet` for the wallet.
"""

from typing import Final

from testkit.providers.flutterwave.fields import CURRENCY, IDENTIFIER, INSTANT, NAIRA, NULLABLE_TEXT, listing, success
from testkit.providers.schemas import TEXT, record

_AMOUNTS: Final = ("gross_amount", "app_fee", "merchant_fee", "chargeback", "refund", "stampduty_charge", "net_amount")
_FIELDS: Final = {
    "id": IDENTIFIER,
    "settlement_account bank_code status": TEXT,
    "due_date": INSTANT,
    "currency": CURRENCY,
    **dict.fromkeys(_AMOUNTS, NAIRA),
    "disburse_ref": NULLABLE_TEXT,
    "destination": TEXT,
    "created_at": INSTANT,
}
TRANSACTION: Final = record(
    {
        "id": IDENTIFIER,
        "tx_ref flw_ref status": TEXT,
        "charged_amount app_fee settlement_amount": NAIRA,
        "currency": CURRENCY,
    }
)
SETTLEMENT: Final = success(record({**_FIELDS, "transactions": {"type": "array", "items": TRANSACTION}}))
SETTLEMENTS: Final = listing(record(_FIELDS))
LIST_QUERY: Final = frozenset({"page", "from", "to", "subaccount_id"})
