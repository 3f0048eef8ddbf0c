from datetime import timedelta

import pytest

from common.primitives.ids import new_id
from common.primitives.problems import Conflict
from payouts.domain.returns import (
    Attempt,
    LockedPayout,
    check_cancellation,
    check_reset,
    check_restitution,
    describe_posting,
    earlier_attempts_failed,
    plan_reconciliation,
    reconciliation_hash,
    wait_before_retry,
)
from payouts.domain.wallet import WalletSnapshot
from testkit.cases import for_each

# payout, kind of its return, its attempts -> results of a reset, a restitution and a reconciliation
TABLE = [
    ("pending", None, "", "NoTransferSent", True, "NoTransferSent"),
    ("pending", None, "reserved", "NoTransferSent", True, "NoTransferSent"),
    ("pending", None, "submitting", "TransferUnderWay", "TransferUnderWay", "TransferUnderWay"),
    ("pending", None, "unknown", "TransferUnderWay", "TransferUnderWay", "TransferUnderWay"),
    ("pending", None, "otp", "TransferUnderWay", "TransferUnderWay", "TransferUnderWay"),
    ("pending", None, "failed", None, True, "restitution"),
    ("pending", None, "rejected", None, True, "restitution"),
    ("pending", None, "reversed", "ReversedTransferNotResettable", True, "restitution"),
    ("pending", None, "failed reserved", "AttemptAlreadyReserved", True, "AttemptAlreadyReserved"),
    ("pending", None, "failed held", "AttemptAlreadyReserved", True, "restitution"),
    ("pending", None, "failed pending", "TransferUnderWay", "TransferUnderWay", "TransferUnderWay"),
    ("pending", None, "failed failed failed failed", "RetryLimitReached", True, "restitution"),
    ("pending", None, "contradicted", "TransferContradicted", "TransferContradicted", "TransferContradicted"),
    ("processed", None, "success", "PayoutNotPending", "PayoutNotPending", "NothingToReconcile"),
    ("processed", None, "failed success", "PayoutNotPending", "PayoutNotPending", "NothingToReconcile"),
    ("processed", None, "reversed", "PayoutNotPending", "PayoutNotPending", "reversal"),
    ("processed", None, "success success", "PayoutNotPending", "PayoutNotPending", "recovery"),
    ("processed", None, "success recovered", "PayoutNotPending", "PayoutNotPending", "NothingToReconcile"),
    ("processed", None, "success recovered-reversed", "PayoutNotPending", "PayoutNotPending", "reversal"),
    ("processed", None, "reversed recovered", "PayoutNotPending", "PayoutNotPending", "reversal"),
    ("processed", None, "reversed success", "PayoutNotPending", "PayoutNotPending", "NothingToReconcile"),
    ("processed", "reversal", "success recovered-reversed", "AmountAlreadyReturned", "AmountAlreadyReturned",
        "NothingToReconcile"),
    ("processed", "reversal", "reversed recovered-reversed", "AmountAlreadyReturned", "AmountAlreadyReturned",
        "recovery_returned"),
    ("processed", "reversal", "reversed", "AmountAlreadyReturned", "AmountAlreadyReturned", "NothingToReconcile"),
    # A payout with a contradicted transfer is not reconciled before its query.
    ("processed", None, "reversed contradicted", "PayoutNotPending", "PayoutNotPending", "TransferContradicted"),
    ("processed", "reversal", "recovered-reversed contradicted", "AmountAlreadyReturned", "AmountAlreadyReturned",
        "TransferContradicted"),
    # Failed without a return: no repetition of one.
    ("failed", None, "failed", "PayoutNotPending", "PayoutNotPending", "NothingToReconcile"),
    ("failed", "restitution", "failed", "AmountAlreadyReturned", False, "NothingToReconcile"),
    ("failed", "restitution", "success", "AmountAlreadyReturned", False, "recovery"),
    ("failed", "restitution", "recovered-reversed", "AmountAlreadyReturned", False, "recovery_returned"),
    ("failed", "restitution", "recovered", "AmountAlreadyReturned", False, "NothingToReconcile"),
]  # fmt: skip


def attempt(word):
    others = {"held": "reserved", "contradicted": "failed", "recovered": "success", "recovered-reversed": "reversed"}
    status = others.get(word, word)
    return Attempt(
        new_id(),
        "po-1",
        status,
        leased=word == "reserved",
        contradicted=word == "contradicted",
        recovered=word.startswith("recovered"),
        sent=status != "reserved",
    )


def outcome(act, *arguments):
    try:
        return act(*arguments)
    except Conflict as refused:
        return type(refused).__name__


@for_each(("status", "returned", "attempts", "reset", "restitution", "kind"), TABLE)
def test_the_attempts_decide_which_returns_are_allowed(
    status: str, returned: str | None, attempts: str, reset: str | None, restitution, kind: str
) -> None:
    words = attempts.split()
    payout = LockedPayout(
        new_id(), new_id(), 500, status, max(0, len(words) - 1), "po-1", tuple(map(attempt, words)), returned
    )
    assert outcome(check_reset, payout) == reset
    assert outcome(check_restitution, payout) == restitution
    plan = outcome(plan_reconciliation, payout, WalletSnapshot(0, 0, 0, None, False))
    assert getattr(plan, "kind", plan) == kind


