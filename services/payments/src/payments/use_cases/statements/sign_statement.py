"""Sign a vendor's next statement."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ReleaseStatement, statement_message
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
