"""Received webhooks of any shape, their keys and their content (contract section 9). Nothing here raises for an odd
body.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Final, Literal

PROVIDER: Final = "payment_gateway"
UNKNOWN_EVENT: Final = "unknown"
# The origin of a report. A webhook may be late. A `queried_webhook` is one whose subject the gateway was queried for,
# and the response is filed as a webhook of its own. `gateway` is that response, or the webhook of a subject that cannot
# be queried.
ReportSource = Literal["webhook", "queried_webhook", "gateway"]


@dataclass(frozen=True, slots=True)
class Arrival:
    """The key of a received body in processed_webhook_events, and its event type."""

    id: str
    event_type: str


def read_body(raw: bytes) -> object:
    """Return the body's JSON value; None for a body that is not JSON."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def content_hash_of(raw: bytes) -> bytes:
    """Return the SHA-256 of the content: equal for bodies that differ in the order of keys and in white space only.

    For a body that is not JSON, the SHA-256 of its bytes.
    """
    try:
        content = json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        content = raw
    return hashlib.sha256(content).digest()


def storable_text(raw: bytes) -> str:
    """Return the bytes as a text that jsonb can store, for a body that it cannot store as JSON. The raw bytes are
    stored too.
    """
    return raw.decode("utf-8", "replace").replace("\x00", "\ufffd")
