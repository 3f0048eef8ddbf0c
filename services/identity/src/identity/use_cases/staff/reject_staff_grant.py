"""Reject a prepared or proposed grant."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import staff
from identity.use_cases.staff.steps import lock_staff_grant


async def reject_staff_grant(uow: UnitOfWork, caller: Caller, grant_id: UUID, *, now: datetime) -> None:
    """Reject the prepared or proposed role. A repetition changes nothing.

    Raises NotFound, OwnGrant (403), NoLongerAdmin (409), and the errors of `evaluate_rejection`.
    """
    grant, _ = await lock_staff_grant(uow, caller, grant_id)
    if not grant.allows_rejection(caller.id, now):
        return
    await staff.save_decision(uow, grant_id, "rejected", by=caller.id, now=now)
    origin = {"proposedBy": grant.proposed_by} if grant.prepared_by is None else {"preparedBy": str(grant.prepared_by)}
    await staff.record_staff_action(
        uow,
        "role_grant_rejected",
        "person",
        grant.user_id,
        {"role": grant.role, "grantId": str(grant_id), **origin},
        by=caller.id,
        now=now,
    )
