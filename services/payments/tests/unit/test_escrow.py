"""Releases and refunds of one order in any sequence: no money is lost or created, and rejections change nothing."""

from collections import defaultdict
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some

from common.ledger.posting import Posting
from payments.domain import escrow, postings
from payments.domain.accounts import HOME_CURRENCY
from payments.domain.charges import Charge, Covered, ExpectedPayment, SurchargeBound, classify_charge
from payments.domain.errors import EscrowBalanceDeficit, EscrowLocked, RefundExceedsHeld
from payments.domain.escrow import Escrow, Parts

ORDER, VENDOR = UUID(int=1), UUID(int=2)
BOUND = SurchargeBound(200, 200_000)


class MemoryLedger:
    """The ledger in memory, for random sequences of thousands of steps."""

    def __init__(self) -> None:
        self.balances: dict[str, int] = defaultdict(int)
        self.keys: set[str] = set()

    def post(self, posting: Posting) -> None:
        assert posting.currency == HOME_CURRENCY
        assert posting.key not in self.keys
        self.keys.add(posting.key)
        for entry in posting.entries:
            self.balances[entry.account.name] += entry.amount_minor
        for entry in posting.entries:
            if entry.account.guarded:
                assert self.balances[entry.account.name] <= 0, f"{entry.account.name} was overdrawn"

    def credit(self, name: str) -> int:
        return -self.balances[name]


STEPS = some.lists(
    some.tuples(some.sampled_from(["release", "refund", "charge", "dispute", "resolve"]), some.integers(1, 1_200_000)),
    max_size=25,
)


@given(
    total=some.integers(1, 1_000_000),
    commission_share=some.integers(0, 100),
    fee_share=some.integers(0, 100),
    steps=STEPS,
)
def test_the_escrow_is_consistent_after_every_step(
    total: int, commission_share: int, fee_share: int, steps: list[tuple[str, int]]
) -> None:
    commission = total * commission_share // 200
    fee = total * fee_share // 200
    ledger = MemoryLedger()
    state: Escrow | None = None
    charged = refunded = 0
    for step, amount in steps:
        before = (state, dict(ledger.balances))
        try:
            if step == "charge":
                charge = Charge(str(uuid4()), None, amount, "NGN", None, None, None)
                expected = ExpectedPayment(frozenset({ORDER}), total, total if state is None else 0, str(total))
                verdict = classify_charge(charge, expected, BOUND)
                refund_id = uuid4()
                if isinstance(verdict, Covered):
                    ledger.post(
                        postings.charge(
                            charge.identity,
                            {ORDER: verdict.escrow_minor},
                            refund_id,
                            amount_minor=amount,
                            surplus_minor=verdict.surplus_minor,
                            surcharge_minor=verdict.surcharge_minor,
                        )
                    )
                    state = escrow.held(total, commission, fee)
                elif state is not None and amount >= total:
                    ledger.post(postings.overpayment(charge.identity, refund_id, amount))
                else:
                    ledger.post(postings.quarantine(charge.identity, charge.reference, amount, "NGN"))
                charged += amount
            elif state is None:
                continue
            elif step == "release":
                plan = escrow.release(state, amount)
                ledger.post(postings.release(uuid4(), ORDER, VENDOR, plan.parts))
                state = plan.after
            elif step == "refund":
                back = escrow.refund(state, amount)
                ledger.post(
                    postings.refund(
                        uuid4(), ORDER, VENDOR, from_locked=back.from_locked, from_released=back.from_released
                    )
                )
                refunded += amount
                state = back.after
            else:
                state = Escrow(state.locked, state.released, state.refunded_minor, step == "dispute")
        except (EscrowLocked, EscrowBalanceDeficit, RefundExceedsHeld):
            assert (state, dict(ledger.balances)) == before
        assert sum(ledger.balances.values()) == 0
        assert ledger.balances["gateway_cash"] == charged
        if state is not None:
            assert ledger.credit(f"escrow:{ORDER}") == state.locked.total_minor
            assert ledger.credit(f"vendor_payable:{VENDOR}") == state.released.vendor_minor
            assert ledger.credit("commission") == state.released.commission_minor
            assert ledger.credit("delivery_fee") == state.released.delivery_fee_minor
            assert state.locked.total_minor + state.released.total_minor + state.refunded_minor == total
            assert state.refunded_minor == refunded


