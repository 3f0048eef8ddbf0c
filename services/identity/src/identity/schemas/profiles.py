"""Request and response models of profiles, referrals, erasure and create-user."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody, ResponseShape
from identity.domain.referrals import Reason
from identity.schemas.fields import FullName, GivenAddress, Phone, ReferralToken, Role


class UpdateProfileRequest(RequestBody):
    full_name: FullName = ""
    phone: Phone | None = None
    revision: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = None


class RequestErasureRequest(RequestBody):
    # Users of a further issuer have no password here.
    password: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = None


class ExternalUserMetadata(RequestBody):
    full_name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] | None = Field(
        default=None, alias="full_name"
    )
    referral_token: ReferralToken | None = Field(default=None, alias="referral_token")


class ExternalUser(RequestBody):
    id: UUID
    email: GivenAddress
    # Any text: an impossible number is dropped and never fails the call.
    phone: str | None = None
    # Whether the calling system has confirmed that the user reads this mailbox.
    email_confirmed: Annotated[bool, Field(strict=True)] = Field(default=False, alias="email_confirmed")
    user_metadata: ExternalUserMetadata | None = Field(default=None, alias="user_metadata")


class CreateUserRequest(RequestBody):
    user: ExternalUser


class Profile(ResponseShape):
    id: UUID
    email: str
    email_confirmed: bool
    phone: str | None
    phone_confirmed: bool
    full_name: str | None
    role: Role
    roles: list[Role]
    permissions: Annotated[
        list[str],
        Field(description="What the token of this request permits; a changed role applies from the next token."),
    ]
    second_factor_required: Annotated[
        bool,
        Field(description="Whether the user's staff roles permit more once this session has a second factor."),
    ]
    vendor_id: Annotated[UUID | None, Field(description="The vendor whose merchant the token names.")]
    campus_id: UUID | None
    revision: int
    created_at: datetime
    updated_at: datetime


class OpenObligation(ResponseShape):
    service: str
    matter: str


class Erasure(ResponseShape):
    id: UUID
    user_id: UUID
    status: Literal["asked", "refused", "done"]
    asked_at: datetime
    decided_at: datetime | None
    open_matters: list[OpenObligation]


class Referral(ResponseShape):
    token: str
    count: int


class ReferralOutcome(ResponseShape):
    applied: bool
    pending: bool = Field(description="Whether the reward is credited with the proof of the address only.")
    reward_minor: int
    reason: Reason | None = None


class CreatedUser(ResponseShape):
    profile_id: UUID
    role: Literal["buyer"]
    campus_id: UUID | None
    referral: ReferralOutcome


class AuthorizationProfileResponse(ResponseShape):
    """The current rights of the user of a further issuer's token."""

    roles: list[str]
    vendor_id: UUID | None
    campus_id: UUID | None
    email_confirmed: bool
