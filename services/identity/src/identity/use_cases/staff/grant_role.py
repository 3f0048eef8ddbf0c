"""Give a role of staff."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import (
    GranteeUnproven,
    OtherAppointment,
    OwnGrant,
    SuspendedGrantee,
    UnknownCampus,
    UnknownHub,
)
from identity.domain.staff import GRANT_LIFE, Appointment, must_go_together, needs_second_person, requires_location
from identity.store import staff, vendors
from identity.use_cases.accounts.publish_profile import publish_profile
from identity.use_cases.staff.start_staff_change import start_staff_change


async def grant_role(
    uow: UnitOfWork, caller: Caller, user_id: UUID, wanted: Appointment, *, now: datetime
) -> UUID | None:
    """A person holds the role from their next token on; a role that moves money or appoints people is only prepared, and the
    id of that grant is told. The same again changes nothing.

    Raises OwnGrant (403), NotFound, ValidationFailed for a place that does not fit or does not exist, and OtherOffice,
    RolesExclude, SuspendedGrantee, GranteeUnproven, NoLongerAppointing (409).
    """
    requires_location(wanted.role, wanted.campus_id, wanted.hub_id)
    if user_id == caller.id:
        raise OwnGrant
    person = await start_staff_change(uow, caller, user_id)
    office = await _with_campus(uow, wanted)
    held = person.office(office.role)
    if held is not None:
        if held != office:
            raise OtherAppointment(held.role)
        return None
    if person.is_suspended:
        raise SuspendedGrantee
    if not person.email_confirmed:
        raise GranteeUnproven
    must_go_together(person.offices, office)
    if needs_second_person(office.role):
        return await _prepare(uow, caller, user_id, office.role, now)
    await staff.record_appointment(uow, user_id, office, by=caller.id, now=now)
    detail = {"role": office.role, "campusId": office.campus_id, "hubId": office.hub_id}
    await staff.record_act(
        uow,
        actor_id=caller.id,
        act="role_granted",
        subject_kind="person",
        subject_id=user_id,
        detail={name: str(value) for name, value in detail.items() if value is not None},
        now=now,
    )
    await publish_profile(uow, user_id)
    return None


async def _with_campus(uow: UnitOfWork, wanted: Appointment) -> Appointment:
    """The office at an open campus; a hub's campus follows from the hub."""
    if wanted.hub_id is not None:
        campus_id = await staff.find_hub_campus(uow, wanted.hub_id)
        if campus_id is None or wanted.campus_id not in (None, campus_id):
            raise UnknownHub
        return Appointment(wanted.role, campus_id, wanted.hub_id)
    if wanted.campus_id is not None and not await vendors.is_campus_open(uow, wanted.campus_id):
        raise UnknownCampus
    return wanted


async def _prepare(uow: UnitOfWork, caller: Caller, user_id: UUID, role: str, now: datetime) -> UUID:
    grant_id, is_new = await staff.record_grant_if_new(
        uow, user_id, role, by=caller.id, now=now, expires_at=now + GRANT_LIFE
    )
    if is_new:
        await staff.record_act(
            uow,
            actor_id=caller.id,
            act="role_grant_prepared",
            subject_kind="person",
            subject_id=user_id,
            detail={"role": role, "grantId": str(grant_id)},
            now=now,
        )
    return grant_id
