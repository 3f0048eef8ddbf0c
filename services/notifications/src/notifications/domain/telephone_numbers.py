"""Phone numbers of the messaging app in E.164, as identity stores them."""

import hashlib
import hmac
import re
from typing import Final

import phonenumbers

_DIGITS: Final = re.compile(r"[0-9]{5,20}", re.ASCII)


def e164_of(wa_id: str) -> str | None:
    """Convert `2348030000001` to `+2348030000001`; None for text that is no number.

    A number that is invalid in its country is accepted: a message came from it.
    """
    digits = wa_id.removeprefix("+")
    if _DIGITS.fullmatch(digits) is None:
        return None
    try:
        number = phonenumbers.parse(f"+{digits}", None)
    except phonenumbers.NumberParseException:
        return f"+{digits}"
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def key_of(hash_key: bytes, phone: str) -> str:
    """Return a keyed hash for lookups. Numbers cannot be enumerated without the key."""
    return hmac.digest(hash_key, phone.encode(), "sha256").hex()


def hash_key_of_release_before(sealing_key: str) -> bytes:
    """Return the key that earlier releases derived from `SEALING_KEY`, so that their tickets are found."""
    return hashlib.sha256(b"telephones:" + sealing_key.encode()).digest()
