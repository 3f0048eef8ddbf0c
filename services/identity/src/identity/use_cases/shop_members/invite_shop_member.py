"""Invite a person to a shop."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.identity import ShopInvitationSent
from identity.domain.shop_members import MEMBERS_MAX, OwnInvitation, ShopRole, TooManyShopMembers
from identity.store import shop_members
from identity.store.staff import find_user_by_confirmed_email, record_staff_action
from identity.use_cases.shop_members.steps import lock_own_shop


async def invite_shop_member(uow: UnitOfWork, caller: Caller, email: str, role: ShopRole, *, now: datetime) -> UUID:
    """Invite the holder of a normalized mail address to the caller's shop, and return the invitation's id.

    The account that has confirmed the address, if there is one, is notified. An earlier invitation of the address is
    replaced. Raises Forbidden, NoLongerOwner and TooManyShopMembers (409), OwnInvitation (422).
    """
    vendor_id, name = await lock_own_shop(uow, caller)
    if await shop_members.is_confirmed_address_of(uow, caller.id, email):
        raise OwnInvitation
    await shop_members.remove_invitation_of(uow, vendor_id, email)
    if await shop_members.count_members(uow, vendor_id, now) >= MEMBERS_MAX:
        raise TooManyShopMembers
    invitation_id = new_id()
    await shop_members.record_invitation(uow, invitation_id, vendor_id, email, role, by=caller.id, now=now)
    detail = {"invitationId": str(invitation_id), "role": role}
    await record_staff_action(uow, "shop_member_invited", "vendor", vendor_id, detail, by=caller.id, now=now)
    user_id = await find_user_by_confirmed_email(uow, email)
    if user_id is not None:
        uow.publish(ShopInvitationSent(user_id=user_id, invitation_id=invitation_id, business_name=name, role=role))
    return invitation_id
