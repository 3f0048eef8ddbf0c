"""Check that the caller is still an administrator."""

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import NoLongerAdmin
from identity.store import staff


async def lock_staff_as_admin(uow: UnitOfWork, caller: Caller) -> None:
    """Locks changes of staff until the transaction ends. The caller's token may be older than what was decided about the caller: of
    two admins who revoke each other the second finds that they are none. Who is admin by the token of a further issuer is so without
    a role of ours. Raises NoLongerAppointing (409).
    """
    await staff.lock_staff(uow)
    if await staff.is_suspended(uow, caller.id) or (caller.issuer is None and not await staff.is_admin(uow, caller.id)):
        raise NoLongerAdmin
