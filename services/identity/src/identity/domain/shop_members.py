"""Members of a shop: roles, limits and errors (decision 206)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from common.primitives.problems import Conflict, InvalidParam, ValidationFailed

ShopRole = Literal["manager", "packer"]

# Longer than a holiday week of the invited person; an address that changes its owner is not invited for long.
INVITATION_LIFE: Final = timedelta(days=7)
# Members and waiting invitations of one shop. A kitchen with three shifts has fewer.
MEMBERS_MAX: Final = 20
OWN: Final = "shop_members:own"


class TooManyShopMembers(Conflict):
    detail = f"A shop has at most {MEMBERS_MAX} members and invitations. Remove one first."


class OwnInvitation(ValidationFailed):
    """The owner invited the own address."""

    detail = "You own this shop, so you cannot invite yourself."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("email", "is your own address")])


class InvitationExpired(Conflict):
    detail = "This invitation has expired. Ask the owner of the shop for a new one."


class MemberElsewhere(Conflict):
    """An account works for one shop."""

    detail = "You work for a shop already. Leave it first."


class OwnerOfAShop(Conflict):
    detail = "You own a shop, so you cannot work for another one with this account."


class ApplicantWorksForAShop(Conflict):
    """An account owns a shop or works for one."""

    detail = "This account works for a shop. It must leave that shop first."


class NoLongerOwner(Conflict):
    detail = "You are suspended or no longer the owner of this shop. Sign in again."


@dataclass(frozen=True, slots=True)
class ShopMember:
    """A member of a shop."""

    user_id: UUID
    vendor_id: UUID
    role: ShopRole


@dataclass(frozen=True, slots=True)
class ShopInvitation:
    """An invitation that waits for its answer."""

    id: UUID
    vendor_id: UUID
    email: str
    role: ShopRole
    invited_by: UUID
    expires_at: datetime

    def check_open(self, now: datetime) -> None:
        """Raise InvitationExpired (409)."""
        if self.expires_at <= now:
            raise InvitationExpired
