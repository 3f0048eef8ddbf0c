"""Close the exception that holds a payout."""

from datetime import datetime
from uuid import UUID

from common.clock import iso
from common.database import UnitOfWork
from contracts.payouts import ExceptionClosed
from payouts import store


async def close_live_exception(uow: UnitOfWork, payout_id: UUID, vendor_id: UUID, because: str, now: datetime) -> bool:
    """What has settled the payout has settled its exception too; False when none was open. The payout must be locked."""
    closed = await store.close_exception(uow, payout_id, because, now)
    if closed is None:
        return False
    uow.publish(
        ExceptionClosed(
            exception_id=closed.id,
            cause=closed.cause,
            severity=closed.severity,
            respond_by=iso(closed.respond_by),
            payout_id=payout_id,
            vendor_id=vendor_id,
        )
    )
    return True
