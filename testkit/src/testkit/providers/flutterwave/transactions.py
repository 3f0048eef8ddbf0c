"""Hosted payments, charges by bank transfer, and transactions.

https://developer.flutterwave.com/docs/collecting-payments/standard,
https://developer.flutterwave.com/docs/direct-charge/bank-transfer,
https://developer.flutterwave.com/docs/verifications/transaction, Flutterwave/Node-v3 documentation/transactions.md.
"""

from typing import Final

from testkit.providers.flutterwave.fields import (
    CURRENCY,
    FEE,
    IDENTIFIER,
    INSTANT,
    NAIRA,
    NULLABLE_TEXT,
    exact,
    listing,
    success,
)
from testkit.providers.schemas import TEXT, Schema, record

STATUSES: Final = ("pending", "successful", "failed")
_CUSTOMER: Final = record({"id": IDENTIFIER, "email": TEXT, "name? phone_number?": NULLABLE_TEXT})
_SHARED: Final[dict[str, Schema]] = {
    "id account_id": IDENTIFIER,
    "tx_ref flw_ref auth_model ip payment_type": TEXT,
    "amount charged_amount": NAIRA,
    "currency": CURRENCY,
    "app_fee merchant_fee": FEE,
    "processor_response narration": NULLABLE_TEXT,
    "status": {"enum": list(STATUSES)},
    "created_at": INSTANT,
}
_SETTLED: Final[dict[str, Schema]] = {"amount_settled?": {"type": ["number", "null"]}}
_META: Final[Schema] = {"type": ["object", "null"]}

CREATE_PAYMENT: Final = exact(
    {
        "tx_ref": TEXT,
        "amount": {"anyOf": [NAIRA, {"type": "string", "pattern": r"^\d+(\.\d{1,2})?$"}]},
        "redirect_url": {"type": "string", "pattern": "^https?://"},
        "customer": exact({"email": TEXT, "name? phonenumber?": TEXT}),
        "currency?": CURRENCY,
        "payment_options?": TEXT,
        "meta? customizations?": {"type": "object"},
        "session_duration?": {"type": "integer", "maximum": 1440},
        "max_retry_attempt?": {"type": "integer"},
        "payment_plan?": IDENTIFIER,
        "subaccounts?": {"type": "array"},
    }
)
HOSTED_LINK: Final = success(record({"link": {"type": "string", "pattern": "^https?://"}}))
CREATE_BANK_TRANSFER: Final = exact(
    {
        "tx_ref email": TEXT,
        "amount": {"anyOf": [NAIRA, {"type": "string", "pattern": r"^\d+(\.\d{1,2})?$"}]},
        "currency": {"const": "NGN"},
        "fullname? phone_number? client_ip? device_fingerprint? narration?": TEXT,
        "is_permanent?": {"type": "boolean"},
        "bank_transfer_options?": exact({"expires": {"type": "integer", "minimum": 1}}),
        "meta?": {"type": "object"},
        "subaccounts?": {"type": "array"},
    }
)
# The response to a charge has `meta` and no `data`. The end of the account is in milliseconds, or a text without a
# zone.
BANK_TRANSFER: Final = record(
    {
        "status": {"const": "success"},
        "message": TEXT,
        "meta": record(
            {
                "authorization": record(
                    {
                        "transfer_reference transfer_bank transfer_note": TEXT,
                        "transfer_account": {"type": "string", "pattern": "^[0-9]{10}$"},
                        "account_expiration": {"type": ["integer", "string"]},
                        "transfer_amount": {"type": ["string", "number"]},
                        "mode": {"const": "banktransfer"},
                    }
                )
            }
        ),
    }
)
TRANSACTION: Final = success(record({**_SHARED, "customer": _CUSTOMER, **_SETTLED, "meta?": _META}))
LIST_QUERY: Final = frozenset(
    {"from", "to", "page", "customer_email", "status", "tx_ref", "customer_fullname", "currency"}
)
TRANSACTIONS: Final = listing(record({**_SHARED, "customer_name customer_email": NULLABLE_TEXT, **_SETTLED}))
CHARGE_EVENT: Final = record(
    {
        "event": {"const": "charge.completed"},
        "data": record({**_SHARED, "customer": _CUSTOMER}),
        "meta_data?": {"type": ["object", "null"]},
        "event.type?": TEXT,
    }
)
