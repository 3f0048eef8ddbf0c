"""Request and response models of one-time codes and passwords."""

from typing import Annotated, Self

from pydantic import StringConstraints, model_validator

from common.web.schemas import A_CODE, RequestBody
from identity.domain.one_time_codes import Destination
from identity.schemas.fields import Email, NewPassword, Phone


class AddressBody(RequestBody):
    """Exactly one of a mail address and a phone number."""

    email: Email | None = None
    phone: Phone | None = None

    @model_validator(mode="after")
    def hold_one_address(self) -> Self:
        if (self.email is None) == (self.phone is None):
            raise ValueError("must hold either email or phone")
        return self

    @property
    def destination(self) -> Destination:
        return Destination("sms", self.phone) if self.phone else Destination("email", self.email or "")


class SendCodeRequest(AddressBody):
    """The address of the code."""


class VerifyCodeRequest(AddressBody):
    code: Annotated[str, StringConstraints(pattern=r"^[0-9]{6}\z"), A_CODE]
    # The first confirmation of a mail address keeps the stored password if it matches, and removes it otherwise.
    password: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = None


class ForgotPasswordRequest(RequestBody):
    email: Email


class ResetPasswordRequest(RequestBody):
    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    password: NewPassword


class ChangePasswordRequest(RequestBody):
    current_password: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    new_password: NewPassword
