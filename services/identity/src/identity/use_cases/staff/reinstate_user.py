"""Reinstate a person."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import staff
from identity.use_cases.staff.lock_staff_member import lock_staff_member


async def reinstate_user(uow: UnitOfWork, caller: Caller, user_id: UUID, reason: str | None, *, now: datetime) -> None:
    """A suspended person may sign in again, with the roles they had. Nothing changes for anybody else.

    Raises NotFound and NoLongerAppointing (409).
    """
    user = await lock_staff_member(uow, caller, user_id)
    if not user.is_suspended:
        return
    await staff.lift_suspension(uow, user_id)
    await staff.record_staff_action(
        uow,
        actor_id=caller.id,
        act="reinstated",
        subject_kind="person",
        subject_id=user_id,
        detail={} if reason is None else {"reason": reason},
        now=now,
    )
