"""The messaging app's webhook: signatures and the items of a body of any shape (contract section 9).

Malformed bodies raise nothing. A body that is no notification has no items; malformed items are skipped or read in
part.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

import msgspec

from common.primitives.json_records import Json, JsonObject, read_record
from notifications.deliveries import MessagingError, ReportedError, address_of, is_app_user_id, read_error
from notifications.support.domain.incoming_texts import cleaned, text_of_message

PROVIDER: Final = "messaging_app"
UNREADABLE: Final = "unreadable"
# Statuses that are recorded; the app reports others too.
STATUSES: Final = frozenset({"sent", "delivered", "read", "failed"})
# Longer than any id of the app, shorter than PostgreSQL's limit for an index entry.
_ID_CHARACTERS_MAX: Final = 200
# As many as a purchase takes (contract section 6.3).
_ORDERED_ITEMS_MAX: Final = 100
_QUANTITY_MAX: Final = 99
_SIGNATURE: Final = re.compile(r"sha256=[0-9a-f]{64}", re.ASCII)


class ReportedStatus(msgspec.Struct, frozen=True):
    """A status as the app sends it. `biz_opaque_callback_data` is our delivery id."""

    id: str = ""
    status: str = ""
    biz_opaque_callback_data: str = ""
    timestamp: int | str | None = None
    errors: list[ReportedError] = []


class StoredError(msgspec.Struct, frozen=True):
    """The members of a `MessagingError`."""

    code: int | None = None
    subcode: int | None = None
    text: str = ""
    is_transient: bool = False


class StoredStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The content of a status. `at` is in epoch seconds. An item of the release before has no error."""

    id: str | None = None
    status: str | None = None
    delivery_id: str | None = None
    at: int | None = None
    error: StoredError | None = None


class OrderedItem(msgspec.Struct, frozen=True, rename="camel"):
    """A line of a cart, without the price that the app sends."""

    retailer_id: str
    quantity: int


class StoredMessage(msgspec.Struct, frozen=True, rename={"sender": "from", "user_id": "userId"}):
    """The content of a message. `at` is in epoch seconds.

    An item of the release before has no `userId` and no `items`.
    """

    sender: str = ""
    user_id: str | None = None
    kind: str = ""
    text: str = ""
    at: int | None = None
    items: list[OrderedItem] = []


@dataclass(frozen=True, slots=True)
class Item:
    """One message or status. Repetitions of the same message or status have the same `key`."""

    key: str
    kind: Literal["message", "status"]
    content: JsonObject


def is_signed(raw: bytes, offered: Sequence[str], secret: str) -> bool:
    """Return whether the single `X-Hub-Signature-256` header matches the bytes. False without a secret."""
    if not secret or len(offered) != 1 or _SIGNATURE.fullmatch(offered[0]) is None:
        return False
    expected = "sha256=" + hmac.digest(secret.encode(), raw, "sha256").hex()
    return hmac.compare_digest(expected, offered[0])


def is_subscription(mode: str | None, offered: str | None, verify_token: str) -> bool:
    """Return whether the handshake has the verify token. False without a configured token."""
    expected, given = verify_token.encode(), (offered or "").encode(errors="replace")
    return hmac.compare_digest(expected, given) and bool(verify_token) and mode == "subscribe"


def key_of_body(raw: bytes) -> str:
    """Return the SHA-256 of the body as its id: the app sends none."""
    return hashlib.sha256(raw).hexdigest()


def read_body(raw: bytes | str) -> Json:
    """Return the body's JSON value; None when it is invalid."""
    try:
        body: Json = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return body


def event_type_of(body: Json) -> str:
    """Return the field of the first change as the event type."""
    for change in _changes(body):
        field = change.get("field")
        if isinstance(field, str) and field:
            return cleaned(field, _ID_CHARACTERS_MAX)
    return UNREADABLE if body is None else "unknown"


