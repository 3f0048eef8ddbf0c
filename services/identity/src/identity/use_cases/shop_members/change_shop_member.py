"""Change the role of a member of a shop."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.shop_members import ShopRole
from identity.store import shop_members
from identity.store.staff import record_staff_action
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions
from identity.use_cases.shop_members.steps import lock_member, lock_own_shop, publish_member


async def change_shop_member(
    uow: UnitOfWork, caller: Caller, user_id: UUID, role: ShopRole, *, now: datetime
) -> RevokedSessions | None:
    """Set the role of a member of the caller's shop and end their sessions; None when they hold it.

    Raises Forbidden, NoLongerOwner (409), and NotFound for a person who is no member of this shop.
    """
    vendor_id, _ = await lock_own_shop(uow, caller)
    member = await lock_member(uow, user_id)
    if member.vendor_id != vendor_id:
        raise NotFound
    if member.role == role:
        return None
    await shop_members.save_role(uow, member, role)
    await publish_member(uow, replace(member, role=role))
    detail = {"vendorId": str(vendor_id), "before": member.role, "role": role}
    await record_staff_action(uow, "shop_member_changed", "person", user_id, detail, by=caller.id, now=now)
    return await revoke_sessions(uow, user_id, because="role_revoked", now=now)
