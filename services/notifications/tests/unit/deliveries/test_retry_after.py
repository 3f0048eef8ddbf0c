"""The provider's Retry-After, in seconds or as a date, within limits."""

import httpx
import pytest

from notifications.deliveries.clients.responses import RETRY_AFTER_SECONDS_MAX, retry_after_seconds

NOW = "Thu, 01 Jan 2026 00:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"Retry-After": "120"}, 120),
        ({"Retry-After": "0"}, 0),
        ({"Retry-After": "9" * 400}, RETRY_AFTER_SECONDS_MAX),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Thu, 01 Jan 2026 00:01:30 GMT", "Date": NOW}, 90),
        ({"Retry-After": "Wed, 31 Dec 2025 23:00:00 GMT", "Date": NOW}, 0),
        ({"Retry-After": "Thu, 01 Jan 2026 00:01:30 GMT"}, None),
        ({"Retry-After": "Thu, 01 Jan 2026 00:01:30", "Date": NOW}, None),
    ],
)
def test_retry_after_is_read_within_limits(headers, expected) -> None:
    assert retry_after_seconds(httpx.Response(429, headers=headers)) == expected
