"""Refund a charge of an order that is paid already."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from payments.domain.refunds import NewRefund
from payments.store import charges
from payments.use_cases.refunds.create_refund import create_refund


async def create_overpayment_refund(
    uow: UnitOfWork, posting: Posting, refund: NewRefund, intent_id: UUID, now: datetime
) -> None:
    """Post the overpayment, which credits all of it to the refund, and mark the intent `overpaid`."""
    await ledger.post(uow, posting)
    await charges.save_intent_spent(uow, intent_id, "overpaid")
    await create_refund(uow, refund, now)
