"""SQL for writes to bank details and their history. Nothing here decides."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database import UnitOfWork
from payouts.domain.bank_accounts import Judged

_SAVE_VERSION: Final = """
INSERT INTO bank_detail_versions (id, vendor_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid,
                                  changed_by, changed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""
_SAVE_BANK_DETAILS: Final = """
INSERT INTO vendor_bank_details (vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason,
                                 check_digit_valid, quarantine_reason, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL, $10)
ON CONFLICT (vendor_id) DO UPDATE SET version_id = $2, account_number = $3, last4 = $4, bank_code = $5, account_name = $6,
    verified = $7, reason = $8, check_digit_valid = $9, quarantine_reason = NULL, updated_at = $10
"""

_LOCK_BANK_DETAILS: Final = """
SELECT account_number, bank_code, account_name, verified, reason, check_digit_valid FROM vendor_bank_details
WHERE vendor_id = $1 FOR UPDATE
"""


@dataclass(frozen=True, slots=True)
class BankDetails:
    """A vendor's account as it was resolved and judged."""

    vendor_id: UUID
    account_number: str
    bank_code: str
    account_name: str | None
    judged: Judged
    check_digit_valid: bool | None

    @property
    def last4(self) -> str:
        return self.account_number[-4:]


async def save_bank_details(
    uow: UnitOfWork, version_id: UUID, details: BankDetails, changed_by: UUID, at: datetime
) -> None:
    """Appends to the history and makes it the present one."""
    judged = details.judged
    shared = (details.account_number, details.last4, details.bank_code, details.account_name)
    verdict = (judged.verified, judged.reason, details.check_digit_valid)
    await uow.execute(_SAVE_VERSION, version_id, details.vendor_id, *shared, *verdict, changed_by, at)
    await uow.execute(_SAVE_BANK_DETAILS, details.vendor_id, version_id, *shared, *verdict, at)


async def lock_bank_details(uow: UnitOfWork, vendor_id: UUID) -> BankDetails | None:
    """The present details with their account number: for the service itself only, the API role may not read it."""
    row = await uow.fetch_row(_LOCK_BANK_DETAILS, vendor_id)
    if row is None:
        return None
    judged = Judged(row["verified"], row["reason"])
    account = (row["account_number"], row["bank_code"], row["account_name"])
    return BankDetails(vendor_id, *account, judged, row["check_digit_valid"])
