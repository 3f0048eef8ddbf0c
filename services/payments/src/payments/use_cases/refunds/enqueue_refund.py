"""Enqueue the submission of a refund."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.queues import REFUND_QUEUE


def enqueue_refund(uow: UnitOfWork, refund_id: UUID) -> None:
    """Repetitions are safe: `submit_refund` sends a refund once."""
    uow.enqueue_work(REFUND_QUEUE, refund_id, {"refundId": str(refund_id)})
