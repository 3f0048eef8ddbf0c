"""SQL for the erasure of a vendor's owner: open matters, and the data that is removed. The ledger never changes."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

# The column names are the public names of the matters.
_FIND_OPEN_MATTERS: Final = """
SELECT
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'wallet:' || $1::uuid),
        0) >= $2 AS wallet_balance,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'wallet:' || $1::uuid), 0) BETWEEN 1 AND $2 - 1
        AS wallet_remainder,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'vendor_debt:' || $1::uuid),
        0) <> 0 AS wallet_debt,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'held:' || $1::uuid), 0) <> 0 AS wallet_held,
    EXISTS (SELECT FROM order_shares WHERE vendor_id = $1 AND remaining_vendor_minor > 0) AS wallet_locked,
    EXISTS (SELECT FROM payout_requests WHERE vendor_id = $1 AND status = 'pending') AS pending_payouts,
    EXISTS (SELECT FROM payout_exceptions WHERE vendor_id = $1 AND status = 'open') AS open_exceptions,
    EXISTS (
        SELECT FROM payout_requests AS payout JOIN reconciliations ON reconciliations.payout_id = payout.id
        WHERE payout.vendor_id = $1 AND reconciliations.status = 'prepared'
    ) AS undecided_reconciliations
"""
_CLOSE_VENDOR: Final = """
INSERT INTO vendors AS known (id, owner_user_id, legal_name, sequence) VALUES ($1, $2, '', $3)
ON CONFLICT (id) DO UPDATE SET legal_name = '', sequence = excluded.sequence
"""
# The rows stay, as payouts name their version; the data that identifies account and owner is removed.
_FORGET: Final = (
    "DELETE FROM vendor_bank_details WHERE vendor_id = $1",
    "UPDATE bank_detail_versions SET account_number = NULL, account_sealed = '', account_fingerprint = '', last4 "
    "= '', bank_code = '', "
    "account_name = NULL, reason = NULL, verified = false, check_digit_valid = NULL WHERE vendor_id = $1",
    "UPDATE payout_transfers SET recipient_code = NULL WHERE vendor_id = $1",
    "DELETE FROM payout_schedules WHERE vendor_id = $1",
    "UPDATE issued_documents SET content = content - ARRAY['payee_name', 'account_name', 'bank_name', "
    "'account_last4', 'vendor_name'] "
    "WHERE vendor_id = $1",
    # Free text of staff also exists in the actions' history, which the audit keeps; here it is removed.
    "UPDATE payout_requests SET restitution_reason = CASE WHEN restitution_reason IS NOT NULL THEN 'erased' END, "
    "transfer_failure = CASE WHEN transfer_failure IS NOT NULL THEN 'erased' END WHERE vendor_id = $1",
    "UPDATE reconciliations AS decision SET reason = 'erased', rejection = CASE WHEN rejection IS NOT NULL THEN "
    "'erased' END "
    "FROM payout_requests AS payout WHERE payout.id = decision.payout_id AND payout.vendor_id = $1",
)


async def list_open_matters(uow: UnitOfWork, vendor_id: UUID, minimum_minor: int) -> list[str]:
    """Return the public names of the vendor's open matters. The wallet must be locked.

    A wallet with less than `minimum_minor`, the smallest transfer, has a remainder, which no payout can pay.
    """
    row = await uow.fetch_row(_FIND_OPEN_MATTERS, vendor_id, minimum_minor)
    return [] if row is None else [matter for matter, is_open in row.items() if is_open]


async def close_vendor(uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, sequence: int) -> None:
    """Remove name, account and schedule; amounts and times of payments stay."""
    await uow.execute(_CLOSE_VENDOR, vendor_id, owner_user_id, sequence)
    for statement in _FORGET:
        await uow.execute(statement, vendor_id)
