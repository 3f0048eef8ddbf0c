"""Send the refunds that waited for a dispute of their charge to be decided."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.store import chargebacks
from payments.use_cases.charges.create_overpayment_refund import REFUND_QUEUE


async def resume_refunds(uow: UnitOfWork, charge_id: UUID) -> None:
    """Leaves their work once more. Another open dispute of the charge holds them again."""
    for refund_id in await chargebacks.list_waiting_refunds(uow, charge_id):
        uow.enqueue_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
