"""Request and response models of sign-up and sessions."""

from typing import Annotated

from pydantic import Field, StringConstraints

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
    code_verifier: Annotated[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~-]{43,128}$")] | None,
        Field(description="The verifier (RFC 7636) of the sign-in's `codeChallenge`; absent without one."),
    ] = None


class RefreshRequest(RequestBody):
    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=512)]