def items_of(body: Json) -> list[Item]:
    """Return every distinct message and status of the body, in its order."""
    found: dict[str, Item] = {}
    for value in _values(body):
        for message in _list(value.get("messages")):
            item = _message(message)
            found.setdefault(item.key, item)
        for status in _list(value.get("statuses")):
            item = _status(status)
            found.setdefault(item.key, item)
    return list(found.values())


def addresses_in(payload: Json) -> set[str]:
    """Return each text of an item or a body that has the form of a number (E.164) or of the app's id of a user."""
    pending: list[Json] = [read_body(payload) if isinstance(payload, str) else payload]
    found = set[str]()
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and (address := address_of(value)) is not None:
            found.add(address)
    return found


def errors_of(body: Json) -> list[MessagingError]:
    """Return the errors that the app reports in addition to messages and statuses, such as a rate limit of our
    number.
    """
    return [
        read_error(read_record(error, ReportedError)) for value in _values(body) for error in _list(value.get("errors"))
    ]


def _message(message: JsonObject) -> Item:
    kind, text = text_of_message(message)
    at = _whole(message.get("timestamp"))
    items = _ordered_items(_fields(message.get("order"))) if kind == "order" else []
    content = StoredMessage(_sender(message), _app_user_id(message), kind, text, at, items)
    return Item(f"message:{_id_of(message)}", "message", msgspec.to_builtins(content))


def _ordered_items(order: JsonObject) -> list[OrderedItem]:
    """Return the lines of a cart that have an id and a quantity."""
    items = []
    for item in _list(order.get("product_items"))[:_ORDERED_ITEMS_MAX]:
        retailer_id, quantity = item.get("product_retailer_id"), _whole(item.get("quantity"))
        if isinstance(retailer_id, str) and retailer_id.strip() and quantity:
            items.append(OrderedItem(cleaned(retailer_id.strip(), _ID_CHARACTERS_MAX), min(quantity, _QUANTITY_MAX)))
    return items


def _sender(message: JsonObject) -> str:
    """Return the sender's number, else the app's id of a user who hides it; empty for a group or without either."""
    if message.get("group_id"):
        return ""
    number = message.get("from")
    return cleaned(number, 40) if isinstance(number, str) and number else _app_user_id(message) or ""


def _app_user_id(message: JsonObject) -> str | None:
    """Return the app's id of the sender, which it also sends together with a number."""
    user_id = message.get("from_user_id")
    return user_id if isinstance(user_id, str) and is_app_user_id(user_id) else None


def _status(status: JsonObject) -> Item:
    reported = read_record(status, ReportedStatus)
    given = reported.biz_opaque_callback_data
    content = StoredStatus(
        id=reported.id if _is_id(reported.id) else None,
        status=reported.status if reported.status in STATUSES else None,
        delivery_id=given if _is_id(given) else None,
        at=_whole(reported.timestamp),
        error=StoredError(**asdict(read_error(reported.errors[0]))) if reported.errors else None,
    )
    label = cleaned(reported.status, 40) if isinstance(status.get("status"), str) else "unknown"
    return Item(f"status:{_id_of(status)}:{label}", "status", msgspec.to_builtins(content))


def _id_of(item: JsonObject) -> str:
    given = item.get("id")
    if _is_id(given):
        return str(given)
    try:
        canonical = json.dumps(item, sort_keys=True).encode()
    except (ValueError, RecursionError):
        canonical = repr(sorted(item)).encode(errors="replace")
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def _is_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _ID_CHARACTERS_MAX and cleaned(value, len(value)) == value


def _whole(value: object) -> int | None:
    """Read epoch seconds or a quantity from a text or number; None from eleven digits, after the year 2100."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text.isascii() or not text.isdigit() or len(text) > len("4102444800"):
        return None
    return int(text)


def _values(body: Json) -> Iterator[JsonObject]:
    for change in _changes(body):
        yield _fields(change.get("value"))


def _changes(body: Json) -> Iterator[JsonObject]:
    for entry in _list(_fields(body).get("entry")):
        yield from _list(entry.get("changes"))


def _fields(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
