"""Open a prepared grant to decide on it."""

from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from common.problems import NotFound
from identity.domain.staff import Person, PreparedGrant, must_be_another
from identity.store import staff
from identity.use_cases.begin_staff_change import begin_staff_change


async def open_staff_grant(uow: UnitOfWork, caller: Caller, grant_id: UUID) -> tuple[PreparedGrant, Person]:
    """The grant and its person, for somebody who may decide on it, while no other change of staff runs.

    Raises NotFound, OwnGrant (403) and NoLongerAppointing (409).
    """
    found = await staff.find_grant(uow, grant_id)
    if found is None:
        raise NotFound
    must_be_another(found, caller.id)
    person = await begin_staff_change(uow, caller, found.user_id)
    # Whom it is for never changes; how it stands may have changed before the lock was ours.
    grant = await staff.find_grant(uow, grant_id)
    if grant is None:
        raise NotFound
    return grant, person
