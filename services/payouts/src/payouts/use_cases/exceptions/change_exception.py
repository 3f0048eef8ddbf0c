"""Change what an open exception says, keep who did it and why, and tell everybody who must know."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertRaised
from contracts.payouts import ExceptionChanged
from payouts import store
from payouts.domain.exceptions import Act, OpenException, alert_key, runbook_of
from payouts.domain.severity import respond_by


async def change_exception(uow: UnitOfWork, standing: OpenException, act: Act, now: datetime) -> None:
    """The exception must be locked and open. Who is on call hears again when it grew worse, and only then."""
    due = respond_by(standing.opened_at, act.after.severity)
    await store.save_finding(uow, standing.id, act.after, due)
    await store.record_act(uow, standing.id, act, now)
    uow.publish(
        ExceptionChanged(
            exception_id=standing.id,
            cause=act.after.cause,
            severity=act.after.severity,
            respond_by=iso(due),
            payout_id=standing.payout_id,
            batch_id=standing.batch_id,
            vendor_id=standing.vendor_id,
        )
    )
    if act.after.severity < act.before.severity:
        alert = AlertRaised(
            alert_id=new_id(),
            severity=act.after.severity,
            title=f"Payout exception: {act.after.cause}",
            detail=f"Raised from {act.before.severity}: {act.note} Respond by {iso(due)}.",
            runbook=runbook_of(act.after.cause),
            dedup_key=alert_key(standing.id),
            about=standing.subject,
        )
        uow.publish(alert, source="payouts")
