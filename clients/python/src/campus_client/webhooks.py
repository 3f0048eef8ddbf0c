"""Verification of the webhooks that the marketplace sends (Standard Webhooks)."""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from campus_client.errors import WebhookVerificationError

TOLERANCE_SECONDS: Final = 300
_SECRET_PREFIX: Final = "whsec_"  # noqa: S105


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """A verified event. It may arrive more than once with the same `id`. `data` has amounts in kobo."""

    id: str
    type: str
    timestamp: datetime
    data: dict[str, Any]


def verify_webhook(
    *,
    body: bytes,
    headers: Mapping[str, str],
    secrets: Sequence[str],
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """Verify the raw body of a webhook and return its event.

    Args:
        body: as it arrived, before any parser.
        headers: of the request; their case does not matter.
        secrets: the endpoint's secrets (`whsec_...`), several during a rotation.
        tolerance_seconds: the maximum difference between `webhook-timestamp` and now.
        now: Unix time in seconds, for tests.

    Raises:
        WebhookVerificationError: the request is not from the marketplace, was changed, or is too old.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        event_id, sent_at = lower["webhook-id"], lower["webhook-timestamp"]
        signatures = lower["webhook-signature"].split()
    except KeyError as missing:
        raise WebhookVerificationError(f"The header {missing} is missing.") from None
    if not (sent_at.isascii() and sent_at.isdecimal()):
        raise WebhookVerificationError("The header 'webhook-timestamp' is no Unix time.")
    if not _is_signed(f"{event_id}.{sent_at}.".encode() + body, signatures, secrets):
        raise WebhookVerificationError("No signature matches a secret of the endpoint.")
    if abs((time.time() if now is None else now) - int(sent_at)) > tolerance_seconds:
        raise WebhookVerificationError(f"The webhook was signed more than {tolerance_seconds:g} s from now.")
    return _event_of(event_id, body)


def _is_signed(content: bytes, signatures: Sequence[str], secrets: Sequence[str]) -> bool:
    """Return whether a signature belongs to a secret; one comparison takes equally long wherever the two differ."""
    if not secrets:
        raise ValueError("There is no secret to verify the webhook with.")
    expected = [base64.b64encode(hmac.digest(_key_of(secret), content, hashlib.sha256)) for secret in secrets]
    received = [signature[3:].encode() for signature in signatures if signature.startswith("v1,")]
    return any(hmac.compare_digest(ours, theirs) for ours in expected for theirs in received)


def _key_of(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(_SECRET_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError("A secret of a webhook endpoint is `whsec_` and base64.") from None


def _event_of(event_id: str, body: bytes) -> WebhookEvent:
    try:
        event = json.loads(body)
        return WebhookEvent(event_id, event["type"], datetime.fromisoformat(event["timestamp"]), dict(event["data"]))
    except (ValueError, KeyError, TypeError) as error:
        raise WebhookVerificationError("The body is signed and is no event.") from error
