"""Decline or withdraw an invitation to a shop."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from identity.store import shop_members
from identity.store.staff import record_staff_action
from identity.use_cases.shop_members.steps import lock_invitation


async def decline_shop_invitation(uow: UnitOfWork, caller: Caller, invitation_id: UUID, *, now: datetime) -> None:
    """Delete a waiting invitation, as the holder of its confirmed address or as the owner of the shop.

    Raises NotFound for others, and for an invitation that was answered or withdrawn.
    """
    invitation = await lock_invitation(uow, invitation_id)
    is_owner = caller.owned_vendor_id == invitation.vendor_id
    if not is_owner and not await shop_members.is_confirmed_address_of(uow, caller.id, invitation.email):
        raise NotFound
    await shop_members.delete_invitation(uow, invitation.id)
    action = "shop_invitation_withdrawn" if is_owner else "shop_invitation_declined"
    detail = {"invitationId": str(invitation.id), "role": invitation.role}
    await record_staff_action(uow, action, "vendor", invitation.vendor_id, detail, by=caller.id, now=now)
