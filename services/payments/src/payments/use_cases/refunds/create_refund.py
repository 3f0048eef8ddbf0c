"""Create a refund whose amount the caller posts to `refund_payable` in the same function."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payments.domain.refunds import NewRefund
from payments.store import refunds
from payments.use_cases.refunds.enqueue_refund import enqueue_refund


async def create_refund(uow: UnitOfWork, refund: NewRefund, now: datetime) -> None:
    """Record the refund as `pending`, and enqueue its submission."""
    await refunds.record_refund_if_new(uow, refund, now)
    enqueue_refund(uow, refund.id)
