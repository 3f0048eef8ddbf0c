"""Reject a prepared commission change."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import evaluate_rejection
from identity.store import commission_changes
from identity.store.staff import record_staff_action
from identity.use_cases.vendors.lock_commission_change import lock_commission_change


async def reject_commission_change(
    uow: UnitOfWork, caller: Caller, change_id: UUID, reason: str | None, *, now: datetime
) -> None:
    """The commission stays as it is, and a change may be prepared anew.

    Raises NotFound, OwnVendor (403), NoLongerAppointing (409), and what `evaluate_rejection` refuses.
    """
    change, vendor = await lock_commission_change(uow, caller, change_id)
    if not evaluate_rejection(change.decision_at(now), caller.id):
        return
    await commission_changes.save_verdict(uow, change_id, "rejected", by=caller.id, now=now, reason=reason)
    await record_staff_action(
        uow,
        actor_id=caller.id,
        act="commission_change_rejected",
        subject_kind="vendor",
        subject_id=vendor.id,
        detail={"changeId": str(change_id), "preparedBy": str(change.prepared_by), "reason": reason},
        now=now,
    )
