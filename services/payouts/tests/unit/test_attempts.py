from datetime import UTC, datetime

import pytest

from api_gateway.routes import DISPATCH_SECONDS_MAX
from common.ids import new_id
from payouts.domain.attempts import (
    after_call,
    after_question,
    is_to_be_sent_again,
    judge_submission,
    may_ask,
    status_taken_up,
)
from payouts.domain.dispatch import FIRST_ASK, SEND_FOR_SECONDS, wait_before_asking
from payouts.domain.gateway_answers import Absent, Refused, Told, Unclear
from payouts.domain.transfer_news import News, TransferInHand
from payouts.settings import Settings

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def transfer(status: str = "submitting", asks: int = 0) -> TransferInHand:
    return TransferInHand(
        new_id(), new_id(), new_id(), new_id(), "po-1", status, 1_000, "NGN", "pending", None, asks
    )  # fmt: skip


def told(status: str) -> Told:
    return Told(News("query", status, 1_000, "NGN"))


@pytest.mark.parametrize(
    ("status", "leased", "was", "reason", "move"),
    [
        ("reserved", True, "reserved", None, "send"),
        ("unknown", True, "unknown", None, "send"),
        ("submitting", True, "reserved", None, "leave"),
        ("success", True, "unknown", None, "leave"),
        ("reserved", False, "reserved", None, "leave"),
        ("reserved", True, "reserved", "vendor_suspended", "hold"),
        ("reserved", True, "reserved", "bank_details_changed", "hold"),
        ("reserved", True, "reserved", "not_pending", "hold"),
        ("unknown", True, "unknown", "bank_details_changed", "fail"),
        ("unknown", True, "unknown", "vendor_suspended", "wait"),
    ],
)
def test_one_who_moves_it_sends_it_and_what_is_held_stays(status, leased, was, reason, move):
    assert judge_submission(status, leased, was, reason) == move


def test_a_dead_dispatcher_leaves_an_attempt_of_which_nobody_knows_whether_it_was_sent():
    assert [status_taken_up(status) for status in ("reserved", "submitting", "pending")] == [
        "reserved",
        "unknown",
        "pending",
    ]


def test_only_what_is_unknown_and_absent_at_the_gateway_is_sent_again():
    assert is_to_be_sent_again("unknown", Absent())
    assert not is_to_be_sent_again("pending", Absent())
    assert not is_to_be_sent_again("unknown", Unclear("timeout"))
    assert [may_ask(status) for status in ("reserved", "submitting", "unknown", "pending")] == [
        False,
        False,
        True,
        True,
    ]


def test_a_call_without_an_answer_is_no_failure():
    after = after_call(transfer(), Unclear("timeout"), NOW)
    assert (after.is_unknown, after.news, after.ask_at) == (True, None, NOW + wait_before_asking(0))


def test_a_refusal_is_a_failed_attempt_and_what_is_on_its_way_is_asked_about():
    refused = after_call(transfer(), Refused("no such bank"), NOW)
    assert refused.news is not None
    assert (refused.news.status, refused.news.reason, refused.ask_at) == ("failed", "no such bank", None)
    assert after_call(transfer(), told("pending"), NOW).ask_at == NOW + FIRST_ASK
    assert after_call(transfer(), told("success"), NOW).ask_at is None


def test_the_asking_goes_on_and_from_the_fifth_question_people_hear_of_it():
    opened = [after_question(transfer("unknown", asks), Unclear("timeout"), NOW).opens for asks in range(6)]
    assert opened == [None] * 4 + ["timeout"] * 2
    assert all(after_question(transfer("unknown", asks), Unclear("timeout"), NOW).ask_at for asks in range(50))


def test_a_dispatch_answers_within_the_route_of_the_gateway():
    longest = next(rule.le for rule in Settings.model_fields["gateway_timeout_seconds"].metadata if hasattr(rule, "le"))
    # The balance, then what had begun when the time was up: recipient, transfer, and verify after a refusal.
    assert longest + SEND_FOR_SECONDS + 3 * longest < DISPATCH_SECONDS_MAX
