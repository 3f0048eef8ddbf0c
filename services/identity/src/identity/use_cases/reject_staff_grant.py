"""Reject a prepared grant."""

from datetime import datetime
from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from identity.domain.staff import is_still_to_decide
from identity.store import staff
from identity.use_cases.open_staff_grant import open_staff_grant


async def reject_staff_grant(uow: UnitOfWork, caller: Caller, grant_id: UUID, *, now: datetime) -> None:
    """A second platform_admin refuses, and the person does not get the role. Repeated it changes nothing.

    Raises NotFound, OwnGrant (403) for who prepared it and for whom it is, and GrantDecidedOtherwise, GrantExpired,
    NoLongerAppointing (409).
    """
    grant, _ = await open_staff_grant(uow, caller, grant_id)
    if not is_still_to_decide(grant, "rejected", now):
        return
    await staff.save_decision(uow, grant_id, "rejected", by=caller.id, now=now)
    await staff.record_act(
        uow,
        actor_id=caller.id,
        act="role_grant_rejected",
        subject_kind="person",
        subject_id=grant.user_id,
        detail={"role": grant.role, "grantId": str(grant_id), "preparedBy": str(grant.prepared_by)},
        now=now,
    )
