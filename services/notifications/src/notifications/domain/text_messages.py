"""How long a text message may be: telephone companies cut it into parts, and each part is paid for (GSM 03.38, 03.40)."""

from typing import Final

PARTS_MAX: Final = 3
# A part of several loses the room of its number: 153 characters of the telephones' own alphabet, 67 units of UTF-16.
_PLAIN_PART: Final = 153
_WIDE_PART: Final = 67
# Of ASCII, these take two places in the telephones' alphabet, and the grave accent has none. Letters beyond ASCII that the
# alphabet knows (é, £) are counted as if it did not: too long a count never costs more than it says.
_TWO_PLACES: Final = frozenset("^{}[]~\\|")
_TAIL: Final = "..."


def cut_to_parts(text: str) -> str:
    """The text itself when it fits into three parts, else its beginning and three dots."""
    if _fits(text):
        return text
    # The beginning alone may be of the telephones' alphabet where the whole is not: the longest that fits is kept.
    return next(cut for end in range(len(text), -1, -1) if _fits(cut := text[:end].rstrip() + _TAIL))


def parts_of(text: str) -> int:
    """How many parts a telephone company makes of it. A text of one part has the room of the number for itself."""
    places, is_plain = _measure(text)
    alone, joined = (160, _PLAIN_PART) if is_plain else (70, _WIDE_PART)
    return 1 if places <= alone else -(-places // joined)


def _fits(text: str) -> bool:
    places, is_plain = _measure(text)
    return places <= PARTS_MAX * (_PLAIN_PART if is_plain else _WIDE_PART)


def _measure(text: str) -> tuple[int, bool]:
    """The places that it takes, and whether it is of the telephones' own alphabet."""
    if text.isascii() and "`" not in text:
        return len(text) + sum(character in _TWO_PLACES for character in text), True
    return len(text.encode("utf-16-le")) // 2, False
