"""Suspend a person."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import LastAdmin, OwnAppointment
from identity.domain.staff import ADMIN
from identity.store import codes, staff
from identity.use_cases.sessions.end_sessions import Ended, end_sessions
from identity.use_cases.staff.start_staff_change import start_staff_change
from identity.use_cases.staff.withdraw_grants_of import withdraw_grants_of


async def suspend_user(
    uow: UnitOfWork, caller: Caller, user_id: UUID, reason: str | None, *, now: datetime
) -> Ended | None:
    """A person is signed out everywhere and no way in lets them in until they are reinstated; their roles stay.

    None when they were suspended before: the first reason stands. Raises NotFound, OwnOffice (403), and LastAdmin,
    NoLongerAppointing (409).
    """
    person = await start_staff_change(uow, caller, user_id)
    if ADMIN in person.roles and not person.is_suspended and not await staff.are_there_other_admins(uow, user_id):
        raise LastAdmin
    if user_id == caller.id:
        raise OwnAppointment
    if person.is_suspended:
        return None
    await staff.record_suspension(uow, user_id, reason, by=caller.id, now=now)
    await withdraw_grants_of(uow, user_id, by=caller.id, now=now)
    await codes.end_codes(uow, user_id, now)
    await staff.record_act(
        uow,
        actor_id=caller.id,
        act="suspended",
        subject_kind="person",
        subject_id=user_id,
        detail={} if reason is None else {"reason": reason},
        now=now,
    )
    return await end_sessions(uow, user_id, because="suspended", now=now)
