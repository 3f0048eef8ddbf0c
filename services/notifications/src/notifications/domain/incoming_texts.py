"""Conversion of the messaging app's messages to ticket texts.

Images, audio and files stay with the app; the text contains their kind, caption and name.
"""

from collections.abc import Mapping
from typing import Any, Final

# The app's limit for a text.
TEXT_MAX: Final = 4096
_KIND_MAX: Final = 40
_CAPTIONED: Final = frozenset({"image", "video", "audio", "voice", "document", "sticker"})
# A reaction continues a conversation and opens none.
OPENS_NO_TICKET: Final = frozenset({"reaction"})


def text_of_message(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return kind and text of a message, never empty. An unknown kind is its name in brackets."""
    declared = message.get("type")
    kind = cleaned(declared, _KIND_MAX) if isinstance(declared, str) and declared else "unknown"
    content = message.get(kind)
    if kind == "text":
        return kind, _joined(_field(content, "body")) or "[empty text]"
    return kind, cleaned(_content_text(kind, content), TEXT_MAX)


def _content_text(kind: str, content: Any) -> str:
    if kind in _CAPTIONED:
        return _joined(f"[{kind}]", _field(content, "filename"), _field(content, "caption"))
    if kind == "location":
        # Coordinates are left out: tickets mask runs of digits.
        return _joined("[location]", _field(content, "name"), _field(content, "address"))
    if kind == "contacts":
        contacts = content if isinstance(content, list) else []
        names = [_field(_inner(one, "name"), "formatted_name") for one in contacts]
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
    """Truncate a text and replace U+0000 and lone surrogates, which PostgreSQL cannot store."""
    storable = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return storable[:characters_max]


def _joined(*parts: str) -> str:
    return cleaned(" ".join(part for part in parts if part).strip(), TEXT_MAX)


def _inner(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _field(value: Any, name: str) -> str:
    found = _inner(value, name)
    return found if isinstance(found, str) else ""
