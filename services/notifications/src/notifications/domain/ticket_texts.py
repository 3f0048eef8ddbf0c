"""The texts of support tickets: which digits of a person's words are shown in one (decision 35).

A delivery PIN releases money, and people write it to support. Nothing here knows a PIN: digits are masked by their form alone, so that
the masked text says nothing about anybody's PIN.
"""

import re
import unicodedata
from typing import Final, NewType

# Only `mask_digits` makes one, and only such a text is stored in a ticket: an architecture test holds both.
MaskedText = NewType("MaskedText", str)

MARK: Final = "\N{BULLET}" * 4
# The shortest delivery PIN (DELIVERY_PIN_LENGTH). Longer runs, a telephone number among them, could hold one.
_RUN_DIGITS_MIN: Final = 4
# A text without a word continues another one: a PIN may be split over the two.
_BARE_DIGITS_MIN: Final = 2
_LETTERS: Final = frozenset({"Lu", "Ll", "Lt", "Lo"})
# Letters by category that nobody sees.
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")
# Digits with anything between them but letters.
_RUN: Final = re.compile("0(?: *0)*")


def mask_digits(text: str) -> MaskedText:
    """The text with one mark for each run of four digits or more, of any script; without any letter, of two or more.

    A run ends at a letter. White space, punctuation, symbols and invisible characters between two digits belong to it.
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
    return "a" if unicodedata.category(character) in _LETTERS and character not in _FILLERS else " "


def _digits_of(character: str) -> int:
    """How many digits one character shows: circled numbers and the like show up to two."""
    if not character.isnumeric():
        return 0
    return max(1, sum(part.isdecimal() for part in unicodedata.normalize("NFKC", character)))
