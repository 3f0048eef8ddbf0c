"""Names that people give themselves, their shops and their products (contract section 1.4)."""

import unicodedata
from typing import Final

# Line breaks and other controls, lone surrogates, unassigned and private characters, line and paragraph separators.
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
# Embeddings, overrides and isolates: they reorder the text that follows the name.
_REFUSED_FORMATS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Letters and symbols that show nothing.
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
_INVISIBLE_CATEGORIES: Final = frozenset({"Cf", "Zs", "Mn", "Me"})


def name_fault(name: str) -> str | None:
    """Why a text is no name; None for a name of any script."""
    for sign in name:
        if sign in _REFUSED_FORMATS or unicodedata.category(sign) in _REFUSED_CATEGORIES:
            return f"must not contain the character U+{ord(sign):04X}"
    if name and all(sign in _BLANK or unicodedata.category(sign) in _INVISIBLE_CATEGORIES for sign in name):
        return "must contain a visible character"
    return None
