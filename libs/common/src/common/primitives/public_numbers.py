"""Numbers for people: `XX-` and eight characters of Crockford's base 32, `CM-R80T-M2NG` (contract section 1.7).

A person sees the number of an order, payout, ticket or purchase, never its id. Every search by number reads what was
typed with `read_number` or `read_number_or_id`. The alphabet has no I, L, O and U: a typed O means 0, an I or L means
1.
"""

import re
import unicodedata
from enum import StrEnum
from typing import Final
from uuid import UUID

from common.primitives.ids import new_symbols
from common.primitives.typed_text import compact

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# 40 bits: a thousand billion numbers. A used number is drawn again.
SYMBOLS: Final = 8
# Of a beginning: of a million numbers about one has these four.
BEGINNING_MIN: Final = 4
# What a reader might type for a number is shorter; an id has 36 characters.
TYPED_MAX: Final = 100
# The condition of a column, for the constraint of each table.
NUMBER_PATTERN: Final = f"^[A-Z]{{2}}-[{ALPHABET}]{{4}}-[{ALPHABET}]{{4}}$"

_READ_AS: Final = str.maketrans("OIL", "011")
_SYMBOLS: Final = re.compile(f"[{ALPHABET}]{{{SYMBOLS}}}")
_HEXADECIMAL: Final = re.compile("[0-9A-F]{32}")


class NumberKind(StrEnum):
    """The subject of a number; the value is its prefix."""

    ORDER = "CM"
    PAYOUT = "PO"
    TICKET = "CT"
    PURCHASE = "CP"


def new_number(kind: NumberKind) -> str:
    """Return a random number. A unique constraint refuses one in use; the caller then draws again."""
    return _number(kind, new_symbols(SYMBOLS, ALPHABET))


def read_number(text: str, kind: NumberKind) -> str | None:
    """Return the number of that kind as typed by a user, with or without its prefix; None for any other text.

    Case, spaces, `#` and dashes of any kind have no meaning. Eight characters without the prefix may also be a word, so
    a search over words looks for both.
    """
    typed = _compact(text).translate(_READ_AS)
    prefix = kind.translate(_READ_AS)
    if len(typed) == len(prefix) + SYMBOLS:
        typed = typed.removeprefix(prefix)
    return _number(kind, typed) if _SYMBOLS.fullmatch(typed) else None


def read_number_or_id(text: str, kind: NumberKind) -> str | UUID | None:
    """Return the number of that kind, or the id, as typed by a user; None for any other text."""
    typed = _compact(text)
    if _HEXADECIMAL.fullmatch(typed):
        return UUID(typed)
    return read_number(text, kind)


def read_beginning(text: str, kind: NumberKind) -> tuple[str, str] | None:
    """Return the first and the last number that begin as a user typed, `CM-R80T`; None for any other text.

    The beginning has the prefix, a dash, and four to seven symbols: without the dash it would be a word. Numbers of one
    kind have one length, so that those between the two are those with the beginning, in every collation in which no
    letter follows Z.
    """
    typed = text.strip().removeprefix("#").lstrip().upper()
    dash, symbols = typed[len(kind) : len(kind) + 1], _compact(typed.removeprefix(kind)).translate(_READ_AS)
    is_beginning = typed.startswith(kind) and dash != "" and unicodedata.category(dash) == "Pd"
    if not is_beginning or not BEGINNING_MIN <= len(symbols) < SYMBOLS or not set(symbols) <= set(ALPHABET):
        return None
    return _number(kind, symbols.ljust(SYMBOLS, ALPHABET[0])), _number(kind, symbols.ljust(SYMBOLS, ALPHABET[-1]))


def read_numbers_or_id(text: str, kind: NumberKind) -> tuple[str, str] | UUID | None:
    """Return the first and the last number that a user means by a number or its beginning, or the id; None for any
    other text.
    """
    if (numbers := read_beginning(text, kind)) is not None:
        return numbers
    named = read_number_or_id(text, kind)
    return (named, named) if isinstance(named, str) else named


def kind_of_number(text: str) -> NumberKind | None:
    """Return the kind that the prefix of a typed number, or of its beginning, names; None without a prefix, or for any
    other text.
    """
    beginning = next((kind for kind in NumberKind if read_beginning(text, kind) is not None), None)
    if beginning is not None or len(_compact(text)) == SYMBOLS:
        return beginning
    return next((kind for kind in NumberKind if read_number(text, kind) is not None), None)


def described_search(kind: NumberKind) -> str:
    """Return what a search by number accepts, for the document of the API."""
    return (
        f"The {kind.name.lower()}'s number (`{kind}-7K3M-9QZ2`) or id, in any case, with any spaces, dashes and `#`; "
        f"or the beginning of numbers (`{kind}-7K3M`)"
    )


def _number(kind: NumberKind, symbols: str) -> str:
    return f"{kind}-{symbols[:4]}-{symbols[4:]}"


def _compact(text: str) -> str:
    """Return the letters and digits of a typed number in upper case; empty for a text that is too long to be one."""
    return "" if len(text) > TYPED_MAX else compact(text).replace("#", "").upper()
