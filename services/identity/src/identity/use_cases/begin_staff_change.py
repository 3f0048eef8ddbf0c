"""Begin a change of somebody's roles or standing."""

from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from common.problems import NotFound
from identity.domain.errors import NoLongerAppointing
from identity.domain.staff import Person
from identity.store import staff


async def begin_staff_change(uow: UnitOfWork, caller: Caller, user_id: UUID) -> Person:
    """The person to decide on, while no other change of staff runs and nobody gives them a session.

    The caller's token may be older than what was decided about the caller: of two admins who revoke each other the second
    finds that they are none. Who is admin by the word of a further issuer is so without a role of ours.
    Raises NoLongerAppointing (409) and NotFound.
    """
    await must_still_appoint(uow, caller)
    person = await staff.lock_person(uow, user_id)
    if person is None:
        raise NotFound
    return person


async def must_still_appoint(uow: UnitOfWork, caller: Caller) -> None:
    """Locks changes of staff until the transaction ends. Raises NoLongerAppointing (409) for a caller who lost the role."""
    await staff.lock_staff(uow)
    if await staff.is_suspended(uow, caller.id) or (caller.issuer is None and not await staff.is_admin(uow, caller.id)):
        raise NoLongerAppointing
