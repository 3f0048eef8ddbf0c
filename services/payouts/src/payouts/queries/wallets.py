"""Reads of wallets."""

from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import Reads
from payouts.queries.rows import response_of

_READ_WALLET: Final = """
SELECT
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'wallet:' || $1::uuid), 0) AS available_minor,
    (SELECT coalesce(sum(remaining_vendor_minor), 0)::bigint FROM order_shares
     WHERE vendor_id = $1 AND remaining_vendor_minor > 0) AS locked_minor,
    (SELECT coalesce(sum(b.balance_minor), 0)::bigint FROM payout_requests AS p
     JOIN ledger_balances AS b ON b.account = 'in_transit:' || p.id
     WHERE p.vendor_id = $1 AND p.status = 'pending') AS in_transit_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'vendor_debt:' || $1::uuid), 0) AS debt_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'held:' || $1::uuid), 0) AS held_minor,
    'NGN' AS currency
"""


async def find_wallet(reads: Reads, vendor_id: UUID) -> dict[str, Any]:
    """Returns the amounts available, in escrow, in transit, owed and held, in kobo."""
    row = await reads.fetch_row(_READ_WALLET, vendor_id)
    if row is None:
        raise AssertionError("the statement always gives a row")
    return response_of(row)
