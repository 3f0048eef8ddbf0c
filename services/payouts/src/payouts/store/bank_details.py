"""SQL for writes to bank details and their history. No decision is made here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payouts.domain.bank_accounts import Change, KnownAccounts, NameCheck
from payouts.store.account_numbers import AccountNumbers, EncryptedNumber

_SAVE_VERSION: Final = """
INSERT INTO bank_detail_versions (id, vendor_id, account_sealed, account_fingerprint, last4, bank_code, account_name,
                                  verified, reason, check_digit_valid, change, changed_by, changed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
"""
_SAVE_BANK_DETAILS: Final = """
INSERT INTO vendor_bank_details (vendor_id, version_id, account_sealed, account_fingerprint, last4, bank_code,
                                 account_name, verified, reason, check_digit_valid, quarantine_reason, payouts_from,
                                 updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (vendor_id) DO UPDATE SET version_id = $2, account_number = NULL, account_sealed = $3,
    account_fingerprint = $4, last4 = $5, bank_code = $6, account_name = $7, verified = $8, reason = $9,
    check_digit_valid = $10, quarantine_reason = $11, payouts_from = $12, updated_at = $13
"""
_LOCK_BANK_DETAILS: Final = """
SELECT coalesce(account_sealed, account_number) AS kept, account_fingerprint, last4, bank_code, account_name, verified,
       reason, check_digit_valid, quarantine_reason, payouts_from
FROM vendor_bank_details WHERE vendor_id = $1 FOR UPDATE
"""
# The API role may read all these columns: none reveals a number.
_READ_KNOWN_ACCOUNTS: Final = """
SELECT d.quarantine_reason, d.payouts_from, coalesce(d.verified, false) AS is_verified,
       (SELECT account_fingerprint FROM bank_detail_versions WHERE vendor_id = $1 AND verified
        ORDER BY changed_at DESC, id DESC LIMIT 1) AS last_verified,
       EXISTS (SELECT FROM bank_detail_versions WHERE vendor_id = $1 AND verified) AS ever_verified,
       ARRAY (SELECT account_fingerprint FROM bank_detail_quarantines
           WHERE vendor_id = $1 AND NOT quarantine_is_released(id))
           AS quarantined
FROM (VALUES (1)) AS one LEFT JOIN vendor_bank_details AS d ON d.vendor_id = $1
"""
_IS_QUARANTINED: Final = "SELECT account_is_quarantined($1)"
_LIST_OTHER_VENDORS: Final = """
SELECT vendor_id FROM vendor_bank_details WHERE account_fingerprint = $1 AND vendor_id <> $2 ORDER BY vendor_id
"""
_SAVE_QUARANTINE: Final = """
INSERT INTO bank_detail_quarantines (id, vendor_id, version_id, account_fingerprint, payout_id, reason, quarantined_by,
    quarantined_at)
SELECT $1, vendor_id, coalesce($7, version_id), $8, $3, $4, $5, $6 FROM vendor_bank_details WHERE vendor_id = $2
"""
_FIND_NEWEST_REASON: Final = """
SELECT reason FROM bank_detail_quarantines WHERE vendor_id = $1 AND account_fingerprint = $2
ORDER BY quarantined_at DESC, id DESC LIMIT 1
"""
# Repeats the account's row of the history with the newer reason; the present details stay.
_SAVE_NEWER_REASON: Final = """
INSERT INTO bank_detail_versions (id, vendor_id, account_number, account_sealed, account_fingerprint, last4, bank_code,
                                  account_name, verified, reason, check_digit_valid, change, changed_by, changed_at)
SELECT $1, vendor_id, account_number, account_sealed, account_fingerprint, last4, bank_code, account_name, false, $4,
       check_digit_valid, 'quarantined', $5, $6
FROM bank_detail_versions WHERE id = coalesce($3, (SELECT version_id FROM vendor_bank_details WHERE vendor_id = $2))
"""
_FIND_ACCOUNT_OF_PAYOUT: Final = """
SELECT v.id, v.vendor_id, v.account_number, v.account_fingerprint, v.last4, v.bank_code
FROM payout_requests AS p JOIN bank_detail_versions AS v ON v.id = p.bank_details_version_id WHERE p.id = $1
"""
_AWAIT_RESTITUTION: Final = """
UPDATE payout_requests SET restitution_awaited_since = $2, restitution_reason = $3, updated_at = $2
WHERE id = $1 AND restitution_awaited_since IS NULL
"""
# Only of the present attempt: the outcome of an earlier one does not show where the money is.
_FIND_AWAITED: Final = """
SELECT p.restitution_reason FROM payout_transfers AS t JOIN payout_requests AS p ON p.id = t.payout_id
WHERE t.id = $1 AND t.attempt = p.retry_count + 1 AND p.status = 'pending'
"""
_FIND_PRESENT_ATTEMPT: Final = """
SELECT t.id FROM payout_transfers AS t JOIN payout_requests AS p ON p.id = t.payout_id
WHERE p.id = $1 AND t.attempt = p.retry_count + 1
"""
# Vendors with a plaintext row. The rows of one vendor are encrypted together, so that they stay comparable.
_LIST_VENDORS_WITH_PLAINTEXT: Final = """
SELECT vendor_id FROM bank_detail_versions WHERE account_number IS NOT NULL
UNION SELECT vendor_id FROM vendor_bank_details WHERE account_number IS NOT NULL
LIMIT $1
"""
_LOCK_PLAINTEXT_VERSIONS: Final = """
SELECT id, bank_code, account_number FROM bank_detail_versions WHERE vendor_id = $1 AND account_number IS NOT NULL
FOR UPDATE
"""
_LOCK_PLAINTEXT_DETAILS: Final = """
SELECT vendor_id AS id, bank_code, account_number FROM vendor_bank_details
WHERE vendor_id = $1 AND account_number IS NOT NULL FOR UPDATE
"""
_ENCRYPT_VERSION: Final = """
UPDATE bank_detail_versions SET account_number = NULL, account_sealed = $2, account_fingerprint = $3 WHERE id = $1
"""
_ENCRYPT_DETAILS: Final = """
UPDATE vendor_bank_details SET account_number = NULL, account_sealed = $2, account_fingerprint = $3 WHERE vendor_id = $1
"""
_FIND_ONE_CIPHERTEXT: Final = (
    "SELECT vendor_id, account_sealed FROM vendor_bank_details WHERE account_sealed IS NOT NULL LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class BankDetails:
    """A vendor's account with the result of its name check. `payouts_from` None: at once."""

    vendor_id: UUID
    number: EncryptedNumber
    last4: str
    bank_code: str
    account_name: str | None
    name_check: NameCheck
    check_digit_valid: bool | None
    quarantine_reason: str | None = None
    payouts_from: datetime | None = None


async def save_version(
    uow: UnitOfWork, details: BankDetails, changed_by: UUID, at: datetime, change: Change = "set"
) -> UUID:
    """Append the details to the history; the present ones stay. Return the id of the version."""
    version_id = new_id()
    await uow.execute(_SAVE_VERSION, version_id, details.vendor_id, *_columns_of(details), change, changed_by, at)
    return version_id


async def save_bank_details(
    uow: UnitOfWork, details: BankDetails, changed_by: UUID, at: datetime, change: Change = "set"
) -> None:
    """Append the details to the history and make them the present ones."""
    version_id = await save_version(uow, details, changed_by, at, change)
    eligibility = (details.quarantine_reason, details.payouts_from, at)
    await uow.execute(_SAVE_BANK_DETAILS, details.vendor_id, version_id, *_columns_of(details), *eligibility)


def _columns_of(details: BankDetails) -> tuple[object, ...]:
    account = (details.number.ciphertext, details.number.fingerprint, details.last4, details.bank_code)
    checks = (details.name_check.verified, details.name_check.reason, details.check_digit_valid)
    return (*account, details.account_name, *checks)


async def lock_bank_details(uow: UnitOfWork, numbers: AccountNumbers, vendor_id: UUID) -> BankDetails | None:
    """Return the present details with their encrypted number. Only for the service: the API role may not read it."""
    row = await uow.fetch_row(_LOCK_BANK_DETAILS, vendor_id)
    if row is None:
        return None
    ciphertext = EncryptedNumber(row["kept"], row["account_fingerprint"] or "")
    if row["account_fingerprint"] is None:
        ciphertext = numbers.encrypt(vendor_id, row["bank_code"], row["kept"])
    return BankDetails(
        vendor_id,
        ciphertext,
        row["last4"],
        row["bank_code"],
        row["account_name"],
        NameCheck(row["verified"], row["reason"]),
        row["check_digit_valid"],
        row["quarantine_reason"],
        row["payouts_from"],
    )


async def read_known_accounts(uow: UnitOfWork, vendor_id: UUID) -> KnownAccounts:
    """Return the vendor's accounts so far. The wallet must be locked: it orders the changes."""
    row = await uow.fetch_row(_READ_KNOWN_ACCOUNTS, vendor_id)
    if row is None:
        raise AssertionError("the statement always gives a row")
    return KnownAccounts(
        row["last_verified"],
        row["is_verified"],
        row["quarantine_reason"],
        row["payouts_from"],
        row["ever_verified"],
        frozenset(row["quarantined"]),
    )


@dataclass(frozen=True, slots=True)
class QuarantinedAccount:
    """The account that a quarantine stops. `version_id` None: the present account; else the version of a payout."""

    version_id: UUID | None
    fingerprint: str
    last4: str
    bank_code: str


async def find_account_of_payout(uow: UnitOfWork, numbers: AccountNumbers, payout_id: UUID) -> QuarantinedAccount:
    """Return the account that the payout was requested with."""
    row = await uow.fetch_row(_FIND_ACCOUNT_OF_PAYOUT, payout_id)
    if row is None:
        raise AssertionError("neither a payout nor a version of bank details is ever removed")
    fingerprint = row["account_fingerprint"]
    if fingerprint is None:
        fingerprint = numbers.encrypt(row["vendor_id"], row["bank_code"], row["account_number"]).fingerprint
    return QuarantinedAccount(row["id"], fingerprint, row["last4"], row["bank_code"])


async def save_quarantine(
    uow: UnitOfWork,
    vendor_id: UUID,
    stopped: QuarantinedAccount,
    payout_id: UUID | None,
    reason: str,
    by: UUID,
    at: datetime,
) -> None:
    """Record who quarantined which account, for which payout, and why."""
    values = (payout_id, reason, by, at, stopped.version_id, stopped.fingerprint)
    await uow.execute(_SAVE_QUARANTINE, new_id(), vendor_id, *values)


async def is_quarantined(uow: UnitOfWork, fingerprint: str) -> bool:
    """Return whether the account is quarantined, for whichever vendor."""
    return bool(await uow.fetch_value(_IS_QUARANTINED, fingerprint))


async def list_other_vendors(uow: UnitOfWork, fingerprint: str, vendor_id: UUID) -> list[UUID]:
    """Return the other vendors whose present account it is."""
    return [row["vendor_id"] for row in await uow.fetch(_LIST_OTHER_VENDORS, fingerprint, vendor_id)]


async def find_newest_quarantine_reason(uow: UnitOfWork, vendor_id: UUID, stopped: QuarantinedAccount) -> str | None:
    """Return the newest reason of the account's quarantine; None without one. The wallet must be locked."""
    reason: str | None = await uow.fetch_value(_FIND_NEWEST_REASON, vendor_id, stopped.fingerprint)
    return reason


async def save_newer_reason(
    uow: UnitOfWork, vendor_id: UUID, stopped: QuarantinedAccount, reason: str, by: UUID, at: datetime
) -> None:
    """Add another reason of an existing quarantine to the history."""
    quarantine_reason = f"quarantined: {reason}"
    await uow.execute(_SAVE_NEWER_REASON, new_id(), vendor_id, stopped.version_id, quarantine_reason, by, at)


async def mark_restitution_awaited(uow: UnitOfWork, payout_id: UUID, reason: str, at: datetime) -> bool:
    """Mark a payout whose amount returns once the gateway confirms that it was not sent; False when it is marked
    already.
    """
    return await uow.execute(_AWAIT_RESTITUTION, payout_id, at, reason) == 1


async def find_awaited_restitution(uow: UnitOfWork, transfer_id: UUID) -> str | None:
    """Return why the payout of this attempt awaits its restitution; None when it does not, or has a later attempt."""
    reason: str | None = await uow.fetch_value(_FIND_AWAITED, transfer_id)
    return reason


async def find_present_attempt(uow: UnitOfWork, payout_id: UUID) -> UUID | None:
    transfer_id: UUID | None = await uow.fetch_value(_FIND_PRESENT_ATTEMPT, payout_id)
    return transfer_id


async def list_vendors_with_plaintext_numbers(uow: UnitOfWork, limit: int) -> list[UUID]:
    """Return vendors with account numbers that the previous release wrote in plain text."""
    return [row["vendor_id"] for row in await uow.fetch(_LIST_VENDORS_WITH_PLAINTEXT, limit)]


async def encrypt_numbers_of(uow: UnitOfWork, numbers: AccountNumbers, vendor_id: UUID) -> None:
    """Encrypts each plaintext number of the vendor."""
    for listed, save in ((_LOCK_PLAINTEXT_DETAILS, _ENCRYPT_DETAILS), (_LOCK_PLAINTEXT_VERSIONS, _ENCRYPT_VERSION)):
        for row in await uow.fetch(listed, vendor_id):
            number = numbers.encrypt(vendor_id, row["bank_code"], row["account_number"])
            await uow.execute(save, row["id"], number.ciphertext, number.fingerprint)


async def find_encrypted_number(uow: UnitOfWork) -> tuple[UUID, str] | None:
    """Return any vendor with its encrypted number, for a check of the key."""
    row = await uow.fetch_row(_FIND_ONE_CIPHERTEXT)
    return None if row is None else (row["vendor_id"], row["account_sealed"])
