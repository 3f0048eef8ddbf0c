import pytest

from common.primitives.ids import new_id
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate, consequences_of, evaluate_update

# effective status, payout, source, report -> verdict
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
    # Another attempt was processed: this one would be a second payment.
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


def locked_transfer(
    effective_status: str | None, payout_status: str = "pending", amount_minor: int = 500
) -> LockedTransfer:
    ids = [new_id() for _ in range(4)]
    return LockedTransfer(*ids, "po-1", "pending", amount_minor, "NGN", payout_status, effective_status)


@pytest.mark.parametrize(("effective_status", "payout_status", "update_source", "status", "verdict"), TABLE)
def test_reports_are_evaluated_by_state_and_never_by_arrival(
    effective_status: str | None, payout_status: str, update_source: str, status: str, verdict: str
) -> None:
    assert (
        evaluate_update(
            locked_transfer(effective_status, payout_status), TransferUpdate(update_source, status, 500, "NGN")
        )
        == verdict
    )


@pytest.mark.parametrize(("amount_minor", "currency"), [(499, "NGN"), (501, "NGN"), (500, "GHS")])
def test_a_success_over_another_amount_or_currency_is_a_contradiction(amount_minor: int, currency: str) -> None:
    assert (
        evaluate_update(locked_transfer("pending"), TransferUpdate("webhook", "success", amount_minor, currency))
        == "contradiction"
    )


@pytest.mark.parametrize("status", ["failed", "rejected", "success", "reversed"])
@pytest.mark.parametrize("first_source", ["webhook", None])
def test_a_query_sets_the_status_whatever_was_reported_first(status: str, first_source: str | None) -> None:
    """A webhook's failure does not change the row; otherwise no confirmed failure could be reset or returned."""
    transfer = locked_transfer(status if first_source else "pending", "processed" if status == "success" else "pending")
    if status == "success" and first_source is None:
        transfer = locked_transfer("pending")
    assert transfer.status == "pending"
    assert consequences_of(transfer, TransferUpdate("query", status, 500, "NGN")).sets_status


def test_a_late_success_keeps_the_exception_of_its_reversal_open() -> None:
    for update_source in ("webhook", "query", "call"):
        follows = consequences_of(locked_transfer("reversed"), TransferUpdate(update_source, "success", 500, "NGN"))
        assert (follows.verdict, follows.completes_payout, follows.closes_exception) == ("late_success", True, False)
    # A repetition for the payout that it completed changes nothing.
    again = consequences_of(locked_transfer("reversed", "processed"), TransferUpdate("webhook", "success", 500, "NGN"))
    assert (again.verdict, again.completes_payout, again.opens, again.needs_query) == ("repeated", False, None, False)


@pytest.mark.parametrize("effective_status", [None, "pending", "failed"])
@pytest.mark.parametrize("payout_status", ["processed", "failed"])
@pytest.mark.parametrize("update_source", ["webhook", "call", "query"])
def test_a_second_success_of_one_payout_is_never_a_repetition(
    effective_status: str | None, payout_status: str, update_source: str
) -> None:
    follows = consequences_of(
        locked_transfer(effective_status, payout_status), TransferUpdate(update_source, "success", 500, "NGN")
    )
    assert (follows.verdict, follows.completes_payout, follows.opens) == ("contradiction", False, "unclassified")
    assert follows.needs_query is (update_source != "query")
    assert follows.sets_status is (update_source == "query")
