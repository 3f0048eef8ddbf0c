"""Mail addresses and phone numbers in the one form in which they are stored and compared."""

import re
from typing import Final

import phonenumbers

# A number without a country code is one of the country in which the campuses are.
PHONE_REGION: Final = "NG"
EMAIL_CHARACTERS_MAX: Final = 254

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})+", re.ASCII)
_LOCAL: Final = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*", re.ASCII)
# Providers known to ignore dots in the local part.
_DOTLESS: Final = frozenset({"gmail.com", "googlemail.com"})


def normal_email(text: str) -> str:
    """Trimmed and in lower case. Only ASCII letters are lowered: U+212A would become `k` and pass for another domain."""
    trimmed = text.strip(" \t\r\n")
    return trimmed.lower() if trimmed.isascii() else trimmed


def is_email(address: str) -> bool:
    """Whether a normal address has the form `local@domain` that mail can be sent to."""
    local, at, domain = address.rpartition("@")
    return (
        bool(at)
        and len(address) <= EMAIL_CHARACTERS_MAX
        and len(local) <= 64
        and _LOCAL.fullmatch(local) is not None
        and _DOMAIN.fullmatch(domain) is not None
    )


def domain_of(address: str) -> str | None:
    """The mail domain of a normal address; None unless it is a plain host name (no trailing dot, no other script)."""
    domain = address.rpartition("@")[2]
    return domain if "@" in address and _DOMAIN.fullmatch(domain) else None


def mailbox_of(address: str) -> str:
    """The mailbox behind a normal address: without the `+tag`, and without the dots that Gmail ignores."""
    local, _, domain = address.rpartition("@")
    local = local.partition("+")[0] or local
    if domain in _DOTLESS:
        return f"{local.replace('.', '')}@gmail.com"
    return f"{local}@{domain}"


def e164_or_none(text: str | None) -> str | None:
    """The phone number in E.164 form; None for an absent number and for one that cannot exist."""
    if not text:
        return None
    try:
        number = phonenumbers.parse(text, PHONE_REGION)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
