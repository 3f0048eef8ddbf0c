"""Begin a change of somebody's roles or standing."""

from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from common.problems import NotFound
from identity.domain.staff import Person
from identity.store import staff
from identity.use_cases.check_still_admin import check_still_admin


async def begin_staff_change(uow: UnitOfWork, caller: Caller, user_id: UUID) -> Person:
    """The person to decide on, while no other change of staff runs and nobody gives them a session.

    Raises NoLongerAppointing (409) and NotFound.
    """
    await check_still_admin(uow, caller)
    person = await staff.lock_person(uow, user_id)
    if person is None:
        raise NotFound
    return person
