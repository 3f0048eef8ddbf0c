"""Revoke a staff role."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import LastAdmin, OwnAppointment
from identity.domain.staff import ADMIN
from identity.store import staff
from identity.use_cases.accounts.steps import publish_profile
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions
from identity.use_cases.staff.steps import lock_staff_member, reject_prepared_by


async def revoke_role(
    uow: UnitOfWork, caller: Caller, user_id: UUID, role: str, *, now: datetime
) -> RevokedSessions | None:
    """Revoke the role and end the user's sessions; None when the user does not hold it.

    Raises NotFound, OwnAppointment (403), LastAdmin and NoLongerAdmin (409).
    """
    user = await lock_staff_member(uow, caller, user_id)
    if role == ADMIN and role in user.roles and not await staff.are_there_other_admins(uow, user_id):
        raise LastAdmin
    if user_id == caller.id:
        raise OwnAppointment
    held = user.appointment(role)
    if held is None:
        return None
    await staff.revoke_appointment(uow, user_id, role)
    if role == ADMIN:
        await reject_prepared_by(uow, user_id, by=caller.id, now=now)
    detail = {"role": role, "campusId": held.campus_id, "hubId": held.hub_id}
    await staff.record_staff_action(
        uow,
        "role_revoked",
        "person",
        user_id,
        {name: str(value) for name, value in detail.items() if value is not None},
        by=caller.id,
        now=now,
    )
    await publish_profile(uow, user_id)
    return await revoke_sessions(uow, user_id, because="role_revoked", now=now)
