"""Propose the roles of a user's groups at an identity provider."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Conflict
from identity.domain.staff import PROPOSAL_LIFE, REJECTION_HOLDS, Appointment, StaffUser, check_roles_compatible
from identity.store import staff


async def propose_roles(
    uow: UnitOfWork, user_id: UUID, provider: str, roles: Collection[str], *, now: datetime
) -> None:
    """Record a proposal of each role that the user lacks, and withdraw the provider's proposals of other roles.

    Call `lock_staff` before. A role that excludes a held one is not proposed, and nothing to a suspended user.
    """
    await staff.withdraw_proposals(uow, user_id, provider, roles)
    user = await staff.lock_user(uow, user_id)
    if user is None or user.is_suspended:
        return
    for role in sorted(roles):
        if not _may_hold(user, role):
            continue
        grant_id = await staff.record_proposal_if_new(
            uow,
            user_id,
            role,
            provider,
            now=now,
            expires_at=now + PROPOSAL_LIFE,
            not_rejected_since=now - REJECTION_HOLDS,
        )
        if grant_id is not None:
            detail = {"role": role, "grantId": str(grant_id), "proposedBy": provider}
            await staff.record_staff_action(uow, "role_proposed", "person", user_id, detail, by=None, now=now)


def _may_hold(user: StaffUser, role: str) -> bool:
    if user.appointment(role) is not None:
        return False
    try:
        check_roles_compatible(user.appointments, Appointment(role))
    except Conflict:
        return False
    return True
