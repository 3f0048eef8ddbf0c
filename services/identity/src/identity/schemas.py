"""Request bodies, and the response shapes that OpenAPI shows."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from common.schemas import RequestBody, ResponseShape
from identity.domain import password_rules
from identity.domain.addresses import e164_or_none, is_email, normal_email


def _email(text: str) -> str:
    address = normal_email(text)
    if not is_email(address):
        raise ValueError("is no mail address")
    return address


def _phone(text: str) -> str:
    number = e164_or_none(text)
    if number is None:
        raise ValueError("is no phone number; write it with its country code, such as +2348031234567")
    return number


Email = Annotated[str, StringConstraints(max_length=320), AfterValidator(_email)]
# Whatever was typed at a sign-in is compared, never judged: the answer must not tell addresses apart by their form.
AnyAddress = Annotated[str, StringConstraints(min_length=1, max_length=320)]
Phone = Annotated[str, StringConstraints(max_length=40), AfterValidator(_phone)]
NewPassword = Annotated[
    str, StringConstraints(min_length=password_rules.CHARACTERS_MIN, max_length=password_rules.CHARACTERS_MAX)
]
FullName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
ReferralToken = Annotated[str, StringConstraints(max_length=64)]


class SignUpRequest(RequestBody):
    email: Email
    password: NewPassword
    full_name: FullName
    phone: Phone | None = None
    referral_token: ReferralToken | None = None


class LogInRequest(RequestBody):
    email: AnyAddress
    password: Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class RefreshRequest(RequestBody):
    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=512)]


class LogOutRequest(RequestBody):
    """Nothing: the token tells the session."""


class EnrollRequest(RequestBody):
    """Nothing: there is one kind of factor to enrol this way."""


class VerifyRequest(RequestBody):
    code: Annotated[str, StringConstraints(pattern=r"^[0-9]{6}\z")]
    factor_id: UUID | None = None


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


class SignedUp(ResponseShape):
    user_id: UUID


class Tokens(ResponseShape):
    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    aal: Literal["aal1", "aal2"]
    mfa_required: bool


class EnrolledFactor(ResponseShape):
    factor_id: UUID
    secret: str
    otpauth_uri: str


class SessionEnd(ResponseShape):
    session_id: UUID


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


class Campus(ResponseShape):
    id: UUID
    name: str
    domain: str | None
    active: bool
    created_at: str


class Hub(ResponseShape):
    id: UUID
    campus_id: UUID
    name: str
    address: str
    delivery_fee_minor: int
    active: bool
    created_at: str


class Vendor(ResponseShape):
    id: UUID
    business_name: str
    campus_id: UUID
    created_at: str


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
