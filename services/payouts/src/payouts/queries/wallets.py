"""Reads of wallets and statements."""

from typing import Any, Final
from uuid import UUID

from common.clock import iso
from common.database import UnitOfWork

_READ_WALLET: Final = """
SELECT
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'wallet:' || $1::uuid), 0) AS available_minor,
    (SELECT coalesce(sum(remaining_vendor_minor), 0)::bigint FROM order_shares
     WHERE vendor_id = $1 AND remaining_vendor_minor > 0) AS locked_minor,
    (SELECT coalesce(sum(b.balance_minor), 0)::bigint FROM payout_requests AS p
     JOIN ledger_balances AS b ON b.account = 'in_transit:' || p.id
     WHERE p.vendor_id = $1 AND p.status = 'pending') AS in_transit_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'vendor_debt:' || $1::uuid), 0) AS debt_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'held:' || $1::uuid), 0) AS held_minor
"""
_PAGE_OF_STATEMENT: Final = """
SELECT position, id, kind, order_id, payout_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, balance_minor, at
FROM wallet_lines WHERE vendor_id = $1 AND position < $2 ORDER BY position DESC LIMIT $3
"""
_BEYOND_EVERY_POSITION: Final = 2**63 - 1


async def find_wallet(uow: UnitOfWork, vendor_id: UUID) -> dict[str, Any]:
    """What the vendor may withdraw, what is in escrow for them, what is on its way, and what they owe; in kobo."""
    row = await uow.fetch_row(_READ_WALLET, vendor_id)
    if row is None:
        raise AssertionError("the statement always gives a row")
    return {
        "availableMinor": row["available_minor"],
        "lockedMinor": row["locked_minor"],
        "inTransitMinor": row["in_transit_minor"],
        "debtMinor": row["debt_minor"],
        "heldMinor": row["held_minor"],
        "currency": "NGN",
    }


async def page_of_statement(
    uow: UnitOfWork, vendor_id: UUID, before: int | None, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """Lines from newest to oldest before a position, and the position at which the next page begins."""
    rows = await uow.fetch(_PAGE_OF_STATEMENT, vendor_id, before or _BEYOND_EVERY_POSITION, limit + 1)
    lines = [
        {
            "id": row["id"],
            "kind": row["kind"],
            "orderId": row["order_id"],
            "payoutId": row["payout_id"],
            "grossMinor": row["gross_minor"],
            "commissionMinor": row["commission_minor"],
            "deliveryFeeMinor": row["delivery_fee_minor"],
            "netMinor": row["net_minor"],
            "balanceMinor": row["balance_minor"],
            "at": iso(row["at"]),
        }
        for row in rows[:limit]
    ]
    return lines, rows[limit - 1]["position"] if len(rows) > limit else None
