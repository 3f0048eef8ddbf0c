"""Steps of statements that several operations share."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ReleaseStatement, statement_message
from payments.store import statements
from payments.store.statements import NextStatement


def sign_statement(
    uow: UnitOfWork, vendor_id: UUID, source: str, amount_minor: int, number: NextStatement
) -> ReleaseStatement:
    """Return the signed statement of a number that this unit of work assigned; `statement_message` defines `source`."""
    key = uow.signing_key
    message = statement_message(vendor_id, source, amount_minor, number.sequence, number.net_minor)
    return ReleaseStatement(
        sequence=number.sequence, net_minor=number.net_minor, key_id=key.id, signature=key.sign(message)
    )


async def sign_movement(uow: UnitOfWork, vendor_id: UUID, source: str, amount_minor: int) -> ReleaseStatement | None:
    """Return the statement of a movement that this unit of work has posted; None for an amount of 0.

    `statement_message` defines `source`; `amount_minor` is in kobo, negative for a reversal. The statement's event
    commits with the posting and the number.
    """
    if amount_minor == 0:
        return None
    number = await statements.number_statement(uow, vendor_id, uow.signing_key.id)
    return sign_statement(uow, vendor_id, source, amount_minor, number)
