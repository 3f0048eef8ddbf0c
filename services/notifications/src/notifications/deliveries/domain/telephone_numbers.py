"""Addresses in the messaging app: phone numbers in E.164, as identity stores them, and the app's own user ids."""

import hashlib
import hmac
import re
from typing import Final

import phonenumbers

_DIGITS: Final = re.compile(r"[0-9]{5,20}", re.ASCII)
# `NG.13491208655302741918`, of a group of businesses `NG.ENT.11815799212886844830`. A phone number contains no period.
_APP_USER_ID: Final = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}", re.ASCII)


def e164_of(wa_id: str) -> str | None:
    """Convert `2348030000001` to `+2348030000001`; None for text that is no number.

    A number that is invalid in its country is accepted: it sent a message.
    """
    digits = wa_id.removeprefix("+")
    if _DIGITS.fullmatch(digits) is None:
        return None
    try:
        number = phonenumbers.parse(f"+{digits}", None)
    except phonenumbers.NumberParseException:
        return f"+{digits}"
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def address_of(sender: str) -> str | None:
    """Return the app's id of a user as it is, and a number in E.164; None for any other text."""
    return sender if is_app_user_id(sender) else e164_of(sender)


def is_app_user_id(address: str) -> bool:
    """Return whether an address is the app's id of a user for our business. It replaces a number that the user
    hides.
    """
    return _APP_USER_ID.fullmatch(address) is not None


def key_of(hash_key: bytes, phone: str) -> str:
    """Return a keyed hash for lookups. Numbers cannot be enumerated without the key."""
    return hmac.digest(hash_key, phone.encode(), "sha256").hex()


def hash_key_of_release_before(sealing_key: str) -> bytes:
    """Return the key that earlier releases derived from `SEALING_KEY`, so that their tickets are found."""
    return hashlib.sha256(b"telephones:" + sealing_key.encode()).digest()
