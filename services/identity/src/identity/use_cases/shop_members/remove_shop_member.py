"""Remove a member from a shop, or leave it."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.use_cases.sessions.revoke_sessions import RevokedSessions
from identity.use_cases.shop_members.steps import end_membership, lock_member, lock_own_shop


async def remove_shop_member(uow: UnitOfWork, caller: Caller, user_id: UUID, *, now: datetime) -> RevokedSessions:
    """Remove a member as the owner, or leave as the member; the member's sessions end.

    Raises NotFound for a person who is no member of the caller's shop, and NoLongerOwner (409).
    """
    if user_id != caller.id and caller.owned_vendor_id is None:
        raise NotFound
    vendor_id = None if user_id == caller.id else (await lock_own_shop(uow, caller))[0]
    member = await lock_member(uow, user_id)
    if vendor_id is not None and member.vendor_id != vendor_id:
        raise NotFound
    return await end_membership(uow, member, by=caller.id, now=now)
