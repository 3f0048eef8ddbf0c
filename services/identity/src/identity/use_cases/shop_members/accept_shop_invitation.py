"""Accept an invitation to a shop."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.domain.shop_members import MemberElsewhere, OwnerOfAShop, ShopMember
from identity.store import shop_members, staff
from identity.store.staff import record_staff_action
from identity.use_cases.shop_members.steps import lock_invitation, publish_member


async def accept_shop_invitation(uow: UnitOfWork, caller: Caller, invitation_id: UUID, *, now: datetime) -> None:
    """Make the caller, who has confirmed the invited address, a member from their next token on.

    Raises NotFound for another address and for an invitation that was answered or withdrawn, InvitationExpired,
    MemberElsewhere and OwnerOfAShop (409).
    """
    invitation = await lock_invitation(uow, invitation_id)
    user = await staff.lock_user(uow, caller.id)
    if user is None or not await shop_members.is_confirmed_address_of(uow, caller.id, invitation.email):
        raise NotFound
    invitation.check_open(now)
    if await shop_members.owns_a_shop(uow, caller.id):
        raise OwnerOfAShop
    if await shop_members.find_member(uow, caller.id) is not None:
        raise MemberElsewhere
    member = ShopMember(caller.id, invitation.vendor_id, invitation.role)
    await shop_members.delete_invitation(uow, invitation.id)
    await shop_members.record_member(uow, member, by=invitation.invited_by, now=now)
    await publish_member(uow, member)
    detail = {"vendorId": str(member.vendor_id), "role": member.role}
    await record_staff_action(uow, "shop_member_joined", "person", caller.id, detail, by=caller.id, now=now)
