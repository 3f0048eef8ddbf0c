"""Masking of numbers that may be a delivery PIN (contract section 11.9)."""

import unicodedata
from collections.abc import Iterator
from typing import Final, NewType

# Only `mask_pins` creates one, and conversations store nothing else.
MaskedText = NewType("MaskedText", str)

MARK: Final = "\N{BULLET}" * 4
MASKED_REASON: Final = (
    "A number with as many digits as a delivery PIN was hidden. Show your PIN only at the handover, never in a message."
)
# White space, dashes, marks and invisible characters. Commas and points separate amounts and dates, not a PIN.
_SEPARATORS: Final = frozenset({"Zs", "Zl", "Zp", "Pd", "Pc", "Cf", "Cc", "Mn", "Me"})
_MINUS: Final = "\N{MINUS SIGN}"

_Span = tuple[int, int, int]


def mask_pins(text: str, digits: int) -> MaskedText:
    """Replace each run of exactly `digits` digits, of any script, also with separators between them.

    A longer run, such as a phone number, stays, except its unseparated parts of exactly this length.
    """
    parts, end = [], 0
    for start, stop in _masked_spans(text, digits):
        parts += [text[end:start], MARK]
        end = stop
    return MaskedText("".join([*parts, text[end:]]))


def _masked_spans(text: str, digits: int) -> Iterator[tuple[int, int]]:
    for run in _runs(text):
        if sum(count for _, _, count in run) == digits:
            yield run[0][0], run[-1][1]
        else:
            yield from ((start, stop) for start, stop, count in run if count == digits)


def _runs(text: str) -> Iterator[list[_Span]]:
    """Yield the runs of digits as their unseparated parts: start, end, number of digits."""
    run: list[_Span] = []
    for position, character in enumerate(text):
        if count := _digits_of(character):
            if run and run[-1][1] == position:
                start, _, before = run.pop()
                run.append((start, position + 1, before + count))
            else:
                run.append((position, position + 1, count))
        elif run and not _is_separator(character):
            yield run
            run = []
    if run:
        yield run


def _digits_of(character: str) -> int:
    """Return how many digits a character shows: a circled number shows up to two."""
    shown = unicodedata.normalize("NFKC", character)
    return sum(part.isdecimal() for part in shown)


def _is_separator(character: str) -> bool:
    return character == _MINUS or unicodedata.category(character) in _SEPARATORS
