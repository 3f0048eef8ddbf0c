"""Lock a prepared grant for a decision."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.staff import PreparedGrant, StaffUser, check_not_own_grant
from identity.store import staff
from identity.use_cases.staff.lock_staff_member import lock_staff_member


async def lock_staff_grant(uow: UnitOfWork, caller: Caller, grant_id: UUID) -> tuple[PreparedGrant, StaffUser]:
    """Return the grant and its user, while no other change of staff runs.

    Raises NotFound, OwnGrant (403) and NoLongerAdmin (409).
    """
    found = await staff.find_grant(uow, grant_id)
    if found is None:
        raise NotFound
    check_not_own_grant(found, caller.id)
    user = await lock_staff_member(uow, caller, found.user_id)
    # The grantee never changes, but the status may have changed before the lock.
    grant = await staff.find_grant(uow, grant_id)
    if grant is None:
        raise NotFound
    return grant, user
