"""Reads of wallets."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import Reads, UnitOfWork
from payouts.responses.payouts import BankArrival
from payouts.responses.wallets import Wallet, WalletEntry, WalletTransaction

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

# A statement line has the key of its posting. The vendor leads to the index of the lines.
_TRANSACTIONS_OF_ORDER: Final = """
SELECT t.id, t.type, t.posting_key, t.currency, t.created_at,
       array_agg((e.account, e.amount_minor) ORDER BY e.account) AS entries
FROM ledger_transactions AS t JOIN ledger_entries AS e ON e.transaction_id = t.id
WHERE t.posting_key IN (
    SELECT l.source_key FROM wallet_lines AS l
    WHERE l.vendor_id = (SELECT vendor_id FROM order_shares WHERE order_id = $1) AND l.order_id = $1
)
GROUP BY t.id ORDER BY t.position
"""


async def find_wallet(
    reads: Reads, vendor_id: UUID, transfer_minimum_minor: int, arrival: BankArrival | None
) -> Wallet:
    """Return the amounts available, in escrow, in transit, in debt and held, and the smallest transfer, in kobo."""
    row = await reads.fetch_row(_READ_WALLET, vendor_id)
    if row is None:
        raise AssertionError("the statement always gives a row")
    return Wallet.from_row(row, transfer_minimum_minor=transfer_minimum_minor, arrival=arrival)


async def list_transactions_of_order(uow: UnitOfWork, order_id: UUID) -> list[WalletTransaction]:
    """Return the transactions of the wallets' ledger that an order caused, with their entries, oldest first."""
    return [
        WalletTransaction.from_row(
            row, entries=[WalletEntry(account=account, amount_minor=minor) for account, minor in row["entries"]]
        )
        for row in await uow.fetch(_TRANSACTIONS_OF_ORDER, order_id)
    ]
