"""The reason of a declined payment, and the schedule of queries about an unpaid one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from payments.clients.paystack_records import read_charge
from payments.domain.failures import REASON_CHARACTERS_MAX, next_query_at, safe_reason

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"gateway_response": "Insufficient Funds"}, "Insufficient Funds"),
        ({"gateway_response": " Declined\r\n by\tbank\x00 "}, "Declined by bank"),
        ({"gateway_response": "Do not honour (05)"}, "Do not honour (05)"),
        ({"gateway_response": "Card 5060 6666 6666 6666 666 expired"}, "Card ... expired"),
        ({"gateway_response": "call 0803-123-4567 now"}, "call ... now"),
        ({"gateway_response": "<b>Pay</b> at https://evil.example/x or www.evil.example"}, "b Pay /b at or"),
        ({"gateway_response": "write to ada@bank.example"}, "write to"),
        ({"gateway_response": "\u202eevil\u202c"}, "evil"),
        ({"gateway_response": "", "message": "Timed out"}, "Timed out"),
        ({"gateway_response": None}, "Declined"),
        ({"gateway_response": {"a": 1}, "message": 5}, "Declined"),
        ({"gateway_response": "12345678901"}, "..."),
        ({}, "Declined"),
    ],
)
def test_the_gateways_words_are_made_safe_to_show(data: dict[str, Any], reason: str) -> None:
    assert safe_reason(read_charge({"status": "failed", **data}, "webhook").failure_reason) == reason


@given(some.text())
def test_a_failure_reason_is_one_short_printable_line_without_long_numbers(words: str) -> None:
    reason = safe_reason(words)
    assert 0 < len(reason) <= REASON_CHARACTERS_MAX
    assert reason.isprintable()
    assert not set("<>{}") & set(reason)
    assert not any(
        all(dead_letter.isdecimal() for dead_letter in reason[place : place + 5]) for place in range(len(reason) - 4)
    )


def test_a_failure_reason_has_at_most_200_characters() -> None:
    assert safe_reason("x" * 201) == "x" * 200


def test_an_unpaid_attempt_is_queried_until_an_hour_after_it_expires() -> None:
    expires_at = NOW + timedelta(minutes=15)
    last = expires_at + timedelta(minutes=50)
    assert next_query_at(last, 7, expires_at) == expires_at + timedelta(hours=1)
    assert next_query_at(last + timedelta(seconds=1), 7, expires_at) is None


def test_an_unpaid_attempt_is_queried_seldomer_and_at_last_no_more() -> None:
    expires_at = NOW + timedelta(minutes=15)
    waits = []
    for queries in range(1, 6):
        due_at = next_query_at(NOW, queries, expires_at)
        assert due_at is not None
        waits.append((due_at - NOW).total_seconds())
    assert waits == [60, 120, 240, 480, 600]
    assert next_query_at(expires_at + timedelta(minutes=55), 7, expires_at) is None
