"""Reads of bank details; a number leaves only as its last four digits."""

from typing import Any, Final
from uuid import UUID

from common.clock import iso
from common.database import UnitOfWork
from payouts.domain.bank_accounts import BANK_NAMES

_FIND_LEGAL_NAME: Final = "SELECT legal_name FROM vendors WHERE id = $1"
_FIND_BANK_DETAILS: Final = """
SELECT last4, bank_code, account_name, verified, reason, check_digit_valid, quarantine_reason, updated_at
FROM vendor_bank_details WHERE vendor_id = $1
"""


async def find_legal_name(uow: UnitOfWork, vendor_id: UUID) -> str | None:
    name: str | None = await uow.fetch_value(_FIND_LEGAL_NAME, vendor_id)
    return name


async def find_bank_details(uow: UnitOfWork, vendor_id: UUID) -> dict[str, Any] | None:
    """The vendor's present account, by its last four digits."""
    row = await uow.fetch_row(_FIND_BANK_DETAILS, vendor_id)
    if row is None:
        return None
    failed_digit = row["check_digit_valid"] is False
    return {
        "vendorId": vendor_id,
        "accountLast4": row["last4"],
        "bankCode": row["bank_code"],
        "bankName": BANK_NAMES.get(row["bank_code"]),
        "accountName": row["account_name"],
        "verified": row["verified"],
        "reason": row["reason"] or row["quarantine_reason"],
        "warning": "The check digit does not fit this bank and account number." if failed_digit else None,
        "updatedAt": iso(row["updated_at"]),
    }
