"""Every pair and every triple of reports, in every order, folded over the pure decision."""

from dataclasses import replace
from itertools import product

import pytest

from common.primitives.ids import new_id
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate, consequences_of
from payouts.domain.transitions import FAILURES, REPORTS, UNDER_WAY
from testkit.cases import for_each

AMOUNT = 500
QUERY = "query"
ENDS_WITHOUT_PAYING = frozenset(FAILURES)
START = LockedTransfer(*(new_id() for _ in range(4)), "po-1", "pending", AMOUNT, "NGN", "pending", "pending")


class FoldedTransfer:
    """A transfer that receives reports, as the database would hold it."""

    def __init__(self):
        self.transfer, self.live, self.queried, self.times_paid = START, False, False, 0

    def apply(self, status, update_source="webhook", amount_minor=AMOUNT):
        follows = consequences_of(self.transfer, TransferUpdate(update_source, status, amount_minor, "NGN"))
        if follows.sets_status:
            self.transfer = replace(self.transfer, status=status)
        if follows.verdict in ("advanced", "confirmed"):
            self.transfer = replace(self.transfer, effective_status=status)
        if follows.completes_payout and self.transfer.payout_status == "pending":
            self.transfer = replace(self.transfer, payout_status="processed")
            self.times_paid += 1
        self.live = (self.live and not follows.closes_exception) or follows.opens is not None
        self.queried = self.queried or follows.needs_query
        return self

    @property
    def state(self):
        return self.transfer.payout_status, self.live


def after(statuses):
    folded = FoldedTransfer()
    for status in statuses:
        folded.apply(status)
    return folded


def decides_by_arrival(pair):
    """Return a success and another end of the same rank: the first one recorded holds until a query."""
    return "success" in pair and not ENDS_WITHOUT_PAYING.isdisjoint(pair)


@for_each("pair", list(product(REPORTS, repeat=2)), ids=lambda pair: "-".join(pair))
def test_two_reports_end_in_the_same_state_in_any_order(pair) -> None:
    folded, turned = after(pair), after(reversed(pair))
    if decides_by_arrival(pair):
        assert (folded.queried, turned.queried, folded.live, turned.live) == (True, True, True, True)
    else:
        assert folded.state == turned.state
    assert max(folded.times_paid, turned.times_paid) <= 1


@for_each("pair", list(product(REPORTS, repeat=2)), ids=lambda pair: "-".join(pair))
def test_a_failure_is_never_dropped(pair) -> None:
    folded = after(pair)
    if not ENDS_WITHOUT_PAYING.isdisjoint(pair) or "reversed" in pair:
        assert folded.live
    contradicts = set(pair) <= {"success", *FAILURES} and pair[0] != pair[1]
    assert folded.queried is contradicts


def test_a_query_settles_three_reports_in_any_order() -> None:
    for order in product(REPORTS, repeat=3):
        folded = after(order).apply("success", QUERY)
        assert folded.state == ("processed", "reversed" in order), order
        assert folded.times_paid == 1, order


@pytest.mark.parametrize("status", REPORTS)
def test_repeated_and_late_reports_change_nothing(status) -> None:
    once, often = after([status]), after([status, status, status if status in UNDER_WAY else "pending", status])
    assert often.state == once.state
    assert often.times_paid == once.times_paid


@pytest.mark.parametrize("status", REPORTS)
def test_a_report_never_pays_a_returned_payout(status) -> None:
    folded = FoldedTransfer()
    folded.transfer = replace(folded.transfer, payout_status="failed", effective_status="failed")
    folded.apply(status).apply("success").apply("success", QUERY)
    assert folded.state == ("failed", True)
    assert (folded.times_paid, folded.queried) == (0, True)
