from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.ids import new_id
from common.primitives.problems import Conflict, ValidationFailed
from payouts.domain import accounts
from payouts.domain.errors import (
    AmountAboveWallet,
    BankDetailsQuarantined,
    BankDetailsUnverified,
    BelowMinimum,
    DebtOutstanding,
    EscrowLocked,
    RemainderPayable,
    VendorSuspended,
    WaiverNotWholeRemainder,
    WalletUnsettled,
)
from payouts.domain.wallet import (
    Movement,
    WalletLine,
    WalletSnapshot,
    check_payout_request,
    check_waiver,
    line_of_movement,
    repayment,
    shortfall,
    with_balances,
)

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


def snapshot(available_minor: int = 5_000, **changes: Any) -> WalletSnapshot:
    known = {"debt_minor": 0, "locked_minor": 50, "bank_details_version_id": VERSION, "bank_details_verified": True}
    return WalletSnapshot(available_minor, **(known | changes))


@pytest.mark.parametrize(
    ("wallet", "amount_minor", "error"),
    [
        # What another amount would not avoid comes first, in this order.
        (snapshot(suspended=True, debt_minor=1), 1, VendorSuspended),
        (snapshot(debt_minor=1, bank_details_quarantined=True), 1, DebtOutstanding),
        (snapshot(bank_details_quarantined=True, bank_details_verified=False), 1, BankDetailsQuarantined),
        (snapshot(bank_details_verified=False), 1, BankDetailsUnverified),
        (snapshot(bank_details_version_id=None), 1, BankDetailsUnverified),
        (snapshot(), 999, BelowMinimum),
        (snapshot(500), 999, BelowMinimum),
        (snapshot(), 5_051, AmountAboveWallet),
        (snapshot(), 5_050, EscrowLocked),
        (snapshot(), 5_001, EscrowLocked),
    ],
)
def test_the_errors_of_a_payout_request_have_the_order_of_the_contract(
    wallet: WalletSnapshot, amount_minor: int, error: type[Exception]
) -> None:
    with pytest.raises(error):
        check_payout_request(wallet, amount_minor, minimum_minor=1_000)


@pytest.mark.parametrize("amount_minor", [1_000, 1_001, 5_000])
def test_an_amount_from_the_minimum_to_all_of_the_wallet_can_be_requested(amount_minor: int) -> None:
    assert check_payout_request(snapshot(), amount_minor, minimum_minor=1_000) == VERSION


@pytest.mark.parametrize(
    ("wallet", "matters", "amount_minor", "error"),
    [
        (snapshot(999), [], 999, None),
        (snapshot(1), [], 1, None),
        # The remainder itself is an open matter of the wallet.
        (snapshot(999), ["wallet_remainder"], 999, None),
        # It is given up whole, as the vendor saw it.
        (snapshot(999), [], 998, WaiverNotWholeRemainder),
        (snapshot(999), [], 1_000, WaiverNotWholeRemainder),
        # A payout can pay it now, or later with what may still arrive.
        (snapshot(1_000), [], 1_000, RemainderPayable),
        (snapshot(1_001), ["escrow"], 1_001, RemainderPayable),
        (snapshot(999), ["escrow"], 999, WalletUnsettled),
        (snapshot(999), ["wallet_remainder", "escrow"], 998, WalletUnsettled),
        (snapshot(999, suspended=True), [], 999, VendorSuspended),
        (snapshot(1_000, suspended=True), ["escrow"], 1, VendorSuspended),
    ],
)
def test_a_vendor_gives_up_only_a_whole_remainder_that_no_payout_can_pay(
    wallet: WalletSnapshot, matters: list[str], amount_minor: int, error: type[Exception] | None
) -> None:
    if error is None:
        check_waiver(wallet, matters, amount_minor, 1_000)
        return
    with pytest.raises(error):
        check_waiver(wallet, matters, amount_minor, 1_000)


def test_an_unsettled_wallet_names_its_other_open_matters() -> None:
    with pytest.raises(WalletUnsettled, match=r"\(escrow, payout\)"):
        check_waiver(snapshot(999), ["escrow", "wallet_remainder", "payout"], 999, 1_000)


def test_a_statement_shows_the_balance_after_each_line() -> None:
    lines = [WalletLine("release", 701), WalletLine("debt_repaid", -200), WalletLine("payout", -501)]
    assert list(with_balances(100, lines)) == [(lines[0], 801), (lines[1], 601), (lines[2], 100)]
    assert list(with_balances(100, [])) == []


@pytest.mark.parametrize(
    ("debt_minor", "credit_minor", "repaid_minor"), [(0, 701, 0), (200, 701, 200), (701, 701, 701), (702, 701, 701)]
)
def test_a_credit_repays_debt_first(debt_minor: int, credit_minor: int, repaid_minor: int) -> None:
    assert repayment(debt_minor, credit_minor) == repaid_minor


@pytest.mark.parametrize(
    ("available_minor", "debit_minor", "short_minor"), [(702, 701, 0), (701, 701, 0), (700, 701, 1), (0, 701, 701)]
)
def test_what_the_wallet_lacks_of_a_debit_is_its_shortfall(
    available_minor: int, debit_minor: int, short_minor: int
) -> None:
    assert shortfall(available_minor, debit_minor) == short_minor


def test_the_whole_available_amount_can_be_requested() -> None:
    assert check_payout_request(WalletSnapshot(100, 0, 50, VERSION, True), 100) == VERSION


PARTS = st.tuples(*[st.integers(0, 10**12)] * 3)


@given(movement=PARTS, released=PARTS, is_stated=st.booleans(), is_reversal=st.booleans())
def test_the_parts_of_a_line_add_up_to_its_net_amount(
    movement: tuple[int, int, int], released: tuple[int, int, int], is_stated: bool, is_reversal: bool
) -> None:
    moved = Movement(*movement) if is_stated else Movement(movement[0])
    moved = moved.negated() if is_reversal else moved
    line = line_of_movement("refund", new_id(), moved, Movement(*released))
    parts = (line.gross_minor, line.commission_minor, line.delivery_fee_minor)
    assert None not in parts
    assert parts[0] - parts[1] - parts[2] == line.net_minor == moved.net_minor
    assert is_stated is not line.is_estimated
    # No part moves against the net amount.
    assert all(part * moved.net_minor >= 0 for part in parts)


@given(released=st.tuples(st.integers(1, 10**12), st.integers(0, 10**12), st.integers(0, 10**12)))
def test_an_estimate_for_all_of_an_order_is_exact(released: tuple[int, int, int]) -> None:
    line = line_of_movement("refund", new_id(), Movement(-released[0]), Movement(*released))
    assert (line.net_minor, line.commission_minor, line.delivery_fee_minor) == Movement(*released).negated()
