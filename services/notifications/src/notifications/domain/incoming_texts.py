"""What a customer's message says, in words: support reads texts, whatever was sent.

Pictures, sounds and files stay with the messaging app; the ticket says that they came, with their caption and name.
"""

from collections.abc import Mapping
from typing import Any, Final

# The app's own bound for a text.
TEXT_MAX: Final = 4096
_KIND_MAX: Final = 40
_CAPTIONED: Final = frozenset({"image", "video", "audio", "voice", "document", "sticker"})
# A thumb goes on with a conversation and begins none.
OPENS_NO_TICKET: Final = frozenset({"reaction"})


def text_of_message(message: Mapping[str, Any]) -> tuple[str, str]:
    """The kind and the words; of a kind that is not known, its name in brackets. Never empty."""
    told = message.get("type")
    kind = cleaned(told, _KIND_MAX) if isinstance(told, str) and told else "unknown"
    content = message.get(kind)
    if kind == "text":
        return kind, _joined(_field(content, "body")) or "[empty text]"
    return kind, cleaned(_words(kind, content), TEXT_MAX)


def _words(kind: str, content: Any) -> str:
    if kind in _CAPTIONED:
        return _joined(f"[{kind}]", _field(content, "filename"), _field(content, "caption"))
    if kind == "location":
        # Without its coordinates: a ticket shows no run of digits.
        return _joined("[location]", _field(content, "name"), _field(content, "address"))
    if kind == "contacts":
        people = content if isinstance(content, list) else []
        names = [_field(_inner(one, "name"), "formatted_name") for one in people]
        return _joined("[contacts]", ", ".join(name for name in names if name))
    if kind == "interactive":
        chosen = _inner(content, "button_reply") or _inner(content, "list_reply")
        return _joined(_field(chosen, "title"), _field(chosen, "description")) or "[interactive]"
    if kind == "button":
        return _field(content, "text") or "[button]"
    if kind == "reaction":
        return _joined("[reaction]", _field(content, "emoji"))
    return _joined(f"[{kind}]", _field(content, "body"))


def cleaned(text: str, characters_max: int) -> str:
    """What a database can hold: without U+0000 and lone surrogates, and not longer."""
    kept = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return kept[:characters_max]


def _joined(*parts: str) -> str:
    return cleaned(" ".join(part for part in parts if part).strip(), TEXT_MAX)


def _inner(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _field(value: Any, name: str) -> str:
    found = _inner(value, name)
    return found if isinstance(found, str) else ""
