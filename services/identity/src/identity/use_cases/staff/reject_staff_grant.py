"""Reject a prepared grant."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import evaluate_rejection
from identity.store import staff
from identity.use_cases.staff.steps import lock_staff_grant


async def reject_staff_grant(uow: UnitOfWork, caller: Caller, grant_id: UUID, *, now: datetime) -> None:
    """Reject the prepared role. A repetition changes nothing.

    Raises NotFound, OwnGrant (403), NoLongerAdmin (409), and the errors of `evaluate_rejection`.
    """
    grant, _ = await lock_staff_grant(uow, caller, grant_id)
    if not evaluate_rejection(grant.decision_at(now), caller.id):
        return
    await staff.save_decision(uow, grant_id, "rejected", by=caller.id, now=now)
    await staff.record_staff_action(
        uow,
        "role_grant_rejected",
        "person",
        grant.user_id,
        {"role": grant.role, "grantId": str(grant_id), "preparedBy": str(grant.prepared_by)},
        by=caller.id,
        now=now,
    )
