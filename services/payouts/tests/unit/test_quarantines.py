import pytest

from common.ids import new_id
from payouts.domain.quarantines import confirms_failure, judge_fate
from payouts.domain.returns import Attempt, PayoutInHand
from payouts.domain.transfer_news import News, TransferInHand


def payout(status, retry_count, *attempts, contradicted=False):
    listed = tuple(Attempt(new_id(), "po-1", attempt, contradicted=contradicted) for attempt in attempts)
    return PayoutInHand(new_id(), new_id(), 100, status, retry_count, None, listed, None)


@pytest.mark.parametrize(
    ("held", "fate"),
    [
        (payout("pending", 0), "restitute"),
        (payout("pending", 0, "reserved"), "restitute"),
        (payout("pending", 1, "failed", "reserved"), "restitute"),
        (payout("pending", 1, "pending", "reserved"), "hold"),
        (payout("pending", 1, "failed", "reserved", contradicted=True), "hold"),
        (payout("pending", 0, "submitting"), "hold"),
        (payout("pending", 0, "unknown"), "hold"),
        (payout("pending", 0, "pending"), "hold"),
        (payout("pending", 0, "failed"), "hold"),
        (payout("pending", 1, "failed", "reversed"), "hold"),
        (payout("processed", 0, "success"), "leave"),
        (payout("failed", 0, "failed"), "leave"),
    ],
)
def test_only_what_was_never_submitted_comes_back_without_the_gateways_word(held, fate):
    assert judge_fate(held) == fate


def in_hand():
    return TransferInHand(new_id(), new_id(), new_id(), new_id(), "po-1", "pending", 100, "NGN", "pending", None)


@pytest.mark.parametrize(
    ("news", "confirmed"),
    [
        (News("query", "failed", 100, "NGN"), True),
        (News("query", "reversed", 100, "NGN"), True),
        (News("call", "failed", 100, "NGN"), True),
        (News("webhook", "failed", 100, "NGN"), False),
        (News("query", "failed", 99, "NGN"), False),
        (News("query", "failed", 100, "GHS"), False),
        (News("query", "success", 100, "NGN"), False),
        (News("query", "pending", 100, "NGN"), False),
    ],
)
def test_a_failure_is_confirmed_by_the_gateways_own_answer_over_the_whole_amount(news, confirmed):
    assert confirms_failure(in_hand(), news) is confirmed
