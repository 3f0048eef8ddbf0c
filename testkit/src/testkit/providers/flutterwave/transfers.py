"""Beneficiaries, transfers, banks, accounts and balances.

https://developer.flutterwave.com/docs/payout-outflow/introduction,
https://developer.flutterwave.com/reference/endpoints/transfers, Flutterwave/Node-v3 documentation/transfers.md,
documentation/beneficiary.md, documentation/banks.md and documentation/misc.md.
"""

from decimal import Decimal
from typing import Any, Final

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

STATUSES: Final = ("NEW", "PENDING", "SUCCESSFUL", "FAILED")
_ACCOUNT_NUMBER: Final = {"type": ["string", "integer"]}
_TRANSFER: Final[dict[str, Schema]] = {
    "id": IDENTIFIER,
    "account_number": _ACCOUNT_NUMBER,
    "bank_code reference complete_message bank_name": TEXT,
    "created_at": INSTANT,
    "currency": CURRENCY,
    "debit_currency": {"anyOf": [CURRENCY, {"type": "null"}]},
    "amount": NAIRA,
    "fee": FEE,
    "status": {"enum": list(STATUSES)},
    "meta": {"type": ["object", "array", "null"]},
    "narration": NULLABLE_TEXT,
    "requires_approval is_approved": {"type": "integer"},
}
_SINGLE: Final = record({**_TRANSFER, "full_name": TEXT})
_OPTIONAL: Final[dict[str, Schema]] = {
    "reference? narration? callback_url? beneficiary_name? debit_subaccount? destination_branch_code?": TEXT,
    "debit_currency?": CURRENCY,
    "meta?": {"type": "object"},
}

CREATE_BENEFICIARY: Final = exact(
    {"account_number": {"type": "string", "pattern": r"^\d{10}$"}, "account_bank beneficiary_name": TEXT}
)
BENEFICIARY: Final = success(record({"id": IDENTIFIER, "account_number bank_code full_name bank_name": TEXT}))
# A beneficiary replaces the account.
CREATE_TRANSFER: Final = {
    "anyOf": [
        exact({"beneficiary": {"type": "integer"}, "amount": NAIRA, "currency": CURRENCY, **_OPTIONAL}),
        exact({"account_bank account_number": TEXT, "amount": NAIRA, "currency": CURRENCY, **_OPTIONAL}),
    ]
}
TRANSFER: Final = success(_SINGLE)
LIST_QUERY: Final = frozenset({"page", "status", "from", "to", "reference", "amount", "currency"})
TRANSFERS: Final = listing(_SINGLE)
TRANSFER_EVENT: Final = record(
    {"event": {"const": "transfer.completed"}, "data": record({**_TRANSFER, "fullname": TEXT}), "event.type?": TEXT}
)
BANKS: Final = success({"type": "array", "items": record({"id": IDENTIFIER, "code name": TEXT})})
RESOLVE_ACCOUNT: Final = exact({"account_number account_bank": TEXT})
ACCOUNT: Final = success(record({"account_number account_name": TEXT}))
BALANCE: Final = success(record({"currency": CURRENCY, "available_balance ledger_balance": {"type": "number"}}))
EXAMPLE: Final[dict[str, Any]] = {
    "id": 396432,
    "account_number": "0690000040",
    "bank_code": "044",
    "full_name": "Ada Obi",
    "created_at": "2023-03-11T01:14:21.000Z",
    "currency": "NGN",
    "debit_currency": "NGN",
    "amount": 5500,
    "fee": Decimal("26.875"),
    "status": "NEW",
    "reference": "re-1",
    "meta": None,
    "narration": "Refund",
    "complete_message": "",
    "requires_approval": 0,
    "is_approved": 1,
    "bank_name": "ACCESS BANK NIGERIA",
}
"""A transfer that the gateway accepted."""
