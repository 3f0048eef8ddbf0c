"""Fields shared by several request models."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from common.primitives.phone_numbers import TYPED_MAX, phone_number_or_none
from common.web.schemas import A_NAME
from contracts.permissions import ROLES_BY_RANK
from identity.domain import password_rules
from identity.domain.addresses import has_address_form, is_email, normal_email


def _email(text: str) -> str:
    address = normal_email(text)
    if not is_email(address):
        raise ValueError("is not a mail address")
    return address


def _given_address(text: str) -> str:
    address = normal_email(text)
    if not has_address_form(address):
        raise ValueError("is not a mail address")
    return address


def _phone(text: str) -> str:
    number = phone_number_or_none(text)
    if number is None:
        raise ValueError("is not a phone number; write it with its country code, such as +2348031234567")
    return number


Email = Annotated[str, StringConstraints(max_length=320), AfterValidator(_email)]
# The address of an account in another system: unusual forms are accepted, text without an address form is not.
GivenAddress = Annotated[str, StringConstraints(max_length=320), AfterValidator(_given_address)]
# The address of a login is compared, not validated: the response must not depend on its form.
AnyAddress = Annotated[str, StringConstraints(min_length=1, max_length=320)]
Phone = Annotated[str, StringConstraints(max_length=TYPED_MAX), AfterValidator(_phone)]
NewPassword = Annotated[
    str, StringConstraints(min_length=password_rules.CHARACTERS_MIN, max_length=password_rules.CHARACTERS_MAX)
]
FullName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), A_NAME]
# Every role, highest first.
Role = Annotated[str, Field(json_schema_extra={"enum": list(ROLES_BY_RANK)})]
# The sign-up evaluates the token and never fails because of it: an overlong token is an unknown one.
ReferralToken = str
