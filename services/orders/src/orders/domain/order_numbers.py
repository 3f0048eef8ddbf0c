"""Readable order numbers: `CM-XXXX-XXXX` in Crockford's base 32 (contract section 6.6).

The alphabet has no I, L, O and U. A reader's O means 0, and a reader's I or L means 1.
"""

import re
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# 40 bits: a thousand billion numbers. A used number is drawn again.
SYMBOLS: Final = 8
_READ_AS: Final = str.maketrans("OIL", "011")
_FOUR: Final = f"([{ALPHABET}]{{4}})"
# Eight letters without the prefix or a hyphen may be a word of an item.
_NUMBER: Final = re.compile(rf"CM[ -]?{_FOUR}[ -]?{_FOUR}|{_FOUR}-{_FOUR}")


def order_number(symbols: str) -> str:
    """The number made of eight symbols of the alphabet."""
    return f"CM-{symbols[:4]}-{symbols[4:]}"


def read_order_number(text: str) -> str | None:
    """The order number as typed by a user, in any case, with or without hyphens; None for any other text."""
    match = _NUMBER.fullmatch(text.strip().upper().translate(_READ_AS))
    return None if match is None else order_number("".join(part for part in match.groups() if part))
