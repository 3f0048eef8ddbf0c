"""Lock a user for a change of their roles or suspension."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.staff import StaffUser
from identity.store import staff
from identity.use_cases.staff.lock_staff_as_admin import lock_staff_as_admin


async def lock_staff_member(uow: UnitOfWork, caller: Caller, user_id: UUID) -> StaffUser:
    """Return the user, while no other change of staff runs and no session of theirs starts.

    Raises NoLongerAdmin (409) and NotFound.
    """
    await lock_staff_as_admin(uow, caller)
    user = await staff.lock_user(uow, user_id)
    if user is None:
        raise NotFound
    return user
