"""Issue a statement to a vendor who has none under the current key: after the upgrade that introduced them, or a
rotation.
"""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import VendorStatementIssued
from payments.store import statements
from payments.use_cases.statements.steps import sign_statement


async def issue_statement(uow: UnitOfWork, vendor_id: UUID) -> bool:
    """Return whether a statement was issued. Of concurrent workers and movements one statement is enough."""
    number = await statements.number_opening_statement(uow, vendor_id, uow.signing_key.id)
    if number is None:
        return False
    statement = sign_statement(uow, vendor_id, f"opening:{vendor_id}", 0, number)
    uow.publish(VendorStatementIssued(vendor_id=vendor_id, statement=statement), wake_relay=False)
    return True
