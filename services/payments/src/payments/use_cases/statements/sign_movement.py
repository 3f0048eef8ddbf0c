"""Sign what a posting moved to or from a vendor, so that payouts can tell it from anything else."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.payments import ReleaseStatement
from payments.store import statements
from payments.use_cases.statements.sign_statement import sign_statement


async def sign_movement(uow: UnitOfWork, vendor_id: UUID, source: str, amount_minor: int) -> ReleaseStatement | None:
    """The statement of a movement that this unit of work has posted; None for one that moves nothing.

    `source` as `statement_message` names it; `amount_minor` in kobo, below zero when it was taken back. The event that carries the
    statement commits with the posting and the number.
    """
    if amount_minor == 0:
        return None
    following = await statements.number_statement(uow, vendor_id, uow.signing_key.id)
    return sign_statement(uow, vendor_id, source, amount_minor, following)
