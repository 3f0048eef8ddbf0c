"""Settle a refund that the gateway paid out."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import postings
from payments.domain.errors import RefundContradiction
from payments.store.refunds import LockedRefund
from payments.use_cases.refunds.finish_refund import finish_refund


async def settle_refund(
    uow: UnitOfWork, refund: LockedRefund, attempt_id: UUID, gateway_refund_id: str | None, now: datetime
) -> None:
    """Post the payment by this attempt, and finish the refund.

    Raises RefundContradiction for an attempt that was paid out and reversed before.
    """
    posting = postings.refund_settled(refund.id, attempt_id, refund.amount_minor, refund.currency)
    if not await ledger.post(uow, posting):
        raise RefundContradiction("an attempt that the bank reversed is paid out again")
    await finish_refund(uow, refund, gateway_refund_id, now)
