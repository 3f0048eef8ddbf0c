"""Reinstate a person."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import staff
from identity.use_cases.staff.start_staff_change import start_staff_change


async def reinstate_user(uow: UnitOfWork, caller: Caller, user_id: UUID, reason: str | None, *, now: datetime) -> None:
    """A suspended person may sign in again, with the roles they had. Nothing changes for anybody else.

    Raises NotFound and NoLongerAppointing (409).
    """
    person = await start_staff_change(uow, caller, user_id)
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
