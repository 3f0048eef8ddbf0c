import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.ids import new_id
from common.primitives.problems import Conflict, ValidationFailed
from payouts.domain import accounts
from payouts.domain.errors import BankDetailsUnverified, DebtOutstanding, EscrowLocked, VendorSuspended
from payouts.domain.wallet import WalletSnapshot, check_payout_request, repayment, shortfall

postings = st.lists(st.tuples(st.sampled_from(["release", "refund"]), st.integers(1, 10_000)), max_size=40)


@given(postings)
def test_wallet_and_debt_are_never_both_above_zero(history) -> None:
    vendor = new_id()
    ledger: dict[str, int] = {}

    def post(posting):
        for entry in posting.entries:
            name = entry.account.name.split(":")[0]
            ledger[name] = ledger.get(name, 0) + entry.amount_minor

    for kind, amount_minor in history:
        available, debt = -ledger.get("wallet", 0), ledger.get("vendor_debt", 0)
        if kind == "release":
            post(accounts.release("key", vendor, amount_minor, repayment(debt, amount_minor)))
        else:
            post(accounts.refund("key", vendor, amount_minor, shortfall(available, amount_minor)))
        assert -ledger.get("wallet", 0) >= 0
        assert ledger.get("vendor_debt", 0) >= 0
        assert ledger.get("wallet", 0) == 0 or ledger.get("vendor_debt", 0) == 0
    signed = sum(amount if kind == "release" else -amount for kind, amount in history)
    assert ledger.get("escrow_released", 0) == signed


VERSION = new_id()


@pytest.mark.parametrize(
    ("wallet", "amount_minor", "error"),
    [
        (WalletSnapshot(100, 0, 50, VERSION, True), 101, EscrowLocked),
        (WalletSnapshot(100, 0, 50, VERSION, True), 150, EscrowLocked),
        (WalletSnapshot(100, 0, 50, VERSION, True), 151, ValidationFailed),
        (WalletSnapshot(100, 0, 50, VERSION, False), 1, BankDetailsUnverified),
        (WalletSnapshot(100, 0, 50, None, False), 1, BankDetailsUnverified),
        (WalletSnapshot(0, 1, 50, VERSION, True), 1, DebtOutstanding),
        (WalletSnapshot(100, 0, 50, VERSION, True, suspended=True), 1, VendorSuspended),
    ],
)
def test_a_payout_request_is_refused_by_its_condition(wallet, amount_minor: int, error) -> None:
    with pytest.raises(error):
        check_payout_request(wallet, amount_minor)
    assert issubclass(DebtOutstanding, Conflict)


def test_the_whole_available_amount_can_be_requested() -> None:
    assert check_payout_request(WalletSnapshot(100, 0, 50, VERSION, True), 100) == VERSION
