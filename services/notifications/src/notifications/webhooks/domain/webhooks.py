"""Outgoing webhooks (Standard Webhooks): endpoints, secrets, signatures, and the decision after an attempt."""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args
from uuid import UUID

from common.primitives.lifecycles import Lifecycle, Rule
from common.primitives.retry import RetryLadder
from notifications.webhooks.domain.webhook_events import WebhookEvent

EndpointStatus = Literal["enabled", "disabled"]
DeliveryStatus = Literal["pending", "delivered", "failed"]

_OWNER: Final = "owner, or staff with `webhooks:manage`"

ENDPOINT: Final = Lifecycle[EndpointStatus, EndpointStatus](
    "Endpoint",
    "A subscriber's endpoint for webhooks.",
    get_args(EndpointStatus),
    {
        "enabled": Rule({"disabled": "enabled"}, repeated={"enabled"}, by=_OWNER),
        "disabled": Rule(
            {"enabled": "disabled"},
            repeated={"disabled"},
            by=f"{_OWNER}; notifications service, when the endpoint is gone or fails for days",
        ),
    },
)
WEBHOOK: Final = Lifecycle[DeliveryStatus, Literal["accepted", "not_accepted", "given_up", "endpoint_disabled"]](
    "Webhook",
    "An event on its way to one endpoint.",
    get_args(DeliveryStatus),
    {
        "accepted": Rule({"pending": "delivered"}, by="endpoint"),
        "not_accepted": Rule({"pending": "pending"}, by="endpoint"),
        "given_up": Rule({"pending": "failed"}, by="notifications service, after the last attempt"),
        "endpoint_disabled": Rule({"pending": "failed"}, by="notifications service"),
    },
)
DisabledReason = Literal["owner", "gone", "failing"]

ENDPOINTS_MAX: Final = 10
SECRET_PREFIX: Final = "whsec_"  # noqa: S105
# The former secret is valid for this long after a rotation (contract section 9.5).
PREVIOUS_SECRET_LIFETIME: Final = timedelta(hours=24)
# Events are kept, and can be replayed, for this long.
EVENT_LIFETIME: Final = timedelta(days=30)
# A replay is one transaction.
REPLAY_EVENTS_MAX: Final = 10_000
# Seconds of one attempt: resolution of the name, connection, response and body.
ATTEMPT_SECONDS_MAX: Final = 15.0
# An attempt whose worker died is repeated after this time, which is longer than any attempt with its record.
LEASE: Final = timedelta(seconds=60)
# The delays after the attempts 1 to 8; the ninth attempt is the last, about 28 hours after the first.
LADDER: Final = RetryLadder((5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000))
# An endpoint without a successful attempt for this long is disabled.
FAILING_MAX: Final = timedelta(days=5)
_REMOVED: Final = 410


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """An endpoint without its secrets. `vendor_id` None: it belongs to the platform."""

    id: UUID
    vendor_id: UUID | None
    url: str
    event_types: list[str]
    description: str
    status: EndpointStatus
    disabled_reason: DisabledReason | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EndpointSecrets:
    """Encrypted secrets of an endpoint; the previous one signs until `previous_until`."""

    current: str
    previous: str | None
    previous_until: datetime | None


@dataclass(frozen=True, slots=True)
class ClaimedWebhook:
    """A claimed delivery. `attempt` starts at 1; its result is recorded only while it is the last attempt."""

    delivery_id: UUID
    attempt: int
    endpoint_id: UUID
    vendor_id: UUID | None
    url: str
    secrets: EndpointSecrets
    event: WebhookEvent


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The response to an attempt: its status and the start of its body, or the error of a call without a response."""

    status: int | None
    excerpt: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Delivered:
    """The endpoint accepted the event."""


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """The attempt failed; the next one follows after `seconds`, before jitter."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The last attempt failed, or the endpoint is `gone`."""

    is_removed: bool = False


def evaluate_attempt(
    attempt: int, response: WebhookResponse, *, is_only: bool = False
) -> Delivered | RetryAfter | GivenUp:
    """Return the decision after an attempt. Every status but 2xx is a failure, also a redirect.

    `is_only`: no attempt follows.
    """
    if response.status is not None and 200 <= response.status < 300:
        return Delivered()
    if response.status == _REMOVED:
        return GivenUp(is_removed=True)
    delay = None if is_only else LADDER.delay_after(attempt)
    return GivenUp() if delay is None else RetryAfter(delay)


def secret_of(random: str) -> str:
    """Return a signing secret, `whsec_` and base64, from random bytes in base64url."""
    raw = base64.urlsafe_b64decode(random + "=" * (-len(random) % 4))
    return SECRET_PREFIX + base64.b64encode(raw).decode()


def signatures_of(secrets: Iterable[str], webhook_id: str, timestamp: int, body: bytes) -> str:
    """Return the header `webhook-signature`: one `v1` signature for each secret, separated by spaces."""
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    return " ".join(_signature(secret, signed) for secret in secrets)


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def disabled_endpoint_key(endpoint_id: UUID) -> str:
    """Return the deduplication key of the alert about a disabled endpoint."""
    return f"webhook-endpoint-disabled:{endpoint_id}"
