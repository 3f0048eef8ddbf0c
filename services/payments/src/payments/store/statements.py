"""SQL for the signed statements of vendors."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain import accounts


@dataclass(frozen=True, slots=True)
class NextStatement:
    """The number of a vendor's next statement, and the kobo released to them net of reversals."""

    sequence: int
    net_minor: int


# The posting of the same unit of work locks the vendor's balance, so the number and the sum are consistent.
_NEXT: Final = """
INSERT INTO vendor_statements AS s (vendor_id, sequence, key_id) VALUES ($1, 1, $2)
ON CONFLICT (vendor_id) DO UPDATE SET sequence = s.sequence + 1, key_id = excluded.key_id
RETURNING sequence, (SELECT balance_minor FROM ledger_balances WHERE account = $3) AS net_minor
"""
# Repeats the predicate of the index `ledger_balances_of_vendors` literally.
_LIST_WITHOUT: Final = """
SELECT b.vendor_id FROM (
    SELECT split_part(account, ':', 2)::uuid AS vendor_id FROM ledger_balances WHERE account LIKE 'vendor\\_payable:%'
) AS b LEFT JOIN vendor_statements AS s USING (vendor_id)
WHERE s.key_id IS DISTINCT FROM $1 ORDER BY b.vendor_id LIMIT $2
"""
_NEXT_UNDER_ANOTHER_KEY: Final = """
INSERT INTO vendor_statements AS s (vendor_id, sequence, key_id) VALUES ($1, 1, $2)
ON CONFLICT (vendor_id) DO UPDATE SET sequence = s.sequence + 1, key_id = excluded.key_id
WHERE s.key_id <> excluded.key_id
RETURNING sequence
"""
_READ_BALANCE: Final = "SELECT balance_minor FROM ledger_balances WHERE account = $1"


async def number_statement(uow: UnitOfWork, vendor_id: UUID, key_id: str) -> NextStatement:
    """Assign the vendor's next statement number. The caller must hold the lock of the `vendor_payable` balance."""
    row = await uow.fetch_row(_NEXT, vendor_id, key_id, accounts.vendor_payable(vendor_id).name)
    if row is None or row["net_minor"] is None:
        # A statement of zero would stop the vendor's payouts and hide the released amount.
        raise AssertionError(f"no balance of vendor_payable:{vendor_id} to sign")
    return NextStatement(row["sequence"], row["net_minor"])


async def list_vendors_without_statement(uow: UnitOfWork, key_id: str, limit: int) -> list[UUID]:
    """Vendors with released money whose newest statement is absent or signed with another key."""
    return [row["vendor_id"] for row in await uow.fetch(_LIST_WITHOUT, key_id, limit)]


async def number_opening_statement(uow: UnitOfWork, vendor_id: UUID, key_id: str) -> NextStatement | None:
    """Assign a number to a statement without a movement; None when the vendor's newest one uses this key already.

    A movement gets its number after its posting. The balance is read after the number is assigned: it includes all
    movements with a lower number, and none with a higher one.
    """
    sequence = await uow.fetch_value(_NEXT_UNDER_ANOTHER_KEY, vendor_id, key_id)
    if sequence is None:
        return None
    return NextStatement(sequence, await uow.fetch_value(_READ_BALANCE, accounts.vendor_payable(vendor_id).name))
