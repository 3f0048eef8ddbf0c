"""The pure rules of balances: what pays, and where a refund goes."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.domain.balances import NO_PARTS, PaidBy, Parts, RefundSplit, share_hold, split_refund

ONE, TWO = UUID(int=1), UUID(int=2)


def test_rewards_are_spent_first() -> None:
    assert Parts(50, 70).split_off(40) == Parts(40, 0)
    assert Parts(50, 70).split_off(80) == Parts(50, 30)
    assert Parts(50, 70).minus(Parts(50, 30)) == Parts(0, 40)


def test_a_hold_is_shared_in_proportion_with_the_remainder_on_the_last() -> None:
    assert share_hold(Parts(5, 5), {ONE: 100, TWO: 200}) == {ONE: Parts(1, 2), TWO: Parts(4, 3)}
    assert share_hold(Parts(0, 300), {ONE: 100, TWO: 200}) == {ONE: Parts(0, 100), TWO: Parts(0, 200)}


# An order of 500: 380 by the charge, 70 of refunds and 50 of rewards.
PAID = Parts(50, 70)


@pytest.mark.parametrize(
    ("amount", "returned", "to_balance", "expected"),
    [
        (200, 0, NO_PARTS, RefundSplit(200)),
        (250, 200, NO_PARTS, RefundSplit(180, Parts(0, 70))),
        (500, 0, NO_PARTS, RefundSplit(380, PAID)),
        (50, 450, Parts(0, 70), RefundSplit(0, Parts(50, 0))),
        (100, 100, Parts(0, 100), RefundSplit(100)),
    ],
)
def test_a_refund_goes_to_the_charge_first_and_rewards_return_last(amount, returned, to_balance, expected) -> None:
    assert split_refund(amount, 500, returned, PaidBy(PAID, to_balance), is_all_to_balance=False) == expected


def test_a_refund_to_the_balance_makes_no_money_of_a_reward() -> None:
    assert split_refund(500, 500, 0, PaidBy(PAID), is_all_to_balance=True) == RefundSplit(0, Parts(50, 450))


@given(
    st.integers(0, 200),
    st.integers(0, 200),
    st.integers(0, 200),
    st.lists(st.tuples(st.integers(1, 100), st.booleans()), max_size=8),
)
def test_refunds_never_return_more_to_a_source_than_it_paid(charge, refunds, rewards, requests) -> None:
    paid, held = Parts(rewards, refunds), charge + refunds + rewards
    returned, charge_returned, credited = 0, 0, NO_PARTS
    for requested_minor, is_all_to_balance in requests:
        amount = min(requested_minor, held - returned)
        split = split_refund(amount, held, returned, PaidBy(paid, credited), is_all_to_balance=is_all_to_balance)
        assert split.to_charge_minor + split.to_balance.total_minor == amount
        assert min(split.to_charge_minor, *split.to_balance) >= 0
        returned += amount
        charge_returned += split.to_charge_minor
        credited = Parts(
            credited.rewards_minor + split.to_balance.rewards_minor,
            credited.refunds_minor + split.to_balance.refunds_minor,
        )
        assert charge_returned <= charge
        assert credited.rewards_minor <= rewards
