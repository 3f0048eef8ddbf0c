"""Members of a shop and invitations: writes, and the reads that a write decides on."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.state_changes import change_state
from common.database.unit_of_work import UnitOfWork
from identity.domain.shop_members import INVITATION_LIFE, ShopInvitation, ShopMember, ShopRole

# Changes of the people of one shop run one after the other. A closed shop has none.
_LOCK_SHOP: Final = """
SELECT owner_user_id, business_name, NOT EXISTS (SELECT FROM suspensions WHERE user_id = owner_user_id) AS is_owner_free
FROM vendors WHERE id = $1 AND status <> 'closed' FOR NO KEY UPDATE
"""
_COUNT_MEMBERS: Final = """
SELECT (SELECT count(*) FROM shop_members WHERE vendor_id = $1)
    + (SELECT count(*) FROM shop_invitations WHERE vendor_id = $1 AND expires_at > $2)
"""
# A new invitation of the same address replaces the earlier one, whose link no longer works.
_REMOVE_EARLIER: Final = "DELETE FROM shop_invitations WHERE vendor_id = $1 AND email = $2"
_RECORD_INVITATION: Final = """
INSERT INTO shop_invitations (id, vendor_id, email, role, invited_by, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_FIND_INVITATION: Final = """
SELECT id, vendor_id, email, role, invited_by, expires_at FROM shop_invitations WHERE id = $1
"""
_DELETE_INVITATION: Final = "DELETE FROM shop_invitations WHERE id = $1"
_IS_ADDRESS_OF: Final = """
SELECT EXISTS (
    SELECT FROM profiles WHERE id = $1 AND confirmed_email = email AND email = $2 AND erased_at IS NULL
)
"""
_FIND_MEMBER: Final = "SELECT user_id, vendor_id, role FROM shop_members WHERE user_id = $1"
_OWNS_A_SHOP: Final = "SELECT EXISTS (SELECT FROM vendors WHERE owner_user_id = $1)"
_RECORD_MEMBER: Final = """
INSERT INTO shop_members (user_id, vendor_id, role, added_by, joined_at) VALUES ($1, $2, $3, $4, $5)
"""
_SAVE_ROLE: Final = "UPDATE shop_members SET role = $3 WHERE user_id = $1 AND role = $2"
_DELETE_MEMBER: Final = "DELETE FROM shop_members WHERE user_id = $1"
_LIST_MEMBERS: Final = "SELECT user_id, vendor_id, role FROM shop_members WHERE vendor_id = $1 ORDER BY user_id"
_DELETE_INVITATIONS: Final = "DELETE FROM shop_invitations WHERE vendor_id = $1"


async def lock_shop(uow: UnitOfWork, vendor_id: UUID) -> tuple[UUID, str, bool] | None:
    """Return the owner, the name, and whether the owner is not suspended; None for a closed shop."""
    row = await uow.fetch_row(_LOCK_SHOP, vendor_id)
    return None if row is None else (row[0], row[1], row[2])


async def count_members(uow: UnitOfWork, vendor_id: UUID, now: datetime) -> int:
    """Return the number of members and of invitations that wait. Call `lock_shop` before."""
    return int(await uow.fetch_value(_COUNT_MEMBERS, vendor_id, now))


async def remove_invitation_of(uow: UnitOfWork, vendor_id: UUID, email: str) -> None:
    await uow.execute(_REMOVE_EARLIER, vendor_id, email)


async def record_invitation(
    uow: UnitOfWork, invitation_id: UUID, vendor_id: UUID, email: str, role: ShopRole, *, by: UUID, now: datetime
) -> None:
    values = (invitation_id, vendor_id, email, role, by, now, now + INVITATION_LIFE)
    await uow.execute(_RECORD_INVITATION, *values)


async def find_invitation(uow: UnitOfWork, invitation_id: UUID) -> ShopInvitation | None:
    row = await uow.fetch_row(_FIND_INVITATION, invitation_id)
    return None if row is None else ShopInvitation(**row)


async def delete_invitation(uow: UnitOfWork, invitation_id: UUID) -> None:
    """Raise StateChanged for one that was answered or withdrawn."""
    await change_state(uow, _DELETE_INVITATION, invitation_id)


async def is_confirmed_address_of(uow: UnitOfWork, user_id: UUID, email: str) -> bool:
    """Return whether this is the present address of the user, and confirmed."""
    return bool(await uow.fetch_value(_IS_ADDRESS_OF, user_id, email))


async def find_member(uow: UnitOfWork, user_id: UUID) -> ShopMember | None:
    row = await uow.fetch_row(_FIND_MEMBER, user_id)
    return None if row is None else ShopMember(**row)


async def owns_a_shop(uow: UnitOfWork, user_id: UUID) -> bool:
    return bool(await uow.fetch_value(_OWNS_A_SHOP, user_id))


async def record_member(uow: UnitOfWork, member: ShopMember, *, by: UUID, now: datetime) -> None:
    await uow.execute(_RECORD_MEMBER, member.user_id, member.vendor_id, member.role, by, now)


async def save_role(uow: UnitOfWork, member: ShopMember, role: ShopRole) -> None:
    await change_state(uow, _SAVE_ROLE, member.user_id, member.role, role)


async def delete_member(uow: UnitOfWork, user_id: UUID) -> None:
    await change_state(uow, _DELETE_MEMBER, user_id)


async def list_members(uow: UnitOfWork, vendor_id: UUID) -> list[ShopMember]:
    return [ShopMember(**row) for row in await uow.fetch(_LIST_MEMBERS, vendor_id)]


async def delete_invitations(uow: UnitOfWork, vendor_id: UUID) -> None:
    """Withdraw all invitations of a shop that closes."""
    await uow.execute(_DELETE_INVITATIONS, vendor_id)
