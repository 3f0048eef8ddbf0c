"""An exception is over: keep why and by whom, and tell everybody who waited for it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertCleared
from contracts.payouts import ExceptionClosed
from payouts import store
from payouts.domain.exceptions import Act, OpenException, alert_key


async def resolve_exception(
    uow: UnitOfWork, standing: OpenException, because: str, now: datetime, by: UUID | None = None
) -> None:
    """The exception must be locked and open. Its alert closes with it. `by` is None when the service itself saw the end."""
    await store.save_closed(uow, standing.id, because, now)
    await store.record_act(uow, standing.id, Act("closed", by, standing.finding, standing.finding, because), now)
    uow.publish(
        ExceptionClosed(
            exception_id=standing.id,
            cause=standing.finding.cause,
            severity=standing.finding.severity,
            respond_by=iso(standing.respond_by),
            payout_id=standing.payout_id,
            batch_id=standing.batch_id,
            vendor_id=standing.vendor_id,
        )
    )
    uow.publish(AlertCleared(alert_id=new_id(), dedup_key=alert_key(standing.id), reason=because), source="payouts")
