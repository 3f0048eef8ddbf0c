"""Telephone numbers of the messaging app, in the form in which identity keeps them."""

import hashlib
import hmac
import re
from typing import Final

import phonenumbers

_DIGITS: Final = re.compile(r"[0-9]{5,20}", re.ASCII)


def e164_of(wa_id: str) -> str | None:
    """`2348030000001` as `+2348030000001`; None for what is no number. One that cannot exist by the rules of its country is taken
    as it is: somebody wrote from it."""
    digits = wa_id.removeprefix("+")
    if _DIGITS.fullmatch(digits) is None:
        return None
    try:
        number = phonenumbers.parse(f"+{digits}", None)
    except phonenumbers.NumberParseException:
        return f"+{digits}"
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def key_of(hash_key: bytes, phone: str) -> str:
    """What a number is found by without being kept in the clear: nobody without the hash key can try all numbers."""
    return hmac.digest(hash_key, phone.encode(), "sha256").hex()


def hash_key_of_release_before(sealing_key: str) -> bytes:
    """The key that earlier releases derived from `SEALING_KEY`: their tickets are found as before."""
    return hashlib.sha256(b"telephones:" + sealing_key.encode()).digest()
