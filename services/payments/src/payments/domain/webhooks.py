"""Parse the gateway's webhooks of any shape (contract section 9). Nothing here raises for an odd body."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

PROVIDER: Final = "payment_gateway"
# The known event types; any other one is filed, counted as `other`, and ignored.
KNOWN_EVENTS: Final = frozenset(
    {
        "charge.success",
        "charge.failed",
        "charge.dispute.create",
        "charge.dispute.remind",
        "charge.dispute.resolve",
        "refund.pending",
        "refund.processing",
        "refund.processed",
        "refund.failed",
        "transfer.success",
        "transfer.failed",
        "transfer.reversed",
    }
)
UNKNOWN_EVENT: Final = "unknown"
# Far above any id of the gateway, far below the limit of a PostgreSQL index.
ID_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Arrival:
    """The key of a received body in processed_webhook_events, and its event type."""

    id: str
    event_type: str


def read_body(raw: bytes) -> Any:
    """The body's JSON value; None for a body that is not JSON."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def identify(raw: bytes, body: Any) -> Arrival:
    """`<event>:<data.id>`, else `<event>:<data.reference>`, else the SHA-256 of the bytes."""
    event = text_of(fields_of(body).get("event"))
    data = fields_of(fields_of(body).get("data"))
    identifier = identifier_of(data.get("id")) or text_of(data.get("reference"))
    if event and identifier:
        return Arrival(f"{event}:{identifier}", event)
    return Arrival(hashlib.sha256(raw).hexdigest(), event or UNKNOWN_EVENT)


def content_hash_of(raw: bytes) -> bytes:
    """The SHA-256 of the content: equal for bodies that differ in the order of keys and in white space only.

    For a body that is not JSON, the SHA-256 of its bytes.
    """
    try:
        content = json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        content = raw
    return hashlib.sha256(content).digest()


def data_of(body: Any) -> Mapping[str, Any]:
    """The event's `data`, empty when there is none."""
    return fields_of(fields_of(body).get("data"))


def fields_of(value: Any) -> Mapping[str, Any]:
    """An object's fields; empty for any other value (0, "", a list)."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str | None:
    """A text that a column and its index can store; None for any other value."""
    if not isinstance(value, str) or not 0 < len(value) <= ID_CHARACTERS_MAX:
        return None
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return None
    return value


def identifier_of(value: Any) -> str | None:
    """An id as text: the gateway's are integers or texts."""
    if isinstance(value, int) and not isinstance(value, bool):
        return text_of(str(value))
    return text_of(value)


def phrase_of(value: Any) -> str | None:
    """A free text such as a reason, cut to the maximal length."""
    return text_of(value[:ID_CHARACTERS_MAX]) if isinstance(value, str) else None


def instant_of(value: Any) -> datetime | None:
    """An ISO 8601 instant with its offset; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        return None
    return instant.astimezone(UTC) if instant.tzinfo is not None else None


def storable_text(raw: bytes) -> str:
    """The bytes as a text that jsonb can store, for a body that it cannot store as JSON. The raw bytes are stored too."""
    return raw.decode("utf-8", "replace").replace("\x00", "\ufffd")


def alert_key(dead_letter_id: UUID) -> str:
    """The deduplication key of a dead webhook's alert, to raise and to clear it."""
    return f"dead-letter-webhook:{dead_letter_id}"
