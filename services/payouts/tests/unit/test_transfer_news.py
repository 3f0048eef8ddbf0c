import pytest

from common.ids import new_id
from payouts.domain.transfer_news import News, TransferInHand, consequences_of, judge

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


@pytest.mark.parametrize("status", ["failed", "rejected", "success", "reversed"])
@pytest.mark.parametrize("first_heard_from", ["webhook", None])
def test_what_the_gateway_says_when_asked_names_the_state_however_it_was_heard_first(status, first_heard_from):
    """A webhook of a failure leaves the row as it is: without this nobody could reset or return what the gateway confirms."""
    transfer = in_hand(status if first_heard_from else "pending", "processed" if status == "success" else "pending")
    if status == "success" and first_heard_from is None:
        transfer = in_hand("pending")
    assert transfer.status == "pending"
    assert consequences_of(transfer, News("query", status, 500, "NGN")).names_the_state


def test_a_late_success_completes_the_payout_and_leaves_the_exception_of_its_reversal_open():
    for heard_from in ("webhook", "query", "call"):
        follows = consequences_of(in_hand("reversed"), News(heard_from, "success", 500, "NGN"))
        assert (follows.verdict, follows.completes, follows.closes_the_exception) == ("late_success", True, False)
    # The payout that it completed hears of it again: that changes nothing.
    again = consequences_of(in_hand("reversed", "processed"), News("webhook", "success", 500, "NGN"))
    assert (again.verdict, again.completes, again.opens, again.asks_the_gateway) == ("repeated", False, None, False)


@pytest.mark.parametrize("standing", [None, "pending", "failed"])
@pytest.mark.parametrize("payout_status", ["processed", "failed"])
@pytest.mark.parametrize("heard_from", ["webhook", "call", "query"])
def test_a_second_success_of_one_payout_is_never_a_repetition(standing, payout_status, heard_from):
    follows = consequences_of(in_hand(standing, payout_status), News(heard_from, "success", 500, "NGN"))
    assert (follows.verdict, follows.completes, follows.opens) == ("contradiction", False, "unclassified")
    assert follows.asks_the_gateway is (heard_from != "query")
    assert follows.names_the_state is (heard_from == "query")
