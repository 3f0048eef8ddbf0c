import pytest

from common.primitives.ids import new_id
from payouts.domain.quarantines import confirms_failure, quarantine_action
from payouts.domain.returns import Attempt, LockedPayout
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate


def payout(status, retry_count, *attempts, contradicted=False):
    listed = tuple(
        Attempt(new_id(), "po-1", attempt, leased=False, contradicted=contradicted, recovered=False, sent=False)
        for attempt in attempts
    )
    return LockedPayout(new_id(), new_id(), 100, status, retry_count, None, listed, None)


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
        (payout("processed", 0, "success"), "none"),
        (payout("failed", 0, "failed"), "none"),
    ],
)
def test_only_an_unsubmitted_payout_returns_without_a_query(held, fate: str) -> None:
    assert quarantine_action(held) == fate


def locked_transfer():
    return LockedTransfer(new_id(), new_id(), new_id(), new_id(), "po-1", "pending", 100, "NGN", "pending", None)


@pytest.mark.parametrize(
    ("update", "confirmed"),
    [
        (TransferUpdate("query", "failed", 100, "NGN"), True),
        (TransferUpdate("query", "reversed", 100, "NGN"), True),
        (TransferUpdate("call", "failed", 100, "NGN"), True),
        (TransferUpdate("webhook", "failed", 100, "NGN"), False),
        (TransferUpdate("query", "failed", 99, "NGN"), False),
        (TransferUpdate("query", "failed", 100, "GHS"), False),
        (TransferUpdate("query", "success", 100, "NGN"), False),
        (TransferUpdate("query", "pending", 100, "NGN"), False),
    ],
)
def test_a_failure_is_confirmed_by_a_response_over_the_whole_amount(update, confirmed: bool) -> None:
    assert confirms_failure(locked_transfer(), update) is confirmed
