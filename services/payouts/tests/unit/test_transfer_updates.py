from dataclasses import replace

import pytest

from common.primitives.ids import new_id
from payouts.domain.transfer_updates import (
    Consequences,
    LockedTransfer,
    TransferUpdate,
    consequences_of,
    evaluate_update,
)
from payouts.domain.transitions import REPORTS
from testkit.cases import for_each

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


# The row's status, the effective status, the payout, source and report -> verdict and effects: the status is `set`, the
# transfer is `submitted`, the payout is `paid`, the exception is `closed`, or `opened` with a cause, the gateway
# `queried`.
EFFECTS = [
    # The gateway accepts a transfer. A webhook changes the row only with a success.
    ("submitting", None, "pending", "call", "pending", "advanced set submitted"),
    ("unknown", None, "pending", "query", "otp", "advanced set submitted"),
    ("submitting", None, "pending", "webhook", "pending", "advanced"),
    ("pending", "pending", "pending", "query", "otp", "advanced set"),
    ("pending", "pending", "pending", "query", "pending", "repeated"),
    ("submitting", None, "pending", "webhook", "success", "advanced set submitted paid closed"),
    ("pending", "pending", "pending", "webhook", "success", "advanced set paid closed"),
    # The webhook of a failure came before the response to the call.
    ("submitting", "failed", "pending", "call", "pending", "stale set submitted"),
    # A failure or reversal moves no money; only the gateway's own response changes the row.
    ("pending", "pending", "pending", "webhook", "failed", "advanced opened:unclassified"),
    ("pending", "pending", "pending", "query", "failed", "advanced set opened:unclassified"),
    ("submitting", None, "pending", "call", "failed", "advanced set opened:unclassified"),
    ("success", "success", "processed", "webhook", "reversed", "advanced opened:reversed"),
    ("success", "success", "processed", "query", "reversed", "advanced set opened:reversed"),
    # The gateway, queried, confirms a success: that closes the exception, and never one of a reversal.
    ("success", "success", "processed", "query", "success", "repeated set closed"),
    ("success", "success", "processed", "call", "success", "repeated"),
    ("failed", "failed", "pending", "query", "success", "confirmed set paid closed"),
    ("reversed", "reversed", "processed", "query", "success", "repeated set"),
    ("pending", "reversed", "pending", "webhook", "success", "late_success set paid"),
    # A repeated webhook disagrees with the last response: the gateway is queried, and its response decides.
    ("reversed", "reversed", "processed", "webhook", "success", "repeated queried"),
    ("success", "reversed", "processed", "webhook", "success", "repeated"),
    ("success", "reversed", "processed", "webhook", "reversed", "repeated queried"),
    ("success", "reversed", "processed", "query", "reversed", "repeated set opened:reversed"),
    ("reversed", "reversed", "processed", "query", "reversed", "repeated set"),
    ("reversed", "reversed", "processed", "webhook", "reversed", "repeated"),
    # Contradictions are never dropped; the response to a query causes no further one.
    ("failed", "failed", "pending", "webhook", "success", "contradiction opened:unclassified queried"),
    ("failed", "failed", "pending", "call", "success", "contradiction opened:unclassified queried"),
    ("failed", "failed", "pending", "query", "rejected", "contradiction set opened:unclassified"),
    # Late reports.
    ("success", "success", "processed", "call", "pending", "stale"),
    ("reversed", "reversed", "processed", "query", "failed", "stale"),
]


def effects(follows: Consequences) -> str:
    flags = {
        "set": follows.sets_status,
        "submitted": follows.is_submitted,
        "paid": follows.completes_payout,
        "closed": follows.closes_exception,
        f"opened:{follows.opens}": follows.opens is not None,
        "queried": follows.needs_query,
    }
    return " ".join([follows.verdict, *(name for name, flag in flags.items() if flag)])


@for_each(("status", "effective_status", "payout_status", "source", "report", "expected"), EFFECTS)
def test_a_report_has_the_effects_of_its_source_and_of_the_state(
    status: str, effective_status: str | None, payout_status: str, source: str, report: str, expected: str
) -> None:
    transfer = replace(locked_transfer(effective_status, payout_status), status=status)
    assert effects(consequences_of(transfer, TransferUpdate(source, report, 500, "NGN"))) == expected


@for_each("source", ["webhook", "call", "query"])
@for_each("report", REPORTS)
def test_a_report_over_another_amount_only_opens_an_exception(source: str, report: str) -> None:
    follows = consequences_of(locked_transfer(None), TransferUpdate(source, report, 501, "NGN"))
    queried = "" if source == "query" else " queried"
    assert effects(follows) == f"contradiction opened:unclassified{queried}"
    assert f"reports {report} over 501 NGN" in follows.detail
    assert "the ledger has pending over 500 NGN" in follows.detail


def test_an_exception_has_the_reason_of_the_gateway_or_the_reported_status() -> None:
    pending = locked_transfer("pending")
    reason = "Account number is invalid"
    follows = consequences_of(pending, TransferUpdate("webhook", "failed", 500, "NGN", reason=reason))
    assert (follows.opens, follows.detail) == ("account_number_invalid", reason)
    follows = consequences_of(pending, TransferUpdate("webhook", "blocked", 500, "NGN"))
    assert (follows.opens, follows.detail) == ("unclassified", "The gateway reports the transfer as blocked.")


def test_only_a_transfer_that_paid_nothing_or_was_returned_has_a_failure() -> None:
    failures = [
        report for report in REPORTS if TransferUpdate("query", report, 500, "NGN", reason="no").failure == "no"
    ]
    assert failures == ["failed", "rejected", "blocked", "abandoned", "reversed"]
    for report in ("pending", "received", "otp", "success"):
        assert TransferUpdate("query", report, 500, "NGN", reason="no").failure is None


def locked_transfer(
    effective_status: str | None, payout_status: str = "pending", amount_minor: int = 500
) -> LockedTransfer:
    ids = [new_id() for _ in range(4)]
    return LockedTransfer(*ids, "po-1", "pending", amount_minor, "NGN", payout_status, effective_status)


@for_each(("effective_status", "payout_status", "update_source", "status", "verdict"), TABLE)
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