def payout_with(words: str, status: str = "pending", returned: str | None = None) -> LockedPayout:
    attempts = tuple(map(attempt, words.split()))
    return LockedPayout(new_id(), new_id(), 500, status, 0, "po-1", attempts, returned)


@pytest.mark.parametrize(
    ("payout", "expected"),
    [
        (payout_with(""), True),
        (payout_with("reserved"), True),
        (payout_with("held"), True),
        (payout_with("failed"), "TransferAlreadySent"),
        (payout_with("unknown"), "TransferAlreadySent"),
        (payout_with("failed reserved"), "TransferAlreadySent"),
        (payout_with("success", "processed"), "TransferAlreadySent"),
        (payout_with("", "processed"), "PayoutNotPending"),
        (payout_with("", "failed", "restitution"), False),
    ],
)
def test_only_a_payout_that_was_never_sent_is_cancelled(payout: LockedPayout, expected: bool | str) -> None:
    assert outcome(check_cancellation, payout) == expected


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ("reserved", True),
        ("failed reserved", True),
        ("rejected reversed reserved", True),
        ("success reserved", False),
        ("failed unknown reserved", False),
        ("pending failed reserved", False),
        ("contradicted reserved", False),
        ("contradicted failed reserved", False),
    ],
)
def test_a_later_attempt_is_sent_only_after_all_earlier_ones_failed(attempts: str, expected: bool) -> None:
    assert earlier_attempts_failed(payout_with(attempts)) is expected


@pytest.mark.parametrize(
    ("status", "returned", "attempts", "kind", "position"),
    [
        # The last success that the ledger does not have: never a failed one, never one that was recovered before.
        ("processed", None, "success success failed", "recovery", 1),
        ("processed", None, "success success recovered", "recovery", 1),
        ("processed", None, "success recovered success", "recovery", 2),
        ("failed", "restitution", "success failed", "recovery", 0),
        # The recovered transfer that came back, not one that still has the money.
        ("processed", "reversal", "reversed recovered-reversed recovered", "recovery_returned", 1),
        ("processed", "reversal", "reversed recovered recovered-reversed", "recovery_returned", 2),
        ("processed", "reversal", "recovered-reversed reversed", "recovery_returned", 0),
    ],
)
def test_a_reconciliation_names_the_transfer_that_it_is_about(
    status: str, returned: str | None, attempts: str, kind: str, position: int
) -> None:
    payout = payout_with(attempts, status, returned)
    plan = plan_reconciliation(payout, WalletSnapshot(0, 0, 0, None, False))
    assert (plan.kind, plan.transfer_id) == (kind, payout.attempts[position].id)
    assert plan.posting.key == f"{kind}:{plan.transfer_id}"


def test_the_wait_doubles_with_each_reset() -> None:
    first = timedelta(seconds=60)
    assert [wait_before_retry(count, first) for count in (1, 2, 3)] == [first, 2 * first, 4 * first]


@pytest.mark.parametrize(("debt_minor", "expected"), [(0, 500), (200, 300), (900, 0)])
def test_a_return_repays_debt_first(debt_minor: int, expected: int) -> None:
    payout = LockedPayout(new_id(), new_id(), 500, "processed", 0, "po-1", (attempt("reversed"),), None)
    posting = plan_reconciliation(payout, WalletSnapshot(0, debt_minor, 0, None, False)).posting
    entries = {entry.account.name: entry.amount_minor for entry in posting.entries}
    assert -entries.get(f"wallet:{payout.vendor_id}", 0) == expected
    assert entries["gateway_cash"] == 500


@pytest.mark.parametrize(("available_minor", "expected_debt"), [(500, 0), (120, 380), (0, 500)])
def test_the_shortfall_of_a_recovery_becomes_debt(available_minor: int, expected_debt: int) -> None:
    attempts = (attempt("success"), attempt("success"))
    payout = LockedPayout(new_id(), new_id(), 500, "processed", 1, "po-1", attempts, None)
    plan = plan_reconciliation(payout, WalletSnapshot(available_minor, 0, 0, None, False))
    entries = {entry.account.name: entry.amount_minor for entry in plan.posting.entries}
    assert (plan.transfer_id, entries.get(f"vendor_debt:{payout.vendor_id}", 0)) == (attempts[1].id, expected_debt)


def test_the_hash_changes_with_payout_kind_and_every_entry() -> None:
    payout = LockedPayout(new_id(), new_id(), 500, "processed", 0, "po-1", (attempt("reversed"),), None)
    postings = [
        [describe_posting(plan_reconciliation(payout, WalletSnapshot(0, debt_minor, 0, None, False)).posting)]
        for debt_minor in (0, 1)
    ]
    hashes = {
        reconciliation_hash(payout.id, "reversal", postings[0]),
        reconciliation_hash(payout.id, "reversal", postings[1]),
        reconciliation_hash(payout.id, "restitution", postings[0]),
        reconciliation_hash(new_id(), "reversal", postings[0]),
    }
    assert len(hashes) == 4
    assert reconciliation_hash(payout.id, "reversal", postings[0]) in hashes
