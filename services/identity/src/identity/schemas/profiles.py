"""Request and response models of profiles, referrals, erasure and create-user."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody
from identity.schemas.fields import FullName, GivenAddress, Phone, ReferralToken


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
