"""Begin a change of somebody's roles or standing."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.staff import StaffUser
from identity.store import staff
from identity.use_cases.staff.lock_staff_as_admin import lock_staff_as_admin


async def lock_staff_member(uow: UnitOfWork, caller: Caller, user_id: UUID) -> StaffUser:
    """The person to decide on, while no other change of staff runs and nobody gives them a session.

    Raises NoLongerAppointing (409) and NotFound.
    """
    await lock_staff_as_admin(uow, caller)
    user = await staff.lock_user(uow, user_id)
    if user is None:
        raise NotFound
    return user
