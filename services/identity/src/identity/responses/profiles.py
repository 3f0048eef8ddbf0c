"""Response models of profiles, referrals, erasure and create-user."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from identity.domain.erasure import ErasureStatus
from identity.domain.referrals import Reason
from identity.schemas.fields import Role


class Profile(ResponseModel):
    id: UUID
    email: str
    email_confirmed: bool
    phone: str | None
    phone_confirmed: Annotated[bool, Meta(description="Whether the phone number is confirmed.")]
    full_name: str | None
    role: Annotated[Role, Meta(description="The highest role.")]
    roles: list[Role]
    permissions: Annotated[
        list[str],
        Meta(description="What the token of this request permits; a changed role applies from the next token."),
    ]
    second_factor_required: Annotated[
        bool, Meta(description="Whether the user's staff roles permit more once this session has a second factor.")
    ]
    vendor_id: Annotated[UUID | None, Meta(description="The vendor whose owner or manager the token names.")]
    packing_vendor_id: Annotated[UUID | None, Meta(description="The shop whose orders a packer packs.")]
    campus_id: UUID | None
    revision: int
    created_at: Timestamp
    updated_at: Timestamp


class OpenObligation(ResponseModel):
    service: str
    matter: Annotated[str, Meta(description="What must be finished first.")]


class Erasure(ResponseModel):
    id: UUID
    user_id: UUID
    status: ErasureStatus
    asked_at: Annotated[Timestamp, Meta(description="The time of the request.")]
    decided_at: Timestamp | None
    open_matters: Annotated[list[OpenObligation], Meta(description="The obligations that block the erasure.")]


class Referral(ResponseModel):
    token: Annotated[str, Meta(description="Sent by new users as `referralToken`.")]
    count: int


class ReferralOutcome(ResponseModel, omit_defaults=True):
    applied: Annotated[bool, Meta(description="Whether the referral earns its reward.")]
    pending: Annotated[bool, Meta(description="Whether the reward is credited with the proof of the address only.")]
    reward_minor: Annotated[int, Meta(description="The reward in kobo.")]
    reason: Reason | None = None


class CreatedUser(ResponseModel):
    profile_id: Annotated[UUID, Meta(description="The id of the profile, which is the user's.")]
    role: Literal["buyer"]
    campus_id: UUID | None
    referral: Annotated[ReferralOutcome, Meta(description="What the referral token earned.")]


class AuthorizationProfileResponse(ResponseModel):
    """The current rights of the user of a further issuer's token."""

    roles: list[str]
    vendor_id: UUID | None
    campus_id: UUID | None
    hub_id: UUID | None
    packing_vendor_id: UUID | None
    email_confirmed: bool
