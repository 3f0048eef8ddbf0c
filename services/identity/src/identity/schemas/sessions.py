"""Request and response models of sign-up and sessions."""

from typing import Annotated

from pydantic import StringConstraints

from common.web.schemas import RequestBody
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


class ExchangeCodeRequest(RequestBody):
    code: Annotated[str, StringConstraints(min_length=1, max_length=512)]


class RefreshRequest(RequestBody):
    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=512)]
