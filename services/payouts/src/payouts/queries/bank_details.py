"""Reads of bank details. An account number appears only as its last four digits."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import Reads, UnitOfWork
from common.primitives.clock import iso
from common.web.pages import TimePosition
from common.web.response_models import Row
from payouts.domain.bank_accounts import BANK_NAMES
from payouts.responses.bank_details import BankDetails, BankDetailsChange, QuarantinedPayout

# A closed vendor has no legal name.
_FIND_LEGAL_NAME: Final = "SELECT nullif(legal_name, '') FROM vendors WHERE id = $1"
# Of two gateways that list the bank, the newer list names it.
_LISTED_NAME: Final = """
(SELECT name FROM gateway_banks WHERE code = bank_code ORDER BY listed_at DESC LIMIT 1) AS listed_name
"""
_FIND_BANK_DETAILS: Final = f"""
SELECT last4 AS account_last4, bank_code, {_LISTED_NAME}, account_name, verified, reason, check_digit_valid,
       quarantine_reason, payouts_from, updated_at
FROM vendor_bank_details WHERE vendor_id = $1
"""
_FIND_QUARANTINED_PAYOUT: Final = """
SELECT id, status, restitution_awaited_since IS NOT NULL AS awaited FROM payout_requests WHERE id = $1
"""
_FIND_VERSION: Final = f"""
SELECT vendor_id, last4 AS account_last4, bank_code, {_LISTED_NAME}, account_name, verified, reason, check_digit_valid,
       changed_at AS updated_at
FROM bank_detail_versions WHERE id = $1
"""
_PAGE_OF_HISTORY: Final = f"""
SELECT id, last4 AS account_last4, bank_code, {_LISTED_NAME}, account_name, verified, reason, check_digit_valid, change,
       changed_by, changed_at
FROM bank_detail_versions
WHERE vendor_id = $1 AND ($2::timestamptz IS NULL OR (changed_at, id) < ($2, $3::uuid))
ORDER BY changed_at DESC, id DESC LIMIT $4
"""


async def find_legal_name(reads: Reads, vendor_id: UUID) -> str | None:
    name: str | None = await reads.fetch_value(_FIND_LEGAL_NAME, vendor_id)
    return name


async def find_bank_details(uow: UnitOfWork, vendor_id: UUID) -> BankDetails | None:
    """Return the vendor's present account, by its last four digits."""
    row = await uow.fetch_row(_FIND_BANK_DETAILS, vendor_id)
    if row is None:
        return None
    return BankDetails.from_row(
        row,
        **_account(row, vendor_id),
        reason=row["reason"] or row["quarantine_reason"],
        is_present=True,
        quarantined=row["quarantine_reason"] is not None,
        payouts_from=iso(row["payouts_from"] or row["updated_at"]) if row["verified"] else None,
    )


async def find_rejected_account(uow: UnitOfWork, version_id: UUID) -> BankDetails:
    """Return an account of the history that did not become the present one."""
    row = await uow.fetch_row(_FIND_VERSION, version_id)
    if row is None:
        raise AssertionError("no version of bank details is ever removed")
    account = _account(row, row["vendor_id"])
    return BankDetails.from_row(
        row, **account, is_present=False, quarantined=False, quarantine_reason=None, payouts_from=None
    )


async def page_of_bank_details_history(
    uow: UnitOfWork, vendor_id: UUID, before: TimePosition | None, limit: int
) -> tuple[list[BankDetailsChange], TimePosition | None]:
    """Return changes from newest to oldest before a position, and the position of the next page."""
    changed_at, version_id = before or (None, None)
    rows = await uow.fetch(_PAGE_OF_HISTORY, vendor_id, changed_at, version_id, limit + 1)
    changes = [
        BankDetailsChange.from_row(
            row,
            **_account(row, vendor_id),
            # The legal name changed in identity: the account is unchanged.
            changed_by=None if row["change"] == "legal_name_changed" else row["changed_by"],
        )
        for row in rows[:limit]
    ]
    last = rows[limit - 1] if len(rows) > limit else None
    return changes, None if last is None else (last["changed_at"], last["id"])


async def find_quarantined_payout(uow: UnitOfWork, payout_id: UUID) -> QuarantinedPayout | None:
    """Return the payout of a quarantine. `restitution` is `done`, `awaited`, or None when its money left."""
    row = await uow.fetch_row(_FIND_QUARANTINED_PAYOUT, payout_id)
    if row is None:
        return None
    restitution = {"failed": "done", "pending": "awaited" if row["awaited"] else None}.get(row["status"])
    return QuarantinedPayout.from_row(row, restitution=restitution)


def _account(row: Row, vendor_id: UUID) -> dict[str, object]:
    failed_digit = row["check_digit_valid"] is False
    return {
        "vendor_id": vendor_id,
        "bank_name": row["listed_name"] or BANK_NAMES.get(row["bank_code"]),
        "warning": "The check digit does not fit this bank and account number." if failed_digit else None,
    }