def test_a_partial_release_debits_each_part_in_proportion() -> None:
    plan = escrow.release(escrow.held(1_000, 50, 100), 333)
    assert plan.parts == Parts(vendor_minor=283, commission_minor=16, delivery_fee_minor=34)
    rest = escrow.release(plan.after, 667)
    assert rest.parts.plus(plan.parts) == Parts(850, 50, 100)
    assert rest.after.locked == Parts()


def test_a_release_above_the_locked_amount_names_the_parameter() -> None:
    with pytest.raises(EscrowBalanceDeficit) as rejection:
        escrow.release(escrow.held(1_000, 50, 100), 1_001)
    assert (rejection.value.http_status, rejection.value.code) == (409, "ESCROW_BALANCE_DEFICIT")
    assert [param.name for param in rejection.value.invalid_params] == ["amountMinor"]


def test_a_disputed_escrow_is_released_only_by_its_resolution() -> None:
    disputed = Escrow(Parts(850, 50, 100), is_disputed=True)
    with pytest.raises(EscrowLocked):
        escrow.release(disputed, 1)
    assert escrow.release(disputed, 1_000, resolves_dispute=True).after.locked == Parts()


def test_a_refund_debits_locked_money_before_released_money() -> None:
    half = escrow.release(escrow.held(1_000, 50, 100), 500).after
    plan = escrow.refund(half, 700)
    assert plan.from_locked.total_minor == 500
    assert plan.from_released.total_minor == 200
    assert plan.from_released == half.released.share(200)
    assert plan.after.refunded_minor == 700
    with pytest.raises(RefundExceedsHeld, match="301 kobo of 300"):
        escrow.refund(plan.after, 301)


def test_all_held_and_released_money_can_be_refunded_and_not_a_kobo_more() -> None:
    half = escrow.release(escrow.held(1_000, 50, 100), 500).after
    plan = escrow.refund(half, 1_000)
    assert plan.from_locked.plus(plan.from_released) == Parts(850, 50, 100)
    assert (plan.after.locked, plan.after.released, plan.after.refunded_minor) == (Parts(), Parts(), 1_000)
    with pytest.raises(RefundExceedsHeld, match="1001 kobo of 1000"):
        escrow.refund(half, 1_001)
    with pytest.raises(RefundExceedsHeld, match="1 kobo of 0"):
        escrow.refund(plan.after, 1)


@given(
    total=some.integers(3, 1_000_000),
    commission=some.floats(0, 0.5),
    fee=some.floats(0, 0.4),
    released=some.floats(0, 1),
    refunded=some.floats(0, 1),
    rate=some.floats(0, 1),
)
def test_a_refund_of_items_exceeds_no_part(
    total: int, commission: float, fee: float, released: float, refunded: float, rate: float
) -> None:
    state = escrow.held(total, int(total * commission), int(total * fee))
    state = escrow.release(state, int(total * released)).after
    amount = int(total * refunded)
    of_items = Parts(amount - int(amount * rate), int(amount * rate), 0)
    back = escrow.refund(state, amount, of_items)
    moved, left = back.from_locked.plus(back.from_released), state.locked.plus(state.released)
    assert moved.total_minor == amount
    assert min(*back.from_locked, *back.from_released, *back.after.locked, *back.after.released) >= 0
    if all(part <= most for part, most in zip(of_items, left, strict=True)):
        assert moved == of_items
    # The fee is used only where vendor and commission do not suffice.
    assert moved.delivery_fee_minor == max(0, amount - left.vendor_minor - left.commission_minor)
    assert back.after.locked.plus(back.after.released).total_minor + back.after.refunded_minor == total


def test_a_returned_item_includes_no_delivery_fee() -> None:
    """Items of 1,000,000 and 100 with a fee of 30,000: the dear one is returned."""
    state = escrow.release(escrow.held(1_030_100, 50_005, 30_000), 1_030_100).after
    back = escrow.refund(state, 1_000_000, Parts(950_000, 50_000, 0))
    assert back.after.released == Parts(vendor_minor=95, commission_minor=5, delivery_fee_minor=30_000)
