"""Digit masking of support ticket texts (decision 35).

Customers write delivery PINs to support, and a PIN releases money. Masking depends on the form of digits alone, so the
result reveals nothing about a PIN.
"""

import re
import unicodedata
from typing import Final, NewType

# Only `mask_digits` creates one, and tickets store nothing else: an architecture test checks both.
MaskedText = NewType("MaskedText", str)

MARK: Final = "\N{BULLET}" * 4
# The shortest delivery PIN (DELIVERY_PIN_LENGTH). Longer runs, such as phone numbers, may contain one.
_RUN_DIGITS_MIN: Final = 4
# A text without a letter may continue another one that holds the first part of a PIN.
_BARE_DIGITS_MIN: Final = 2
_ALPHABETIC_CATEGORIES: Final = frozenset({"Lu", "Ll", "Lt", "Lo"})
# Invisible characters in the category of letters.
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
# Digits with anything except letters between them.
_RUN: Final = re.compile("0(?: *0)*")


def mask_digits(text: str) -> MaskedText:
    """Replace each run of four or more digits of any script; two or more in a text without letters.

    A run ends at a letter. White space, punctuation, symbols and invisible characters do not end it.
    """
    form = "".join(map(_form_of, text))
    digits_min = _RUN_DIGITS_MIN if "a" in form else _BARE_DIGITS_MIN
    parts, end = [], 0
    for run in _RUN.finditer(form):
        if sum(map(_digits_of, text[run.start() : run.end()])) >= digits_min:
            parts += [text[end : run.start()], MARK]
            end = run.end()
    return MaskedText("".join([*parts, text[end:]]))


def _form_of(character: str) -> str:
    if character.isnumeric():
        return "0"
    return "a" if unicodedata.category(character) in _ALPHABETIC_CATEGORIES and character not in _FILLERS else " "


def _digits_of(character: str) -> int:
    """Return how many digits one character shows: circled numbers show up to two."""
    if not character.isnumeric():
        return 0
    return max(1, sum(part.isdecimal() for part in unicodedata.normalize("NFKC", character)))
