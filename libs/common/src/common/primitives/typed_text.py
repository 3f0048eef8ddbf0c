"""Codes and numbers as users type or paste them: separators and invisible marks have no meaning."""

import unicodedata
from typing import Final

# Separators, dashes, spaces, and marks without a glyph. The minus sign is a mathematical symbol.
_IGNORED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Pd", "Zs", "Zl", "Zp"})
_IGNORED: Final = frozenset("_\u2212")


def compact(text: str) -> str:
    """Return the text without spaces, dashes, underscores and invisible marks; full-width characters become plain
    ones.
    """
    return "".join(
        sign
        for sign in unicodedata.normalize("NFKC", text)
        if sign not in _IGNORED and unicodedata.category(sign) not in _IGNORED_CATEGORIES
    )
