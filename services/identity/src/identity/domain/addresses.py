"""Normal forms of mail addresses, in which they are stored and compared."""

import re
from typing import Final

EMAIL_CHARACTERS_MAX: Final = 254

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})+", re.ASCII)
_LOCAL: Final = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*", re.ASCII)
_LOWERED: Final = str.maketrans({chr(upper): chr(upper + 32) for upper in range(ord("A"), ord("Z") + 1)})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def normal_email(text: str) -> str:
    """Trim and lower-case. Only ASCII letters are lowered: U+212A would become `k` and match another domain."""
    return text.strip(" \t\r\n").translate(_LOWERED)


def has_address_form(address: str) -> bool:
    """Return whether both sides of an `@` exist, without control characters and without unquoted spaces.

    Wider than `is_email`: another system has already accepted the address, and quoted local parts and other scripts are
    valid.
    """
    local, at, domain = address.rpartition("@")
    if not (at and local and domain) or _CONTROL.search(address) is not None:
        return False
    is_quoted = len(local) > 2 and local[0] == local[-1] == '"'
    return not any(map(str.isspace, domain)) and (is_quoted or not any(map(str.isspace, local)))


def is_email(address: str) -> bool:
    """Return whether a normal address has the form `local@domain` and can receive mail."""
    local, at, domain = address.rpartition("@")
    return (
        bool(at)
        and len(address) <= EMAIL_CHARACTERS_MAX
        and len(local) <= 64
        and _LOCAL.fullmatch(local) is not None
        and _DOMAIN.fullmatch(domain) is not None
    )


def domain_of(address: str) -> str | None:
    """Return the mail domain of a normal address, after its one unquoted `@`.

    None unless it is a plain host name: no trailing dot, ASCII only.
    """
    local, at, domain = address.rpartition("@")
    one_at_sign = "@" not in local or (len(local) > 2 and local[0] == local[-1] == '"')
    return domain if at and one_at_sign and _DOMAIN.fullmatch(domain) else None
