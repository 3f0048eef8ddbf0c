"""Sign a vendor's next statement."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ReleaseStatement, statement_message
from payments.store.statements import NextStatement


def sign_statement(
    uow: UnitOfWork, vendor_id: UUID, source: str, amount_minor: int, following: NextStatement
) -> ReleaseStatement:
    """The signed form of the statement that was numbered in this unit of work; `source` as `statement_message` names it."""
    key = uow.signing_key
    message = statement_message(vendor_id, source, amount_minor, following.sequence, following.net_minor)
    return ReleaseStatement(
        sequence=following.sequence, net_minor=following.net_minor, key_id=key.id, signature=key.sign(message)
    )
