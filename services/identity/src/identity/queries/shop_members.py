"""Members and invitations that the caller may read. The conditions of the views decide."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.responses.shop_members import ShopInvitation, ShopMember

# The number of both for one shop is limited (MEMBERS_MAX), and so few shops invite one person that no page is needed.
_ROWS_MAX: Final = 100
_MEMBERS: Final = f"SELECT * FROM shop_members_in_full ORDER BY joined_at, user_id LIMIT {_ROWS_MAX}"
_WORKS: Final = "SELECT EXISTS (SELECT FROM shop_members_in_full WHERE user_id = $1)"
_INVITATIONS: Final = f"SELECT * FROM shop_invitations_in_full ORDER BY created_at DESC, id DESC LIMIT {_ROWS_MAX}"
_INVITATION: Final = "SELECT * FROM shop_invitations_in_full WHERE id = $1"


async def works_for_a_shop(uow: UnitOfWork, user_id: UUID) -> bool:
    """Run as the user, because other users' memberships are not visible to them."""
    return bool(await uow.fetch_value(_WORKS, user_id))


async def list_shop_members(uow: UnitOfWork) -> list[ShopMember]:
    """Return the members of the caller's shop, longest first; a member sees the own membership."""
    return [ShopMember.from_row(row) for row in await uow.fetch(_MEMBERS)]


async def list_shop_invitations(uow: UnitOfWork) -> list[ShopInvitation]:
    """Return the invitations of the caller's shop and to the caller's confirmed address, newest first."""
    return [ShopInvitation.from_row(row) for row in await uow.fetch(_INVITATIONS)]


async def find_shop_invitation(uow: UnitOfWork, invitation_id: UUID) -> ShopInvitation | None:
    row = await uow.fetch_row(_INVITATION, invitation_id)
    return None if row is None else ShopInvitation.from_row(row)
