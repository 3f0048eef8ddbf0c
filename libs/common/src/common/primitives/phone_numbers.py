"""Phone numbers as users type or paste them (contract section 10): the profile, codes, quotas and searches read them
alike.
"""

import re
import unicodedata
from typing import Final

import phonenumbers

# A number without a country code belongs to the country of the campuses.
REGION: Final = "NG"
# A number has at most 15 digits; the rest is punctuation and invisible marks of the place it was copied from.
TYPED_MAX: Final = 40

# Letters and extensions are refused: the library would read a number out of them.
_PUNCTUATION: Final = re.compile(r"[()./\s\u2010-\u2015\u2212-]")
_DIALED: Final = re.compile(r"\+?[0-9]+", re.ASCII)
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf"})


def phone_number_or_none(text: str) -> str | None:
    """Return the number in E.164 form (`+2348031234567`); None for any other text, and for an impossible number.

    Full-width digits count as digits; invisible marks, spaces, dashes, brackets, dots and slashes have no meaning. `00`
    before a country code is `+`.
    """
    if len(text) > TYPED_MAX:
        return None
    visible = "".join(
        sign
        for sign in unicodedata.normalize("NFKC", text)
        if sign.isspace() or unicodedata.category(sign) not in _INVISIBLE_CATEGORIES
    )
    dialed = _PUNCTUATION.sub("", visible)
    if _DIALED.fullmatch(dialed) is None:
        return None
    international = _valid(f"+{dialed[2:]}") if dialed.startswith("00") else None
    return international or _valid(dialed)


def _valid(dialed: str) -> str | None:
    try:
        number = phonenumbers.parse(dialed, REGION)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
