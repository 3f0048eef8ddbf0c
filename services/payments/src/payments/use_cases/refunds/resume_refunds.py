"""Resume the refunds that waited for the decision of a dispute."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.store import chargebacks
from payments.use_cases.refunds.enqueue_refund import enqueue_refund


async def resume_refunds(uow: UnitOfWork, charge_id: UUID) -> None:
    """Enqueue them again. Another open dispute of the charge holds them again."""
    for refund_id in await chargebacks.list_waiting_refunds(uow, charge_id):
        enqueue_refund(uow, refund_id)
