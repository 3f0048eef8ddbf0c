"""Fields that several bodies share."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, StringConstraints

from identity.domain import password_rules
from identity.domain.addresses import e164_or_none, has_address_form, is_email, normal_email

_DIALLED: Final = re.compile(r"[0-9+()./\s\u2010-\u2015-]+")


def _email(text: str) -> str:
    address = normal_email(text)
    if not is_email(address):
        raise ValueError("is no mail address")
    return address


def _given_address(text: str) -> str:
    address = normal_email(text)
    if not has_address_form(address):
        raise ValueError("is no mail address")
    return address


def _phone(text: str) -> str:
    # As the edge reads it, which counts the account that it names: letters, extensions and other digits would be another one there.
    number = e164_or_none(text) if _DIALLED.fullmatch(text) else None
    if number is None:
        raise ValueError("is no phone number; write it with its country code, such as +2348031234567")
    return number


Email = Annotated[str, StringConstraints(max_length=320), AfterValidator(_email)]
# The address of an account that exists elsewhere: unusual ones are taken, what is no address at all is not.
GivenAddress = Annotated[str, StringConstraints(max_length=320), AfterValidator(_given_address)]
# Whatever was typed at a sign-in is compared, never judged: the answer must not tell addresses apart by their form.
AnyAddress = Annotated[str, StringConstraints(min_length=1, max_length=320)]
Phone = Annotated[str, StringConstraints(max_length=40), AfterValidator(_phone)]
NewPassword = Annotated[
    str, StringConstraints(min_length=password_rules.CHARACTERS_MIN, max_length=password_rules.CHARACTERS_MAX)
]
FullName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
# A token is judged by the sign-up, which it never fails: one of any length that nobody has is an unknown one.
ReferralToken = str
