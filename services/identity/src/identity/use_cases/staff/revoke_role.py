"""Take a role of staff away."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import LastAdmin, OwnAppointment
from identity.domain.staff import ADMIN
from identity.store import staff
from identity.use_cases.accounts.publish_profile import publish_profile
from identity.use_cases.sessions.end_sessions import Ended, end_sessions
from identity.use_cases.staff.start_staff_change import start_staff_change
from identity.use_cases.staff.withdraw_grants_of import withdraw_grants_of


async def revoke_role(uow: UnitOfWork, caller: Caller, user_id: UUID, role: str, *, now: datetime) -> Ended | None:
    """A person does not hold the role any more; what tokens say otherwise is revoked everywhere, and they sign in again.

    None when they did not hold it: nothing changes. Raises NotFound, OwnOffice (403), and LastAdmin, NoLongerAppointing (409).
    """
    person = await start_staff_change(uow, caller, user_id)
    if role == ADMIN and role in person.roles and not await staff.are_there_other_admins(uow, user_id):
        raise LastAdmin
    if user_id == caller.id:
        raise OwnAppointment
    held = person.office(role)
    if held is None:
        return None
    await staff.end_appointment(uow, user_id, role)
    if role == ADMIN:
        await withdraw_grants_of(uow, user_id, by=caller.id, now=now)
    detail = {"role": role, "campusId": held.campus_id, "hubId": held.hub_id}
    await staff.record_act(
        uow,
        actor_id=caller.id,
        act="role_revoked",
        subject_kind="person",
        subject_id=user_id,
        detail={name: str(value) for name, value in detail.items() if value is not None},
        now=now,
    )
    await publish_profile(uow, user_id)
    return await end_sessions(uow, user_id, because="role_revoked", now=now)
