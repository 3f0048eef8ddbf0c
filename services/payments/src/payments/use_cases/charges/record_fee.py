"""Post the gateway's fee of a recorded charge."""

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import postings
from payments.store import charges


async def record_fee(uow: UnitOfWork, identity: str, fee_minor: int, currency: str) -> bool:
    """Return whether the fee was posted. A charge has one fee: another one stays a difference of the reconciliation."""
    if fee_minor <= 0 or not await charges.fee_is_missing(uow, identity):
        return False
    return await ledger.post(uow, postings.gateway_fee(identity, fee_minor, currency))
