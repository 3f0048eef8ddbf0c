"""The quota headers of a response: three named headers, and the fields of draft-ietf-httpapi-ratelimit-headers-11."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.headers import quota_headers
from api_gateway.sliding_window import MICROSECONDS, Counter, QuotaStatus, SlidingWindows

WINDOW = 60 * MICROSECONDS
# A Structured Field (RFC 9651) of the shape that the draft defines: a List of one String with Integer parameters.
_STRING = r'"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"'
_PARAMETER = r";[a-z*][a-z0-9_\-.*]*=-?[0-9]{1,15}"
ITEM = re.compile(rf"({_STRING})((?:{_PARAMETER})*)")


def item(value: bytes) -> tuple[str, dict[str, int]]:
    """Return the one item of a field and its parameters."""
    found = ITEM.fullmatch(value.decode("ascii"))
    assert found is not None, value
    parameters = [each.split("=") for each in found[2].split(";")[1:]]
    return found[1].strip('"'), {name: int(number) for name, number in parameters}


def rendered(quota_status: QuotaStatus, now: int) -> tuple[dict[bytes, bytes], dict[str, int], dict[str, int]]:
    """All headers, and the parameters of both fields, which must name the same policy."""
    headers = dict(quota_headers(quota_status, now, WINDOW))
    policy, quota = item(headers[b"ratelimit-policy"])
    named, left = item(headers[b"ratelimit"])
    assert policy == named
    return headers, quota, left


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, WINDOW - 1), st.integers(10**15, 2 * 10**15))
def test_both_header_forms_agree(limit: int, counted: int, ago: int, now: int) -> None:
    quota_status = QuotaStatus("2", limit, counted, now - ago if counted else None, counted < limit)
    headers, quota, left = rendered(quota_status, now)
    assert quota == {"q": limit, "w": 60}
    assert int(headers[b"ratelimit-limit"]) == limit
    assert left["r"] == int(headers[b"ratelimit-remaining"]) == max(0, limit - counted)
    assert abs(int(headers[b"ratelimit-reset"]) - now / MICROSECONDS - left["t"]) <= 1
    assert 0 < left["t"] <= 60


@given(st.integers(0, WINDOW - 1), st.integers(10**15, 2 * 10**15))
def test_retry_after_is_never_less_than_the_reset(ago: int, now: int) -> None:
    quota_status = QuotaStatus("1", 60, 60, now - ago, admitted=False)
    _, _, left = rendered(quota_status, now)
    assert left["r"] == 0
    assert quota_status.retry_after_seconds(now, WINDOW) >= left["t"]


@pytest.mark.parametrize(
    ("tier", "name"), [("1", "tier-1"), ("4-address", "tier-4-address"), ("5", "tier-5"), ("machines", "machines")]
)
def test_a_policy_is_called_by_its_tier(tier: str, name: str) -> None:
    headers = dict(quota_headers(SlidingWindows(60).peek(Counter(tier, "somebody", 7), 10**15), 10**15, WINDOW))
    assert item(headers[b"ratelimit-policy"]) == (name, {"q": 7, "w": 60})
    assert item(headers[b"ratelimit"]) == (name, {"r": 7, "t": 60})


def test_the_seconds_end_when_the_oldest_request_expires() -> None:
    windows, counter, now = SlidingWindows(60), Counter("2", "somebody", 3), 10**15
    windows.count(counter, now)
    later = now + 20 * MICROSECONDS + 1
    quota_status = windows.count(counter, later)
    _, _, left = rendered(quota_status, later)
    assert left == {"r": 1, "t": math.ceil(40 - 1 / MICROSECONDS)}
