"""Change the finding of an open exception, record the action, publish the change."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from contracts.payouts import ExceptionChanged
from payouts import store
from payouts.domain.exceptions import ExceptionAction, OpenException, alert_key, runbook_of
from payouts.domain.severity import respond_by


async def change_exception(uow: UnitOfWork, exception: OpenException, action: ExceptionAction, now: datetime) -> None:
    """Revise an exception, which must be locked and open. The on-call staff are alerted again only when it became
    worse.
    """
    due = respond_by(exception.opened_at, action.after.severity)
    await store.save_finding(uow, exception.id, action.after, due)
    await store.record_exception_action(uow, exception.id, action, now)
    uow.publish(
        ExceptionChanged(
            exception_id=exception.id,
            cause=action.after.cause,
            severity=action.after.severity,
            respond_by=iso(due),
            payout_id=exception.payout_id,
            batch_id=exception.batch_id,
            vendor_id=exception.vendor_id,
            number=exception.number,
        )
    )
    if action.after.severity < action.before.severity:
        alert = AlertRaised(
            alert_id=new_id(),
            severity=action.after.severity,
            title=f"Payout exception: {action.after.cause}",
            detail=f"Raised from {action.before.severity}: {action.note} Respond by {iso(due)}.",
            runbook=runbook_of(action.after.cause),
            dedup_key=alert_key(exception.id),
            about=exception.subject,
        )
        uow.publish(alert, source="payouts")
