"""Limits and validity of one-time codes, the owner of a number, and the delay of a login."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from common.primitives.ids import new_id
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.login_delays import LONGEST_PAUSE_SECONDS, pause_seconds
from identity.domain.one_time_codes import (
    TRIES_MAX,
    TRIES_OF_SOURCE_MAX,
    IssuedCode,
    codes_with_tries_left,
    is_redeemable,
)
from identity.domain.sessions import revocation_of
from identity.domain.user_agents import printable_user_agent
from identity.schemas.codes import VerifyCodeRequest
from identity.schemas.factors import VerifyFactorRequest

NOW = datetime(2026, 9, 1, 8, 0, 0, 500_000, tzinfo=UTC)


def issued(**changes: object) -> IssuedCode:
    code = IssuedCode(new_id(), b"", NOW + timedelta(minutes=10), 0, None, new_id())
    return replace(code, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "live"),
    [
        (issued(), True),
        (issued(tries=TRIES_MAX - 1), True),
        (issued(tries=TRIES_MAX), False),
        (issued(used_at=NOW), False),
        (issued(expires_at=NOW), False),
    ],
)
def test_a_code_is_valid_until_used_tried_too_often_or_expired(code: IssuedCode, live: bool) -> None:
    assert is_redeemable(code, NOW) is live
    assert codes_with_tries_left([code], {}, NOW) == [code] * live


def test_a_source_may_try_a_code_five_times() -> None:
    spent, left = issued(), issued()
    tries = {spent.id: TRIES_OF_SOURCE_MAX, left.id: TRIES_OF_SOURCE_MAX - 1}
    assert codes_with_tries_left([spent, left], tries, NOW) == [left]


def test_logins_are_slowed_down_to_a_bound_and_forgiven_after_an_hour() -> None:
    pauses = [pause_seconds(failures, NOW, NOW) for failures in range(12)]
    assert pauses[:5] == [0.0] * 5
    assert pauses == sorted(pauses)
    assert pauses[5] > 0
    assert pauses[-1] == pause_seconds(10**6, NOW, NOW) == LONGEST_PAUSE_SECONDS
    assert pause_seconds(100, NOW, NOW + timedelta(hours=1)) == 0.0
    assert pause_seconds(0, None, NOW) == 0.0


def test_a_login_of_the_second_in_which_everything_ended_is_not_revoked() -> None:
    second = NOW.replace(microsecond=0)
    long_ago, just_now = new_id(), new_id()
    last_issued = {long_ago: second - timedelta(milliseconds=1), just_now: second + timedelta(milliseconds=100)}
    everywhere = revocation_of(last_issued, NOW, one_goes_on=False)
    assert everywhere.not_before == second
    assert everywhere.session_ids == (just_now,)


def test_all_sessions_but_the_current_one_are_revoked_while_their_tokens_are_valid() -> None:
    forgotten, living = new_id(), new_id()
    last_issued = {forgotten: NOW - timedelta(minutes=16), living: NOW - timedelta(minutes=15)}
    revocation = revocation_of(last_issued, NOW, one_goes_on=True)
    assert revocation.not_before is None
    assert revocation.session_ids == (living,)


@pytest.mark.parametrize(
    ("responses", "kept"),
    [
        (None, None),
        ("", None),
        (" \t ", None),
        ("Mozilla/5.0 (X11)", "Mozilla/5.0 (X11)"),
        ("a\x07b\u202e c", "a b c"),
        ("x" * 500, "x" * 200),
    ],
)
def test_a_program_is_stored_printable_and_short(responses: str | None, kept: str | None) -> None:
    assert printable_user_agent(responses) == kept


def test_a_hmac_depends_on_the_key_and_on_where_the_parts_end() -> None:
    hashes = KeyedHashes(b"a hash key for tests")
    assert hashes.of("ab", "c") == hashes.of("ab", "c")
    others = {
        hashes.of("ab", "c"),
        hashes.of("a", "bc"),
        hashes.of("abc"),
        KeyedHashes(b"another key of tests").of("ab", "c"),
    }
    assert len(others) == 4


@pytest.mark.parametrize(
    "pasted", ["123456", "123 456", "123-456", "\u202a123\u2011456\u202c", "\uff11\uff12\uff13456"]
)
def test_a_code_is_accepted_as_users_paste_it(pasted: str) -> None:
    assert VerifyCodeRequest(email="a@unilag.edu.ng", code=pasted).code == "123456"
    assert VerifyFactorRequest(code=pasted).code == "123456"


@pytest.mark.parametrize("pasted", ["12345", "1234567", "12345x", "", "123456" + " " * 100])
def test_a_text_that_is_no_code_is_rejected(pasted: str) -> None:
    with pytest.raises(ValidationError):
        VerifyCodeRequest(email="a@unilag.edu.ng", code=pasted)


def test_a_recovery_code_is_accepted_with_any_separators() -> None:
    assert VerifyFactorRequest(code="\u200eK7QF\u20132XNA PD4M-WZ3T").code == "K7QF2XNAPD4MWZ3T"
