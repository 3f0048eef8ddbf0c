import pytest

from common.ids import new_id
from payouts.domain.transfer_news import News, TransferInHand, judge

# standing, payout, heard from, news -> verdict
TABLE = [
    (None, "pending", "call", "pending", "advanced"),
    (None, "pending", "webhook", "success", "advanced"),
    (None, "pending", "webhook", "failed", "advanced"),
    ("pending", "pending", "call", "otp", "advanced"),
    ("pending", "pending", "query", "pending", "repeated"),
    ("pending", "pending", "webhook", "success", "advanced"),
    ("pending", "pending", "webhook", "reversed", "advanced"),
    ("success", "processed", "call", "pending", "stale"),
    ("success", "processed", "webhook", "success", "repeated"),
    ("success", "processed", "webhook", "reversed", "advanced"),
    ("success", "processed", "webhook", "failed", "contradiction"),
    ("success", "processed", "query", "failed", "contradiction"),
    ("failed", "pending", "webhook", "failed", "repeated"),
    ("failed", "pending", "webhook", "rejected", "contradiction"),
    ("failed", "pending", "webhook", "success", "contradiction"),
    ("failed", "pending", "query", "success", "confirmed"),
    # Another attempt was processed: this one would be a second time.
    ("failed", "processed", "webhook", "success", "contradiction"),
    ("failed", "processed", "query", "success", "contradiction"),
    (None, "processed", "call", "success", "contradiction"),
    ("pending", "processed", "webhook", "success", "contradiction"),
    ("pending", "processed", "webhook", "failed", "advanced"),
    ("failed", "pending", "query", "pending", "stale"),
    ("reversed", "pending", "webhook", "success", "late_success"),
    ("reversed", "processed", "webhook", "success", "repeated"),
    ("reversed", "processed", "webhook", "failed", "stale"),
    ("reversed", "processed", "webhook", "reversed", "repeated"),
    ("failed", "failed", "webhook", "success", "contradiction"),
    ("failed", "failed", "query", "success", "contradiction"),
]


def in_hand(standing: str | None, payout_status: str = "pending", amount_minor: int = 500) -> TransferInHand:
    ids = [new_id() for _ in range(4)]
    return TransferInHand(*ids, "po-1", "pending", amount_minor, "NGN", payout_status, standing)


@pytest.mark.parametrize(("standing", "payout_status", "heard_from", "status", "verdict"), TABLE)
def test_news_is_judged_by_rank_and_never_by_arrival(standing, payout_status, heard_from, status, verdict):
    assert judge(in_hand(standing, payout_status), News(heard_from, status, 500, "NGN")) == verdict


@pytest.mark.parametrize(("amount_minor", "currency"), [(499, "NGN"), (501, "NGN"), (500, "GHS")])
def test_a_success_over_another_amount_or_currency_is_a_contradiction(amount_minor, currency):
    assert judge(in_hand("pending"), News("webhook", "success", amount_minor, currency)) == "contradiction"
