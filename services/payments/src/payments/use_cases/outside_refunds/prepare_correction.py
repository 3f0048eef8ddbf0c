"""Prepare the correction of a refund that was made outside; a second person approves it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.domain.errors import OutsideRefundNotCorrectable
from payments.store import decisions, refunds


async def prepare_correction(uow: UnitOfWork, refund_id: UUID, reason: str, by: UUID, now: datetime) -> None:
    """No money moves before the approval. Raises NotFound and OutsideRefundNotCorrectable (409), also for a second
    preparation.
    """
    refund = await refunds.lock_refund(uow, refund_id)
    if refund is None:
        raise NotFound
    if (refund.kind, refund.status) != ("outside", "settled"):
        raise OutsideRefundNotCorrectable
    found = await decisions.REFUND_DECISIONS.find(uow, refund_id)
    if found is not None and found[0] != "rejected":
        raise OutsideRefundNotCorrectable
    await decisions.record_refund_decision(uow, refund_id, "correct", reason, by, now, None)
