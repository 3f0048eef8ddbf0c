"""Count a part of a refund as returned by the payer's bank."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import UnsentRefund
from payments.store import chargebacks, refunds
from payments.use_cases.refunds.finish_refund import finish_refund


async def record_offset_settled(uow: UnitOfWork, part: UnsentRefund, now: datetime) -> None:
    """Reduce the refund by the part, or finish it when the part is all of it."""
    refund = await refunds.lock_refund(uow, part.id)
    if refund is None:
        raise LookupError(f"refund {part.id} does not exist")
    if part.amount_minor < refund.amount_minor:
        await chargebacks.reduce_refund(uow, part)
    else:
        await finish_refund(uow, refund, None, now)
