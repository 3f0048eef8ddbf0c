"""Reinstate a person."""

from datetime import datetime
from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from identity.store import staff
from identity.use_cases.begin_staff_change import begin_staff_change


async def reinstate_person(
    uow: UnitOfWork, caller: Caller, user_id: UUID, reason: str | None, *, now: datetime
) -> None:
    """A suspended person may sign in again, with the roles they had. Nothing changes for anybody else.

    Raises NotFound and NoLongerAppointing (409).
    """
    person = await begin_staff_change(uow, caller, user_id)
    if not person.is_suspended:
        return
    await staff.end_suspension(uow, user_id)
    await staff.record_act(
        uow,
        actor_id=caller.id,
        act="reinstated",
        subject_kind="person",
        subject_id=user_id,
        detail={} if reason is None else {"reason": reason},
        now=now,
    )
