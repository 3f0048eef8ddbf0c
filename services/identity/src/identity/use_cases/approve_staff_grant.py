"""Approve a prepared grant."""

from datetime import datetime
from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from identity.domain.errors import GranteeUnproven, GranteeWithoutSecondFactor, SuspendedGrantee
from identity.domain.staff import Office, is_still_to_decide, must_go_together
from identity.store import staff
from identity.use_cases.open_staff_grant import open_staff_grant
from identity.use_cases.tell_profile import tell_profile


async def approve_staff_grant(uow: UnitOfWork, caller: Caller, grant_id: UUID, *, now: datetime) -> None:
    """A second platform_admin agrees, and the person holds the role from their next token on. Repeated it changes nothing.

    Raises NotFound, OwnGrant (403) for who prepared it and for whom it is, and GrantDecidedOtherwise, GrantExpired,
    SuspendedGrantee, GranteeUnproven, GranteeWithoutSecondFactor, RolesExclude, NoLongerAppointing (409).
    """
    grant, person = await open_staff_grant(uow, caller, grant_id)
    if not is_still_to_decide(grant, "approved", now):
        return
    if person.is_suspended:
        raise SuspendedGrantee
    if not person.email_confirmed:
        raise GranteeUnproven
    if not person.has_second_factor:
        # Otherwise whoever learns the password enrols a factor of their own and holds the role.
        raise GranteeWithoutSecondFactor
    if person.office(grant.role) is None:
        must_go_together(person.offices, Office(grant.role))
        await staff.record_office(uow, grant.user_id, Office(grant.role), by=grant.prepared_by, now=now)
    await staff.save_decision(uow, grant_id, "approved", by=caller.id, now=now)
    await staff.record_act(
        uow,
        actor_id=caller.id,
        act="role_granted",
        subject_kind="person",
        subject_id=grant.user_id,
        detail={"role": grant.role, "grantId": str(grant_id), "preparedBy": str(grant.prepared_by)},
        now=now,
    )
    await tell_profile(uow, grant.user_id)
