"""Reject a prepared commission change."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import commission_changes
from identity.store.staff import record_staff_action
from identity.use_cases.vendors.steps import lock_commission_change


async def reject_commission_change(
    uow: UnitOfWork, caller: Caller, change_id: UUID, reason: str | None, *, now: datetime
) -> None:
    """Reject the change; the commission stays and another change may be prepared.

    Raises NotFound, OwnVendor (403), NoLongerAdmin (409), and the errors of `evaluate_rejection`.
    """
    change, vendor = await lock_commission_change(uow, caller, change_id)
    if not await commission_changes.TABLE.reject(uow, change_id, change.decision_at(now), caller.id, now, reason):
        return
    await record_staff_action(
        uow,
        "commission_change_rejected",
        "vendor",
        vendor.id,
        {"changeId": str(change_id), "preparedBy": str(change.prepared_by), "reason": reason},
        by=caller.id,
        now=now,
    )
