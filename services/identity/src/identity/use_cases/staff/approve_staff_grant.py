"""Approve a prepared grant."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import evaluate_approval
from identity.domain.errors import GranteeEmailNotConfirmed, GranteeWithoutSecondFactor, SuspendedGrantee
from identity.domain.staff import Appointment, check_roles_compatible
from identity.store import staff
from identity.use_cases.accounts.steps import publish_profile
from identity.use_cases.staff.steps import lock_staff_grant


async def approve_staff_grant(
    uow: UnitOfWork, caller: Caller, grant_id: UUID, approved_hash: str, *, now: datetime
) -> None:
    """Grant the prepared role from the user's next token on. A repetition changes nothing.

    Raises NotFound, OwnGrant (403), SuspendedGrantee, GranteeEmailNotConfirmed, GranteeWithoutSecondFactor,
    ConflictingRoles, NoLongerAdmin (409), and the errors of `evaluate_approval`.
    """
    grant, user = await lock_staff_grant(uow, caller, grant_id)
    if not evaluate_approval(grant.decision_at(now), approved_hash, caller.id):
        return
    if user.is_suspended:
        raise SuspendedGrantee
    if not user.email_confirmed:
        raise GranteeEmailNotConfirmed
    if not user.has_second_factor:
        # Otherwise an attacker with the password could enrol a factor and hold the role.
        raise GranteeWithoutSecondFactor
    if user.appointment(grant.role) is None:
        check_roles_compatible(user.appointments, Appointment(grant.role))
        await staff.record_appointment(uow, grant.user_id, Appointment(grant.role), by=grant.prepared_by, now=now)
    await staff.save_decision(uow, grant_id, "approved", by=caller.id, now=now)
    await staff.record_staff_action(
        uow,
        "role_granted",
        "person",
        grant.user_id,
        {"role": grant.role, "grantId": str(grant_id), "preparedBy": str(grant.prepared_by)},
        by=caller.id,
        now=now,
    )
    await publish_profile(uow, grant.user_id)
