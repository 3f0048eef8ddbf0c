"""Conversion of the messaging app's messages to ticket texts.

| Kind | Text | Without a ticket |
|---|---|---|
| `text`, `button`, `interactive` | what the customer wrote or chose | opens one |
| images, audio, files, `location`, `contacts`, `order` | the kind, with caption, name or note, no file | opens one |
| `edit` | `[edited]` and the new text | opens one |
| `unsupported` and unknown kinds | the kind, with the type that the app names | opens one |
| `reaction`, `revoke` | `[reaction]` and the sign; that a message was deleted | ignored |
| `system`: another number or id | a sentence of ours, without number and name | ignored |
| other `system`, `request_welcome` | none | ignored |
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal, get_args

from common.primitives.json_records import Json

# `unknown`: a kind that the app has added since. `erased`: the message was, with its customer. `purchase_draft` and
# `sign_up`: our reply to an `order`, with a link.
MessageKind = Literal[
    "text",
    "button",
    "interactive",
    "image",
    "video",
    "audio",
    "voice",
    "document",
    "sticker",
    "location",
    "contacts",
    "order",
    "edit",
    "reaction",
    "revoke",
    "system",
    "unsupported",
    "unknown",
    "erased",
    "purchase_draft",
    "sign_up",
]
_KINDS: Final[Mapping[str, MessageKind]] = {kind: kind for kind in get_args(MessageKind)}
# The app's limit for a text.
TEXT_MAX: Final = 4096
_KIND_MAX: Final = 40
_CAPTIONED: Final = frozenset({"image", "video", "audio", "voice", "document", "sticker"})
# These continue a conversation and open none.
OPENS_NO_TICKET: Final = frozenset({"reaction", "revoke", "system"})
# The member of a kind that holds its text, where it is not `body`.
_NOTE_FIELDS: Final = {"reaction": "emoji", "unsupported": "type", "order": "text"}
_SYSTEM_TEXTS: Final = {
    "user_changed_number": "[system] The customer has another phone number now.",
    "customer_changed_number": "[system] The customer has another phone number now.",
    "user_changed_user_id": "[system] The customer has another id in the app now.",
}


def text_of_message(message: Mapping[str, Json]) -> tuple[str, str]:
    """Return kind and text of a message. An unknown kind is its name in brackets; an empty text is for no ticket."""
    declared = message.get("type")
    kind = cleaned(declared, _KIND_MAX) if isinstance(declared, str) and declared else "unknown"
    content = message.get(kind)
    if kind == "text":
        return kind, _joined(_field(content, "body")) or "[empty text]"
    return kind, cleaned(_content_text(kind, content), TEXT_MAX)


def shown_kind(kind: str) -> MessageKind:
    """Return the public word for a stored kind. The text of an unknown one names it."""
    return _KINDS.get(kind, "unknown")


def _content_text(kind: str, content: Json) -> str:
    if kind in _CAPTIONED:
        return _joined(f"[{kind}]", _field(content, "filename"), _field(content, "caption"))
    if kind in _READERS:
        return _READERS[kind](content)
    return _joined(f"[{kind}]", _field(content, _NOTE_FIELDS.get(kind, "body")))


def _location(content: Json) -> str:
    """Coordinates are left out: tickets mask runs of digits."""
    return _joined("[location]", _field(content, "name"), _field(content, "address"))


def _contacts(content: Json) -> str:
    contacts = content if isinstance(content, list) else []
    names = [_field(_inner(one, "name"), "formatted_name") for one in contacts]
    return _joined("[contacts]", ", ".join(name for name in names if name))


def _interactive(content: Json) -> str:
    """Return the chosen button or row, or the closing text of a flow."""
    chosen = _inner(content, "button_reply") or _inner(content, "list_reply")
    words = _joined(_field(chosen, "title"), _field(chosen, "description"))
    return words or _joined("[interactive]", _field(_inner(content, "nfm_reply"), "body"))


def _system(content: Json) -> str:
    return _SYSTEM_TEXTS.get(_field(content, "type"), "")


def _edited(content: Json) -> str:
    """Return the new text of an edited message. An edit within an edit has none."""
    message = _inner(content, "message")
    if not isinstance(message, dict) or message.get("type") == "edit":
        return "[edited]"
    return _joined("[edited]", text_of_message(message)[1])


def cleaned(text: str, characters_max: int) -> str:
    """Truncate a text and replace U+0000 and lone surrogates, which PostgreSQL cannot store."""
    storable = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return storable[:characters_max]


def _joined(*parts: str) -> str:
    return cleaned(" ".join(part for part in parts if part).strip(), TEXT_MAX)


def _inner(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, dict) else None


def _field(value: Json, name: str) -> str:
    found = _inner(value, name)
    return found if isinstance(found, str) else ""


_READERS: Final[Mapping[str, Callable[[Json], str]]] = {
    "location": _location,
    "contacts": _contacts,
    "interactive": _interactive,
    "button": lambda content: _field(content, "text") or "[button]",
    "edit": _edited,
    "revoke": lambda _content: "[revoke] The customer deleted a message.",
    "system": _system,
    # The customer opened the chat for the first time.
    "request_welcome": lambda _content: "",
}
