"""Appoint a hub agent."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import AppointedElsewhere, OwnHubAgent, SuspendedGrantee, UnknownAppointee, UnknownHub
from identity.domain.staff import HUB_AGENT, Appointment, check_roles_compatible
from identity.store import staff
from identity.use_cases.accounts.steps import publish_profile
from identity.use_cases.staff.steps import lock_staff_as_campus_admin


async def appoint_hub_agent(
    uow: UnitOfWork, caller: Caller, hub_id: UUID, email: str, reason: str, *, now: datetime
) -> UUID:
    """Make the user of a confirmed address an agent of an open hub of the caller's campus; return the user's id.

    The role holds from the user's next token on. A repetition changes nothing. Raises NotFound, Forbidden,
    NoLongerCampusAdmin (409), UnknownHub and UnknownAppointee (422), OwnHubAgent (403), and SuspendedGrantee,
    ConflictingRoles and AppointedElsewhere (409).
    """
    campus_id = await lock_staff_as_campus_admin(uow, caller, hub_id)
    if await staff.find_hub_campus(uow, hub_id) is None:
        raise UnknownHub
    user_id = await staff.find_user_by_confirmed_email(uow, email)
    user = None if user_id is None else await staff.lock_user(uow, user_id)
    if user is None:
        raise UnknownAppointee
    if user.user_id == caller.id:
        raise OwnHubAgent
    appointment = Appointment(HUB_AGENT, campus_id, hub_id)
    held = user.appointment(HUB_AGENT)
    if held == appointment:
        return user.user_id
    if held is not None:
        raise AppointedElsewhere(HUB_AGENT)
    if user.is_suspended:
        raise SuspendedGrantee
    check_roles_compatible(user.appointments, appointment)
    await staff.record_appointment(uow, user.user_id, appointment, by=caller.id, now=now)
    detail = {"role": HUB_AGENT, "campusId": str(campus_id), "hubId": str(hub_id), "reason": reason}
    await staff.record_staff_action(uow, "role_granted", "person", user.user_id, detail, by=caller.id, now=now)
    await publish_profile(uow, user.user_id)
    return user.user_id
