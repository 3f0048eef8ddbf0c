"""Close an exception, record by whom and why, publish it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from contracts.payouts import ExceptionClosed
from payouts import store
from payouts.domain.exceptions import ExceptionAction, OpenException, alert_key


async def resolve_exception(
    uow: UnitOfWork, exception: OpenException, reason: str, now: datetime, by: UUID | None = None
) -> None:
    """Close an exception, which must be locked and open. Its alert is cleared. `by` is None for the service itself."""
    await store.save_closed(uow, exception.id, reason, now)
    await store.record_exception_action(
        uow, exception.id, ExceptionAction("closed", by, exception.finding, exception.finding, reason), now
    )
    uow.publish(
        ExceptionClosed(
            exception_id=exception.id,
            cause=exception.finding.cause,
            severity=exception.finding.severity,
            respond_by=iso(exception.respond_by),
            payout_id=exception.payout_id,
            batch_id=exception.batch_id,
            vendor_id=exception.vendor_id,
            number=exception.number,
        )
    )
    uow.publish(AlertCleared(alert_id=new_id(), dedup_key=alert_key(exception.id), reason=reason), source="payouts")
