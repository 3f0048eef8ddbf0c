"""Reinstate a user."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import staff
from identity.use_cases.staff.steps import lock_staff_member, publish_roles


async def reinstate_user(uow: UnitOfWork, caller: Caller, user_id: UUID, reason: str | None, *, now: datetime) -> None:
    """Lift a user's suspension; their roles apply again. Without a suspension nothing changes.

    Raises NotFound and NoLongerAdmin (409).
    """
    user = await lock_staff_member(uow, caller, user_id)
    if not user.is_suspended:
        return
    await staff.lift_suspension(uow, user_id)
    await publish_roles(uow, user_id)
    await staff.record_staff_action(
        uow, "reinstated", "person", user_id, {} if reason is None else {"reason": reason}, by=caller.id, now=now
    )
