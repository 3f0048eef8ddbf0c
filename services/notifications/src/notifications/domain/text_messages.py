"""How long a text message may be: telephone companies cut it into parts, and each part is paid for (GSM 03.38, 03.40)."""

from typing import Final

PARTS_MAX: Final = 3
# A part of several loses the room of its number: 153 characters of the telephones' own alphabet, 67 units of UTF-16.
_PLAIN_MAX: Final = PARTS_MAX * 153
_WIDE_MAX: Final = PARTS_MAX * 67
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


def _fits(text: str) -> bool:
    if text.isascii() and "`" not in text:
        return len(text) + sum(character in _TWO_PLACES for character in text) <= _PLAIN_MAX
    return len(text.encode("utf-16-le")) // 2 <= _WIDE_MAX
