"""Decisions of maker and checker, and the value of an accepted charge."""

from uuid import uuid4

import pytest

from payments.clients.paystack_records import read_charge
from payments.domain.charges import ExpectedPayment
from payments.domain.destinations import names_match
from payments.domain.errors import ChargeCannotBeAccepted
from payments.domain.quarantine import Acceptance, evaluate_acceptance


def _expected(total_minor: int = 500, *, is_paid: bool = False) -> ExpectedPayment:
    return ExpectedPayment(uuid4(), total_minor, str(total_minor), is_paid)


@pytest.mark.parametrize(
    ("amount_minor", "is_paid", "worth"),
    [
        (500, False, Acceptance(500, 0)),
        (501, False, Acceptance(500, 1)),
        (500, True, Acceptance(0, 500)),
    ],
)
def test_an_accepted_charge_covers_its_order_and_the_rest_goes_back(
    amount_minor: int, is_paid: bool, worth: Acceptance
) -> None:
    assert evaluate_acceptance(amount_minor, "NGN", _expected(is_paid=is_paid)) == worth


@pytest.mark.parametrize("is_paid", [True, False])
def test_only_naira_and_a_whole_total_of_a_known_order_are_accepted(is_paid: bool) -> None:
    for amount_minor, currency, expected in (
        (500, "GHS", _expected(is_paid=is_paid)),
        (500, "XXX", _expected(is_paid=is_paid)),
        (499, "NGN", _expected(is_paid=is_paid)),
        (500, "NGN", None),
    ):
        with pytest.raises(ChargeCannotBeAccepted):
            evaluate_acceptance(amount_minor, currency, expected)


@pytest.mark.parametrize(
    ("data", "stands_in", "is_literal"),
    [("NGN", "NGN", True), ("GHS", "GHS", True), ("ngn", "NGN", False), ("Ghs", "GHS", False), ("₦", "XXX", False)],
)
def test_one_currency_has_one_code_and_only_the_gateway_s_own_spelling_pays(
    data: str, stands_in: str, is_literal: bool
) -> None:
    charge = read_charge({"amount": 1, "currency": data}, "webhook")
    assert (charge.currency, charge.is_currency_literal) == (stands_in, is_literal)


def test_names_match_in_any_order_and_case() -> None:
    assert names_match("Chidi Okafor", "OKAFOR, CHIDI")
    assert not names_match("Chidi Okafor", "CHIDI OKAFOR JR")
    assert not names_match("Chidi Okafor", None)
