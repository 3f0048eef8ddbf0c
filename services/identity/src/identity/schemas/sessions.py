"""Request and response models of sign-up and sessions."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import StringConstraints

from common.web.schemas import RequestBody, ResponseShape
from identity.schemas.fields import AnyAddress, Email, FullName, NewPassword, Phone, ReferralToken


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


class SignUpResult(ResponseShape):
    """Identical for an address that already has an account."""

    user_id: UUID
    confirmation_required: Literal[True]


class Tokens(ResponseShape):
    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    aal: Literal["aal1", "aal2"]
    mfa_required: bool


class EndedSession(ResponseShape):
    session_id: UUID


class EndedSessions(ResponseShape):
    sessions_ended: int


class Session(ResponseShape):
    id: UUID
    signed_in_at: datetime
    last_used_at: datetime
    method: Literal["password", "otp"]
    user_agent: str | None
    current: bool
