"""Serialize changes of staff for an administrator."""

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.domain.errors import NoLongerAdmin
from identity.store import staff


async def lock_staff_as_admin(uow: UnitOfWork, caller: Caller) -> None:
    """Lock changes of staff, then check that the caller is still an active platform_admin.

    The token may be outdated: of two admins who revoke each other, the second is rejected. An admin by a further
    issuer's token holds no role here. Raises NoLongerAdmin (409).
    """
    await staff.lock_staff(uow)
    if await staff.is_suspended(uow, caller.id) or (caller.issuer is None and not await staff.is_admin(uow, caller.id)):
        raise NoLongerAdmin
