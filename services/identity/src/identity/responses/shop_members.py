"""Response models of shop members."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from identity.domain.shop_members import ShopRole


class ShopMember(ResponseModel):
    """A person who works for a shop and is not its owner."""

    user_id: UUID
    vendor_id: UUID
    business_name: str
    role: ShopRole
    full_name: str | None
    email: str
    added_by: Annotated[UUID, Meta(description="The owner who invited them.")]
    joined_at: Annotated[Timestamp, Meta(description="When they accepted the invitation.")]


class ShopInvitation(ResponseModel):
    """An invitation that waits for its answer. It can be accepted before `expiresAt`, and is shown for 30 days more."""

    id: UUID
    vendor_id: UUID
    business_name: str
    email: str
    role: ShopRole
    is_for_caller: Annotated[
        bool, Meta(description="Whether the caller may accept it: true for the invited person, false for the owner.")
    ]
    created_at: Timestamp
    expires_at: Annotated[Timestamp, Meta(description="Seven days after its creation.")]
