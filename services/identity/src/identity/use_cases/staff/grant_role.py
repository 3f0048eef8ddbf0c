"""Grant a staff role."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import (
    AppointedElsewhere,
    GranteeEmailNotConfirmed,
    OwnGrant,
    SuspendedGrantee,
    UnknownCampus,
    UnknownHub,
)
from identity.domain.staff import (
    GRANT_LIFE,
    Appointment,
    check_location,
    check_roles_compatible,
    requires_second_approver,
)
from identity.store import staff, vendors
from identity.use_cases.accounts.steps import publish_profile
from identity.use_cases.staff.steps import lock_staff_member


async def grant_role(
    uow: UnitOfWork, caller: Caller, user_id: UUID, requested: Appointment, *, now: datetime
) -> UUID | None:
    """Grant the role from the user's next token on; prepare it if it needs a second approver and return the grant's id.

    A role that an identity provider proposed needs one too.
    A repetition changes nothing. Raises OwnGrant (403), NotFound, ValidationFailed for an unfit or unknown campus or
    hub, and AppointedElsewhere, ConflictingRoles, SuspendedGrantee, GranteeEmailNotConfirmed, NoLongerAdmin (409).
    """
    check_location(requested.role, requested.campus_id, requested.hub_id)
    if user_id == caller.id:
        raise OwnGrant
    user = await lock_staff_member(uow, caller, user_id)
    appointment = await _with_campus(uow, requested)
    held = user.appointment(appointment.role)
    if held is not None:
        if held != appointment:
            raise AppointedElsewhere(held.role)
        return None
    if user.is_suspended:
        raise SuspendedGrantee
    if not user.email_confirmed:
        raise GranteeEmailNotConfirmed
    check_roles_compatible(user.appointments, appointment)
    if requires_second_approver(appointment.role) or await staff.has_open_grant(uow, user_id, appointment.role, now):
        return await _prepare(uow, caller, user_id, appointment.role, now)
    await staff.record_appointment(uow, user_id, appointment, by=caller.id, now=now)
    detail = {"role": appointment.role, "campusId": appointment.campus_id, "hubId": appointment.hub_id}
    await staff.record_staff_action(
        uow,
        "role_granted",
        "person",
        user_id,
        {name: str(value) for name, value in detail.items() if value is not None},
        by=caller.id,
        now=now,
    )
    await publish_profile(uow, user_id)
    return None


async def _with_campus(uow: UnitOfWork, requested: Appointment) -> Appointment:
    """Return the appointment with an open campus; a hub determines its campus."""
    if requested.hub_id is not None:
        campus_id = await staff.find_hub_campus(uow, requested.hub_id)
        if campus_id is None or requested.campus_id not in (None, campus_id):
            raise UnknownHub
        return Appointment(requested.role, campus_id, requested.hub_id)
    if requested.campus_id is not None and not await vendors.is_campus_open(uow, requested.campus_id):
        raise UnknownCampus
    return requested


async def _prepare(uow: UnitOfWork, caller: Caller, user_id: UUID, role: str, now: datetime) -> UUID:
    grant_id, is_new = await staff.record_grant_if_new(
        uow, user_id, role, by=caller.id, now=now, expires_at=now + GRANT_LIFE
    )
    if is_new:
        await staff.record_staff_action(
            uow,
            "role_grant_prepared",
            "person",
            user_id,
            {"role": role, "grantId": str(grant_id)},
            by=caller.id,
            now=now,
        )
    return grant_id
