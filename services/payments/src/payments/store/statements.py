"""SQL for writes: the signed statements of vendors."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain import accounts


@dataclass(frozen=True, slots=True)
class NextStatement:
    """The number of a vendor's next statement, and what was released to them and not taken back, in kobo."""

    sequence: int
    net_minor: int


# The vendor's balance is locked by the posting of the same unit of work, so the number and the sum belong together.
_NEXT: Final = """
INSERT INTO vendor_statements AS s (vendor_id, sequence, key_id) VALUES ($1, 1, $2)
ON CONFLICT (vendor_id) DO UPDATE SET sequence = s.sequence + 1, key_id = excluded.key_id
RETURNING sequence, (SELECT balance_minor FROM ledger_balances WHERE account = $3) AS net_minor
"""
# Read by the index `ledger_balances_of_vendors`: its predicate is repeated word for word.
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
    """Counts the vendor's next statement. The balance of `vendor_payable` must be locked."""
    row = await uow.fetch_row(_NEXT, vendor_id, key_id, accounts.vendor_payable(vendor_id).name)
    if row is None or row["net_minor"] is None:
        # Signed as nothing it would stop the vendor's payouts, and hide what was released.
        raise AssertionError("what was released to the vendor cannot be read")
    return NextStatement(row["sequence"], row["net_minor"])


async def list_vendors_without_statement(uow: UnitOfWork, key_id: str, limit: int) -> list[UUID]:
    """Vendors with released money whose newest statement is not signed with this key, or who have none."""
    return [row["vendor_id"] for row in await uow.fetch(_LIST_WITHOUT, key_id, limit)]


async def number_opening_statement(uow: UnitOfWork, vendor_id: UUID, key_id: str) -> NextStatement | None:
    """Counts a statement that moves nothing; None when the vendor's newest one is under this key already.

    A movement is numbered after its posting. So the balance is read once the number is held: it is the sum of all that have a
    lower number, and of none that will have a higher one.
    """
    sequence = await uow.fetch_value(_NEXT_UNDER_ANOTHER_KEY, vendor_id, key_id)
    if sequence is None:
        return None
    return NextStatement(sequence, await uow.fetch_value(_READ_BALANCE, accounts.vendor_payable(vendor_id).name))
