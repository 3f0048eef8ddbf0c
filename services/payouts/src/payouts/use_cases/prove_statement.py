"""Whether a statement was signed by payments."""

from common.database import UnitOfWork
from contracts.payments import statement_message
from payouts.domain.released import Statement


def is_proven(uow: UnitOfWork, statement: Statement) -> bool:
    """Verifies the signature over the statement's own fields, its vendor's among them."""
    message = statement_message(
        statement.vendor_id, statement.source, statement.amount_minor, statement.sequence, statement.net_minor
    )
    return uow.verify_keys.verify(statement.key_id, message, statement.signature)
