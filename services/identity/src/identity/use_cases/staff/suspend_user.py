"""Suspend a user."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import LastAdmin, OwnAppointment
from identity.domain.staff import ADMIN
from identity.store import codes, staff
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions
from identity.use_cases.staff.steps import lock_staff_member, publish_roles, reject_prepared_by


async def suspend_user(
    uow: UnitOfWork, caller: Caller, user_id: UUID, reason: str | None, *, now: datetime
) -> RevokedSessions | None:
    """End the user's sessions and block every sign-in until the reinstatement; their roles stay, without effect.

    None for a suspended user, whose first reason stays. Raises NotFound, OwnAppointment (403), LastAdmin and
    NoLongerAdmin (409).
    """
    user = await lock_staff_member(uow, caller, user_id)
    if ADMIN in user.roles and not user.is_suspended and not await staff.are_there_other_admins(uow, user_id):
        raise LastAdmin
    if user_id == caller.id:
        raise OwnAppointment
    if user.is_suspended:
        return None
    await staff.record_suspension(uow, user_id, reason, by=caller.id, now=now)
    await publish_roles(uow, user_id)
    await reject_prepared_by(uow, user_id, by=caller.id, now=now)
    await codes.expire_codes(uow, user_id, now)
    await staff.record_staff_action(
        uow, "suspended", "person", user_id, {} if reason is None else {"reason": reason}, by=caller.id, now=now
    )
    return await revoke_sessions(uow, user_id, because="suspended", now=now)
