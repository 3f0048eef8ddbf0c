"""Length of text messages: providers bill each segment (GSM 03.38, 03.40)."""

from typing import Final

SEGMENTS_MAX: Final = 3
# Concatenated segments hold 153 characters of the GSM alphabet or 67 UTF-16 units.
_GSM_SEGMENT: Final = 153
_UCS2_SEGMENT: Final = 67
# GSM extension characters need two positions. Other characters, and the grave accent, switch the message to UTF-16.
# GSM's own non-ASCII letters count as UTF-16 too: the estimate is never too low.
_GSM_EXTENDED: Final = frozenset("^{}[]~\\|")
_ELLIPSIS: Final = "..."


def truncate_to_segments(text: str) -> str:
    """Return the text, truncated with three dots if it exceeds three segments."""
    if _fits(text):
        return text
    # The truncated text may be plain GSM where the whole is not; the longest fit wins.
    return next(cut for end in range(len(text), -1, -1) if _fits(cut := text[:end].rstrip() + _ELLIPSIS))


def segment_count(text: str) -> int:
    """Return the number of billed segments."""
    length, is_plain = _encoded_length(text)
    single, joined = (160, _GSM_SEGMENT) if is_plain else (70, _UCS2_SEGMENT)
    return 1 if length <= single else -(-length // joined)


def _fits(text: str) -> bool:
    length, is_plain = _encoded_length(text)
    return length <= SEGMENTS_MAX * (_GSM_SEGMENT if is_plain else _UCS2_SEGMENT)


def _encoded_length(text: str) -> tuple[int, bool]:
    """Return the encoded length and whether the GSM alphabet suffices."""
    if text.isascii() and "`" not in text:
        return len(text) + sum(character in _GSM_EXTENDED for character in text), True
    return len(text.encode("utf-16-le")) // 2, False
