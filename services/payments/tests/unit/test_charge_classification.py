"""The table of section 7 by row, and the edge cases of section 14."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from payments.clients.paystack_records import read_charge
from payments.domain.charges import (
    Charge,
    Covered,
    ExpectedPayment,
    ForeignCurrency,
    OrderMismatch,
    SecondCharge,
    SurchargeBound,
    Underpaid,
    UnknownReference,
    classify_charge,
)
from payments.domain.errors import MalformedEvent

ORDER = UUID("018cc251-f400-7000-8000-000000000001")
TOTAL = 500_000
# The contract's defaults: 2 % of the principal and 10,000 kobo, at most 200,000 (section 7.4).
BOUND = SurchargeBound(basis_points_max=200, minor_max=200_000)


def _classify(data: dict[str, Any], *, is_paid: bool = False, known: bool = True) -> Any:
    charge = read_charge({"id": 1, "reference": "ch-1", "amount": TOTAL, "currency": "NGN", **data}, "webhook")
    expected = ExpectedPayment(frozenset({ORDER}), TOTAL, 0 if is_paid else TOTAL, str(TOTAL))
    return classify_charge(charge, expected if known else None, BOUND)


def _metadata(**fields: Any) -> dict[str, Any]:
    return {"metadata": fields}


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        ({}, Covered(TOTAL, 0, 0)),
        ({"amount": TOTAL + 1}, Covered(TOTAL, 1, 0)),
        ({"amount": TOTAL - 1}, Underpaid()),
        ({"amount": 5_000}, Underpaid()),
        ({"currency": "GHS"}, ForeignCurrency()),
        ({"currency": "ngn"}, ForeignCurrency()),
        ({"currency": None}, ForeignCurrency()),
        ({"currency": 566}, ForeignCurrency()),
        (_metadata(orderId=str(ORDER)), Covered(TOTAL, 0, 0)),
        (_metadata(orderId=str(ORDER).upper()), Covered(TOTAL, 0, 0)),
        (_metadata(orderId="018cc251-f400-7000-8000-000000000002"), OrderMismatch()),
        (_metadata(orderId="another"), OrderMismatch()),
        (_metadata(orderId=7), OrderMismatch()),
        (_metadata(orderId=""), Covered(TOTAL, 0, 0)),
        (_metadata(orderId=None), Covered(TOTAL, 0, 0)),
        ({"metadata": 0}, Covered(TOTAL, 0, 0)),
        ({"metadata": ""}, Covered(TOTAL, 0, 0)),
        ({"metadata": []}, Covered(TOTAL, 0, 0)),
        ({"metadata": None}, Covered(TOTAL, 0, 0)),
        ({"integration": {"id": 5}}, Covered(TOTAL, 0, 0)),
    ],
)
def test_what_a_charge_of_an_unpaid_order_is_worth(data: dict[str, Any], verdict: Any) -> None:
    assert _classify(data) == verdict


@pytest.mark.parametrize(
    ("amount", "requested", "verdict"),
    [
        (TOTAL, TOTAL, Covered(TOTAL, 0, 0)),
        (TOTAL + 7_500, TOTAL, Covered(TOTAL, 7_500, 0)),
        # The gateway asked for its fee too.
        (TOTAL + 7_500, TOTAL + 7_000, Covered(TOTAL, 500, 7_000)),
        (TOTAL + 6_999, TOTAL + 7_000, Covered(TOTAL, 0, 6_999)),
        (TOTAL + 100_000, TOTAL + 50_000, Covered(TOTAL, 100_000, 0)),
        (TOTAL + 7_500, TOTAL - 1, Covered(TOTAL, 7_500, 0)),
        (TOTAL - 1, TOTAL, Underpaid()),
    ],
)
def test_a_transfer_above_the_requested_amount_is_surplus(amount: int, requested: int, verdict: Any) -> None:
    data = {"id": 1, "reference": "ch-1", "amount": amount, "currency": "NGN", "metadata": {"settlement": str(TOTAL)}}
    expected = ExpectedPayment(frozenset({ORDER}), TOTAL, TOTAL, str(TOTAL), requested)
    assert classify_charge(read_charge(data, "webhook"), expected, BOUND) == verdict


@pytest.mark.parametrize(
    ("amount", "settlement", "verdict"),
    [
        (TOTAL + 7_500, str(TOTAL), Covered(TOTAL, 0, 7_500)),
        (TOTAL, str(TOTAL), Covered(TOTAL, 0, 0)),
        (TOTAL + 7_500, str(TOTAL + 1), Covered(TOTAL, 7_500, 0)),
        (TOTAL + 7_500, f"0{TOTAL}", Covered(TOTAL, 7_500, 0)),
        (TOTAL + 7_500, f" {TOTAL}", Covered(TOTAL, 7_500, 0)),
        (TOTAL + 7_500, TOTAL, Covered(TOTAL, 7_500, 0)),
        (TOTAL + 7_500, "", Covered(TOTAL, 7_500, 0)),
        (TOTAL + 7_500, "-1", Covered(TOTAL, 7_500, 0)),
        (TOTAL - 1, str(TOTAL), Underpaid()),
    ],
)
def test_the_principal_is_the_settlement_only_when_our_intent_wrote_it(
    amount: int, settlement: Any, verdict: Any
) -> None:
    assert _classify({"amount": amount, "metadata": {"settlement": settlement}}) == verdict


@pytest.mark.parametrize(
    ("principal", "bound"),
    [(1, 10_000), (50, 10_001), (TOTAL, 20_000), (9_500_000, 200_000), (9_499_999, 199_999), (10**12, 200_000)],
)
def test_the_surcharge_bound_is_a_share_of_principal_and_a_flat_part_to_a_maximum(principal: int, bound: int) -> None:
    assert BOUND.max_minor(principal) == bound


@pytest.mark.parametrize(
    ("surcharge", "verdict"),
    [
        (19_999, Covered(TOTAL, 0, 19_999)),
        (20_000, Covered(TOTAL, 0, 20_000)),
        (20_001, Covered(TOTAL, 20_001, 0)),
        (9_500_000, Covered(TOTAL, 9_500_000, 0)),
    ],
)
def test_a_surcharge_above_its_bound_is_returned_whole(surcharge: int, verdict: Any) -> None:
    """For any metadata (contract section 7.4)."""
    assert _classify({"amount": TOTAL + surcharge, "metadata": {"settlement": str(TOTAL)}}) == verdict


@given(
    total=some.integers(1, 10**10),
    above_total=some.integers(0, 10**7),
    on_top=some.integers(0, 10**7),
    basis_points=some.integers(0, 10_000),
    minor_max=some.integers(0, 10**6),
)
@example(total=500_000, above_total=0, on_top=20_000, basis_points=200, minor_max=200_000)
@example(total=500_000, above_total=0, on_top=20_001, basis_points=200, minor_max=200_000)
def test_a_covering_charge_is_split_without_remainder(
    total: int, above_total: int, on_top: int, basis_points: int, minor_max: int
) -> None:
    principal, bound = total + above_total, SurchargeBound(basis_points, minor_max)
    data = {"reference": "ch-1", "amount": principal + on_top, "currency": "NGN"}
    charge = read_charge({**data, "metadata": {"settlement": str(principal)}}, "webhook")
    verdict = classify_charge(charge, ExpectedPayment(frozenset({ORDER}), total, total, str(principal)), bound)
    assert isinstance(verdict, Covered)
    assert verdict.escrow_minor == total
    assert verdict.escrow_minor + verdict.surplus_minor + verdict.surcharge_minor == principal + on_top
    is_within = on_top <= minor_max and on_top * 10_000 <= basis_points * principal + 10_000 * 10_000
    assert verdict.surcharge_minor == (on_top if is_within else 0)


def test_a_second_charge_is_returned_or_quarantined() -> None:
    assert _classify({}, is_paid=True) == SecondCharge()
    assert _classify({"amount": TOTAL - 1}, is_paid=True) == Underpaid()
    assert _classify({"currency": "GHS"}, is_paid=True) == ForeignCurrency()


def test_the_charge_of_a_purchase_pays_its_unpaid_orders_and_may_name_any_of_it() -> None:
    """An order of 200,000 of 700,000 was paid before: its total is due to the payer."""
    orders = [uuid4() for _ in range(3)]
    expected = ExpectedPayment(frozenset(orders), 700_000, 500_000, "700000")
    for named in (None, *map(str, orders)):
        charge = Charge("ch-1", "1", 700_100, "NGN", named, None, "card")
        assert classify_charge(charge, expected, BOUND) == Covered(500_000, 200_100, 0)
    for charge, verdict in (
        (Charge("ch-1", "1", 699_999, "NGN", None, None, "card"), Underpaid()),
        (Charge("ch-1", "1", 700_000, "NGN", str(uuid4()), None, "card"), OrderMismatch()),
    ):
        assert classify_charge(charge, expected, BOUND) == verdict


def test_a_reference_that_is_not_ours_is_unknown() -> None:
    assert _classify({}, known=False) == UnknownReference()


@pytest.mark.parametrize("amount", [None, "5000.00", 500_000.0, True, 0, -1, 10**19, {}, []])
def test_a_charge_without_a_usable_amount_is_unreadable(amount: Any) -> None:
    with pytest.raises(MalformedEvent):
        read_charge({"status": "success", "reference": "ch-1", "amount": amount}, "webhook")


def test_a_charge_without_a_reference_uses_the_webhooks_key() -> None:
    charge = read_charge({"amount": 1, "reference": {}}, "charge.success:5")
    assert (charge.reference, charge.gateway_id, charge.identity) == ("charge.success:5", None, "charge.success:5")
