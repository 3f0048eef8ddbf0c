"""Request and response models of profiles, referrals, erasure and create-user."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody, ResponseShape
from identity.schemas.fields import FullName, GivenAddress, Phone, ReferralToken


class ProfileChangeRequest(RequestBody):
    full_name: FullName = ""
    phone: Phone | None = None
    revision: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = None


class ErasureRequest(RequestBody):
    # Users of a further issuer have no password here.
    password: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = None


class NewUserMetadata(RequestBody):
    full_name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] | None = Field(
        default=None, alias="full_name"
    )
    referral_token: ReferralToken | None = Field(default=None, alias="referral_token")


class NewUserBody(RequestBody):
    id: UUID
    email: GivenAddress
    # Any text: an impossible number is dropped and never fails the call.
    phone: str | None = None
    # Whether the calling system has confirmed that the user reads this mailbox.
    email_confirmed: Annotated[bool, Field(strict=True)] = Field(default=False, alias="email_confirmed")
    user_metadata: NewUserMetadata | None = Field(default=None, alias="user_metadata")


class CreateUserRequest(RequestBody):
    user: NewUserBody


class Profile(ResponseShape):
    id: UUID
    email: str
    email_confirmed: bool
    phone: str | None
    phone_confirmed: bool
    full_name: str | None
    role: str
    roles: list[str]
    permissions: Annotated[
        list[str],
        Field(description="What the token of this request permits; a changed role applies from the next token."),
    ]
    vendor_id: Annotated[UUID | None, Field(description="The vendor whose merchant the token names.")]
    campus_id: UUID | None
    revision: int
    created_at: str
    updated_at: str


class OpenMatter(ResponseShape):
    service: str
    matter: str


class Erasure(ResponseShape):
    id: UUID
    user_id: UUID
    status: Literal["asked", "refused", "done"]
    asked_at: str
    decided_at: str | None
    open_matters: list[OpenMatter]


class Referral(ResponseShape):
    token: str
    count: int


class ReferralOutcome(ResponseShape):
    applied: bool
    reward_minor: int
    reason: str | None = None


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
