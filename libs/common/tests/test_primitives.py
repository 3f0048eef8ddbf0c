"""Money, ids, cursors, the retry ladder, problems and redaction."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.auth.caller import Caller
from common.auth.tokens import Revocations
from common.observability.logging import REDACTED, redact
from common.primitives import problems
from common.primitives.clock import iso
from common.primitives.cursors import CursorSigner
from common.primitives.ids import is_request_id, new_digits, new_id, new_request_id, parse_uuid
from common.primitives.money import apportion, naira, share_half_even
from common.primitives.problems import Problem, StepUpRequired, ValidationFailed
from common.primitives.retry import DELAYS_SECONDS, JITTER, RetryLadder, jittered
from common.web import envelope
from common.web.response_models import ResponseModel
from common.web.responses import CursorMeta


@pytest.mark.parametrize(
    ("amount_minor", "basis_points", "share"),
    [
        (10_000, 500, 500),
        (10, 500, 0),
        (30, 500, 2),
        (50, 500, 2),
        (70, 500, 4),
        (0, 500, 0),
        (1, 10_000, 1),
        (999, 1, 0),
    ],
)
def test_a_share_is_rounded_half_to_even(amount_minor: int, basis_points: int, share: int) -> None:
    assert share_half_even(amount_minor, basis_points) == share


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=5), st.floats(0, 1))
def test_shares_sum_to_the_amount_and_never_exceed_their_part(parts, fraction) -> None:
    amount = int(sum(parts) * fraction)
    shares = apportion(amount, parts)
    assert sum(shares) == amount
    assert all(0 <= share <= part for share, part in zip(shares, parts, strict=True))


def test_naira_shows_kobo_as_a_decimal_number() -> None:
    assert (naira(500_000), naira(1_005), naira(1)) == (5000, 10.05, 0.01)


def test_ids_are_uuid_version_7_in_order_of_creation() -> None:
    ids = [new_id() for _ in range(50)]
    assert {identifier.version for identifier in ids} == {7}
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "{018cc251-f400-7004-8000-000000000001}",
        "018cc251f400700480000000000000001",
        "018cc251-f400-7004-8000-00000000000g",
    ],
)
def test_only_the_canonical_form_is_a_uuid(text: str) -> None:
    assert parse_uuid(text) is None


def test_only_well_formed_request_ids_are_accepted() -> None:
    assert is_request_id(new_request_id())
    assert not any(
        map(
            is_request_id,
            ["", "req_", "req_short", "req_" + "a" * 65, "req_aaaaaaaaaaaaaaaa\n", "req_ääääääääääääääää"],
        )
    )


def test_digits_have_the_requested_length() -> None:
    assert all(len(new_digits(6)) == 6 and new_digits(6).isdigit() for _ in range(100))


def test_a_cursor_is_valid_in_its_own_list_only() -> None:
    signer = CursorSigner("key")
    cursor = signer.sign(["products", None, "ada"], ["2026-01-01", 5])
    assert signer.open(["products", None, "ada"], cursor) == ["2026-01-01", 5]
    for scope in (["orders", None, "ada"], ["products", "x", "ada"], ["products", None, "bola"]):
        with pytest.raises(ValidationFailed):
            signer.open(scope, cursor)


@given(st.text(max_size=80))
def test_an_invented_cursor_is_rejected(text) -> None:
    with pytest.raises(ValidationFailed):
        CursorSigner("key").open(["products"], text)


def test_a_changed_cursor_is_rejected() -> None:
    signer = CursorSigner("key")
    cursor = signer.sign(["products"], [5])
    for place in range(len(cursor) - 1):
        changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        with pytest.raises(ValidationFailed):
            signer.open(["products"], changed)


def test_the_retry_ladder_is_that_of_the_specification() -> None:
    ladder = RetryLadder()
    assert [ladder.delay_after(attempt) for attempt in range(1, 8)] == [1, 5, 25, 125, 600, None, None]
    assert ladder.attempts_max == len(DELAYS_SECONDS) + 1
    assert ladder.is_last(6)
    assert not ladder.is_last(5)


@given(st.floats(0.01, 1000))
def test_jitter_stays_within_a_fifth(seconds) -> None:
    assert seconds * (1 - JITTER) <= jittered(seconds) <= seconds * (1 + JITTER)


def test_a_problem_has_the_form_of_the_specification() -> None:
    document = json.loads(
        problems.render(
            ValidationFailed.of("amountMinor", "too much"), instance="/api/x", request_id="req_1", base_url="http://b"
        )
    )
    assert document == {
        "type": "http://b/errors/validation-failed",
        "title": "Validation failed",
        "status": 422,
        "detail": "amountMinor: too much",
        "instance": "/api/x",
        "code": "VALIDATION_FAILED",
        "invalid_params": [{"name": "amountMinor", "reason": "too much"}],
        "requestId": "req_1",
    }


def test_a_server_error_has_a_correlation_id() -> None:
    document = json.loads(problems.render(Problem(), instance="/", request_id="req_1", base_url="b"))
    assert document["correlationId"] == "req_1"


class Counted(ResponseModel):
    number: int


def test_the_envelope_has_milliseconds_and_version() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, 6_000, UTC)
    body = envelope.render(
        [Counted(number=1)], request_id="req_1", now=now, meta=CursorMeta, next_cursor=None, has_more=False, limit=20
    )
    assert json.loads(body) == {
        "success": True,
        "data": [{"number": 1}],
        "meta": {
            "timestamp": "2026-01-02T03:04:05.006Z",
            "version": "v1",
            "requestId": "req_1",
            "next_cursor": None,
            "has_more": False,
            "limit": 20,
        },
    }


def test_the_meta_of_an_envelope_has_the_fields_of_its_model() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    for fields in ({}, {"next_cursor": None, "has_more": False}, {"limit": 20, "more": 1}):
        with pytest.raises(TypeError):
            envelope.render([], request_id="req_1", now=now, meta=CursorMeta, **fields)
    with pytest.raises(TypeError):
        envelope.render([], request_id="req_1", now=now, limit=20)


def test_times_are_utc_with_milliseconds() -> None:
    assert iso(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00.000Z"


def test_revocations_are_held_for_the_lifetime_of_a_token() -> None:
    revocations, began = Revocations(), datetime(2026, 3, 1, tzinfo=UTC)
    revocations.forget_old(began)
    ended, suspended = new_id(), new_id()
    revocations.add(suspended, ended, began)
    revocations.add(suspended, None, began + timedelta(seconds=1))
    callers = [Caller(new_id(), ended), Caller(suspended, new_id(), issued_at=began)]
    for hours in range(1, 4):
        revocations.forget_old(began + timedelta(hours=hours))
        assert all(map(revocations.cover, callers))
    assert not revocations.cover(Caller(suspended, new_id(), issued_at=began + timedelta(seconds=2)))
    revocations.forget_old(began + timedelta(hours=4))
    assert not any(map(revocations.cover, callers))


def test_a_step_up_ends_after_fifteen_minutes() -> None:
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    Caller(user_id=new_id(), stepped_up_at=now - timedelta(minutes=15)).must_have_stepped_up(now)
    for at in (None, now - timedelta(minutes=15, seconds=1)):
        with pytest.raises(StepUpRequired):
            Caller(user_id=new_id(), stepped_up_at=at).must_have_stepped_up(now)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pin", "123456"),
        ("delivery_pin", "1"),
        ("password", "x"),
        ("access_token", "x"),
        ("api_key", "x"),
        ("account_number", "0123456789"),
        ("note", "Bearer abc.def"),
        ("url", "amqp://user:pass@host/"),
        ("text", "eyJhbGciOi.eyJzdWIi.sig"),
    ],
)
def test_secrets_never_reach_the_log(name: str, value: str) -> None:
    line = redact(None, "", {name: value, "inner": {name: value}})
    assert value not in str(line)
    assert REDACTED in line[name]


def test_harmless_values_are_logged() -> None:
    facts = {"posting_key": "k", "bank_code": "058", "status_code": 200, "queue": "orders.payments"}
    assert redact(None, "", dict(facts)) == facts
