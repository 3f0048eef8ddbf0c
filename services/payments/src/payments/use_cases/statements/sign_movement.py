"""Sign a posted movement of a vendor's money, so that payouts can verify it."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ReleaseStatement
from payments.store import statements
from payments.use_cases.statements.sign_statement import sign_statement


async def sign_movement(uow: UnitOfWork, vendor_id: UUID, source: str, amount_minor: int) -> ReleaseStatement | None:
    """Return the statement of a movement that this unit of work has posted; None for an amount of 0.

    `statement_message` defines `source`; `amount_minor` is in kobo, negative for a reversal. The statement's event commits
    with the posting and the number.
    """
    if amount_minor == 0:
        return None
    number = await statements.number_statement(uow, vendor_id, uow.signing_key.id)
    return sign_statement(uow, vendor_id, source, amount_minor, number)
