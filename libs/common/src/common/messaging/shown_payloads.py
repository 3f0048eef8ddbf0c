"""Payloads of dead letters for staff: only fields whose declared type holds no free text, no address and no secret.

A field of an event is shown when its contract makes it an id, a number, a flag, a listed word, a number for people, a
time or a reference, and its value has that type. Of an unknown message only ids and amounts are shown; of a webhook
only the fields that name a transaction. Every other field is named in `withheld`, without its value.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import msgspec

from common.primitives.ids import parse_uuid
from contracts.event import Event
from contracts.topology import SUBSCRIPTIONS

_EVENTS: Final[Mapping[str, type[Event]]] = {event.TYPE: event for events in SUBSCRIPTIONS.values() for event in events}
_PUBLIC_NUMBERS: Final = ("^CM-", "^CP-", "^PO-", "^CT-")
_TEXTS: Final = frozenset({"reference", "currency"})
# The members by which a gateway names a transaction, its amount and its state.
WEBHOOK_MEMBERS: Final = frozenset(
    {"id", "event", "event.type", "reference", "tx_ref", "flw_ref", "transfer_code", "transaction_reference"}
    | {"amount", "currency", "status", "paid_at", "created_at"}
)
_SUBJECTS: Final = ("number", "reference", "tx_ref", "transaction_reference")
# Names and texts of a message are its sender's: a page shows no more of them.
_WITHHELD_MAX: Final = 50
_CHARACTERS_MAX: Final = 100
_DEPTH_MAX: Final = 4

Scalar = str | int | float | bool | None


@dataclass(slots=True)
class ShownPayload:
    """The shown fields of a payload by their dotted path, and the names of the others.

    `subject` is the number for people, else the reference, else the id that the message is about.
    """

    subject: str | None = None
    values: dict[str, Scalar] = field(default_factory=dict)
    withheld: list[str] = field(default_factory=list)

    def add(self, path: str, value: object, *, is_safe: bool) -> None:
        is_short = not isinstance(value, str) or len(value) <= _CHARACTERS_MAX
        if is_safe and is_short and isinstance(value, Scalar):
            self.values[path] = value
        elif len(self.withheld) < _WITHHELD_MAX:
            self.withheld.append(path[:_CHARACTERS_MAX])


def show_message(body: bytes, event_type: str) -> ShownPayload:
    """Return the shown fields of a message of the broker. A body that is not a CloudEvent shows nothing."""
    shown = ShownPayload()
    envelope = _read(body)
    if isinstance(envelope, dict):
        event = _EVENTS.get(event_type)
        for name, value in _members(envelope.get("data")):
            _show(shown, name, value, None if event is None else _fields_of(event).get(name), event is None)
        shown.subject = _subject_of(shown) or _id_of(envelope.get("subject"))
    return shown


def show_webhook(payload: object, members: Collection[str] = WEBHOOK_MEMBERS) -> ShownPayload:
    """Return the shown members of a webhook's body; with no `members` only their names."""
    shown = ShownPayload()
    for name, value in _members(payload):
        _show_members(shown, name, value, members, 1)
    shown.subject = _subject_of(shown)
    return shown


def _show_members(shown: ShownPayload, path: str, value: object, members: Collection[str], depth: int) -> None:
    if isinstance(value, dict) and members and depth < _DEPTH_MAX:
        for name, inner in _members(value):
            _show_members(shown, f"{path}.{name}", inner, members, depth + 1)
        return
    is_named = path in members or path.rpartition(".")[2] in members
    shown.add(path, value, is_safe=is_named)


def _show(shown: ShownPayload, path: str, value: object, declared: object, is_unknown: bool, depth: int = 1) -> None:
    if isinstance(value, dict) and depth < _DEPTH_MAX:
        struct = _struct_of(declared)
        if struct is not None or is_unknown:
            fields = {} if struct is None else {each.encode_name: each.type for each in struct.fields}
            for name, inner in _members(value):
                _show(shown, f"{path}.{name}", inner, fields.get(name), is_unknown, depth + 1)
            return
    if isinstance(value, list) and depth < _DEPTH_MAX and isinstance(declared, msgspec.inspect.ListType):
        for position, item in enumerate(value):
            _show(shown, f"{path}[{position}]", item, declared.item_type, is_unknown, depth + 1)
        return
    name = path.rpartition(".")[2]
    is_safe = _is_id_or_amount(name, value) if is_unknown else _is_safe(name, value, declared)
    shown.add(path, value, is_safe=is_safe)


def _is_id_or_amount(name: str, value: object) -> bool:
    return _id_of(value) is not None or (name.endswith("Minor") and type(value) is int)


def _is_safe(name: str, value: object, declared: object) -> bool:
    match declared:
        case msgspec.inspect.Metadata():
            return _is_safe(name, value, declared.type)
        case msgspec.inspect.UnionType():
            return any(_is_safe(name, value, each) for each in declared.types)
        case msgspec.inspect.NoneType():
            return value is None
        case msgspec.inspect.BoolType():
            return isinstance(value, bool)
        case msgspec.inspect.IntType():
            return type(value) is int
        case msgspec.inspect.UUIDType():
            return _id_of(value) is not None
        case msgspec.inspect.LiteralType():
            return value in declared.values
        case msgspec.inspect.StrType():
            is_number = declared.pattern is not None and declared.pattern.startswith(_PUBLIC_NUMBERS)
            return isinstance(value, str) and (is_number or name in _TEXTS or name.endswith("At"))
        case _:
            return False


def _struct_of(declared: object) -> msgspec.inspect.StructType | None:
    if isinstance(declared, msgspec.inspect.UnionType):
        return next((each for each in declared.types if isinstance(each, msgspec.inspect.StructType)), None)
    return declared if isinstance(declared, msgspec.inspect.StructType) else None


@cache
def _fields_of(event: type[Event]) -> Mapping[str, msgspec.inspect.Type]:
    struct = _struct_of(msgspec.inspect.type_info(event))
    return {} if struct is None else {each.encode_name: each.type for each in struct.fields}


def _subject_of(shown: ShownPayload) -> str | None:
    for name in _SUBJECTS:
        for path, value in shown.values.items():
            if path.rpartition(".")[2] == name and isinstance(value, str):
                return value
    return None


def _members(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, dict) else []


def _id_of(value: object) -> str | None:
    return value if isinstance(value, str) and parse_uuid(value) is not None else None


def _read(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
