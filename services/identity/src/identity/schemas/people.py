"""Bodies and answers of profiles, referrals and create-user."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.schemas import RequestBody, ResponseShape
from identity.schemas.fields import AnyAddress, FullName, Phone


class ProfileChangeRequest(RequestBody):
    full_name: FullName = ""
    phone: Phone | None = None
    revision: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = None


class NewUserMetadata(RequestBody):
    full_name: Annotated[str, StringConstraints(max_length=200)] | None = Field(default=None, alias="full_name")
    referral_token: Annotated[str, StringConstraints(max_length=200)] | None = Field(
        default=None, alias="referral_token"
    )


class NewUserBody(RequestBody):
    id: UUID
    email: AnyAddress
    phone: Annotated[str, StringConstraints(max_length=40)] | None = None
    user_metadata: NewUserMetadata | None = Field(default=None, alias="user_metadata")


class CreateUserRequest(RequestBody):
    user: NewUserBody


class Profile(ResponseShape):
    id: UUID
    email: str
    phone: str | None
    full_name: str | None
    role: str
    roles: list[str]
    campus_id: UUID | None
    revision: int
    created_at: str
    updated_at: str


class Referral(ResponseShape):
    token: str
    count: int


class ReferralOutcomeShape(ResponseShape):
    applied: bool
    reward_minor: int
    reason: str | None = None


class CreatedUser(ResponseShape):
    profile_id: UUID
    role: Literal["buyer"]
    campus_id: UUID | None
    referral: ReferralOutcomeShape
