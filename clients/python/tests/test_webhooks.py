"""Webhooks are verified against the signatures that the notifications service makes."""

import json
from datetime import UTC, datetime

import pytest

from campus_client import errors, verify_webhook
from notifications.webhooks.domain.webhooks import secret_of, signatures_of

NOW = 1_795_996_800
SECRET, OTHER = secret_of("QUJDREVGR0hJSktMTU5PUFFSU1RVVldY"), secret_of("emFtYmlhLXphbWJpYS16YW1iaWE")
BODY = json.dumps(
    {"type": "orders.order_delivered.v1", "timestamp": "2026-11-23T08:00:00.000Z", "data": {"orderId": "one"}}
).encode()


def headers_of(*secrets: str, body: bytes = BODY, timestamp: int = NOW) -> dict[str, str]:
    return {
        "Webhook-Id": "event-1",
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": signatures_of(secrets, "event-1", timestamp, body),
    }


def test_a_signed_event_is_returned() -> None:
    event = verify_webhook(body=BODY, headers=headers_of(SECRET), secrets=[SECRET], now=NOW)
    assert (event.id, event.type, event.data) == ("event-1", "orders.order_delivered.v1", {"orderId": "one"})
    assert event.timestamp == datetime(2026, 11, 23, 8, tzinfo=UTC)


def test_either_secret_is_enough_during_a_rotation() -> None:
    both = headers_of(OTHER, SECRET)
    assert verify_webhook(body=BODY, headers=both, secrets=[SECRET], now=NOW)
    assert verify_webhook(body=BODY, headers=headers_of(SECRET), secrets=[OTHER, SECRET], now=NOW)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (headers_of(OTHER), BODY),
        (headers_of(SECRET), BODY + b" "),
        (headers_of(SECRET) | {"Webhook-Id": "event-2"}, BODY),
        (headers_of(SECRET) | {"Webhook-Timestamp": str(NOW + 1)}, BODY),
        (headers_of(SECRET) | {"Webhook-Timestamp": "now"}, BODY),
        (
            headers_of(SECRET) | {"Webhook-Signature": headers_of(SECRET)["Webhook-Signature"].replace("v1,", "v2,")},
            BODY,
        ),
        (headers_of(SECRET) | {"Webhook-Signature": ""}, BODY),
        (headers_of(SECRET) | {"Webhook-Signature": "v1,\u00e9"}, BODY),
        ({"Webhook-Id": "event-1"}, BODY),
        (headers_of(SECRET, timestamp=NOW - 301), BODY),
        (headers_of(SECRET, timestamp=NOW + 301), BODY),
        (headers_of(SECRET, body=b"{}"), b"{}"),
    ],
)
def test_anything_else_is_rejected(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(errors.WebhookVerificationError):
        verify_webhook(body=body, headers=headers, secrets=[SECRET], now=NOW)


@pytest.mark.parametrize("secrets", [[], ["whsec_no base64"]])
def test_a_missing_secret_is_a_mistake_of_the_caller(secrets: list[str]) -> None:
    with pytest.raises(ValueError, match="secret"):
        verify_webhook(body=BODY, headers=headers_of(SECRET), secrets=secrets, now=NOW)
