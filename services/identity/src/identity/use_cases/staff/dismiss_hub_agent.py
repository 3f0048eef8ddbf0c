"""Dismiss a hub agent."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.errors import OwnHubAgent
from identity.domain.staff import HUB_AGENT
from identity.store import staff
from identity.use_cases.accounts.steps import publish_profile
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions
from identity.use_cases.staff.steps import lock_staff_as_campus_admin


async def dismiss_hub_agent(
    uow: UnitOfWork, caller: Caller, hub_id: UUID, user_id: UUID, reason: str, *, now: datetime
) -> RevokedSessions:
    """Revoke the role of an agent of a hub of the caller's campus and end the agent's sessions.

    Raises NotFound for a user who is no agent of this hub, Forbidden, OwnHubAgent (403), NoLongerCampusAdmin (409).
    """
    campus_id = await lock_staff_as_campus_admin(uow, caller, hub_id)
    if user_id == caller.id:
        raise OwnHubAgent
    user = await staff.lock_user(uow, user_id)
    held = None if user is None else user.appointment(HUB_AGENT)
    if held is None or held.hub_id != hub_id:
        raise NotFound
    await staff.revoke_appointment(uow, user_id, HUB_AGENT)
    detail = {"role": HUB_AGENT, "campusId": str(campus_id), "hubId": str(hub_id), "reason": reason}
    await staff.record_staff_action(uow, "role_revoked", "person", user_id, detail, by=caller.id, now=now)
    await publish_profile(uow, user_id)
    return await revoke_sessions(uow, user_id, because="role_revoked", now=now)
