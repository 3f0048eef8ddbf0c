"""Steps of shop members that several operations share."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from contracts.identity import ShopMemberChanged
from identity.domain.shop_members import NoLongerOwner, ShopInvitation, ShopMember
from identity.store import shop_members, staff
from identity.store.staff import record_staff_action
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions


async def lock_own_shop(uow: UnitOfWork, caller: Caller) -> tuple[UUID, str]:
    """Lock the people of the caller's shop and return its id and name. Raises Forbidden, NoLongerOwner (409)."""
    vendor_id = caller.owned_vendor_id
    if vendor_id is None:
        raise Forbidden
    shop = await shop_members.lock_shop(uow, vendor_id)
    if shop is None:
        raise NoLongerOwner
    owner_id, name, is_owner_free = shop
    if owner_id != caller.id or not is_owner_free:
        raise NoLongerOwner
    return vendor_id, name


async def lock_invitation(uow: UnitOfWork, invitation_id: UUID) -> ShopInvitation:
    """Return a waiting invitation, while no other act on the people of its shop runs. Raises NotFound."""
    found = await shop_members.find_invitation(uow, invitation_id)
    if found is None or await shop_members.lock_shop(uow, found.vendor_id) is None:
        raise NotFound
    # Answered or withdrawn before the lock.
    locked = await shop_members.find_invitation(uow, invitation_id)
    if locked is None:
        raise NotFound
    return locked


async def lock_member(uow: UnitOfWork, user_id: UUID) -> ShopMember:
    """Return a member, while no other act on the people of the shop runs and no session of theirs starts.

    Raises NotFound.
    """
    found = await shop_members.find_member(uow, user_id)
    if found is None or await shop_members.lock_shop(uow, found.vendor_id) is None:
        raise NotFound
    if await staff.lock_user(uow, user_id) is None:
        raise NotFound
    locked = await shop_members.find_member(uow, user_id)
    if locked is None or locked.vendor_id != found.vendor_id:
        raise NotFound
    return locked


async def publish_member(uow: UnitOfWork, member: ShopMember) -> None:
    """Publish the role of a member as this transaction changed it: a suspended one has none in the event."""
    role = None if await staff.is_suspended(uow, member.user_id) else member.role
    uow.publish(ShopMemberChanged(user_id=member.user_id, vendor_id=member.vendor_id, role=role))


async def end_membership(uow: UnitOfWork, member: ShopMember, *, by: UUID, now: datetime) -> RevokedSessions:
    """Remove the locked member, end their sessions, and record and publish it."""
    await shop_members.delete_member(uow, member.user_id)
    uow.publish(ShopMemberChanged(user_id=member.user_id, vendor_id=member.vendor_id))
    detail = {"vendorId": str(member.vendor_id), "role": member.role}
    await record_staff_action(uow, "shop_member_removed", "person", member.user_id, detail, by=by, now=now)
    return await revoke_sessions(uow, member.user_id, because="role_revoked", now=now)
