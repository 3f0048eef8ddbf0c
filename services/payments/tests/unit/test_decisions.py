"""Decisions of maker and checker, and the value of an accepted charge."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from payments.clients.paystack_records import read_charge
from payments.domain.charges import ExpectedPayment
from payments.domain.decisions import QuarantineDecision, RefundDecision
from payments.domain.destinations import Destination, names_match
from payments.domain.errors import ChargeCannotBeAccepted
from payments.domain.quarantine import Acceptance, alert_key, evaluate_acceptance

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, SECOND, MAKER, OTHER = (UUID(int=number) for number in range(1, 5))
OF_CHARGE = QuarantineDecision(FIRST, MAKER, SECOND, "ch-1", 500, "NGN", "accept", "The payer sent the slip")
OF_REFUND = RefundDecision(
    FIRST,
    MAKER,
    SECOND,
    500,
    "NGN",
    "other_destination",
    "The card is closed",
    "RCP_1",
    "6789",
    "011",
    "Bola Ade",
    None,
)


def _expected(total_minor: int = 500, *, is_paid: bool = False) -> ExpectedPayment:
    return ExpectedPayment(frozenset({uuid4()}), total_minor, 0 if is_paid else total_minor, str(total_minor))


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


@pytest.mark.parametrize(
    ("decision", "changes"),
    [
        (
            OF_CHARGE,
            {
                "id": OTHER,
                "charge_id": OTHER,
                "reference": "ch-2",
                "amount_minor": 501,
                "currency": "GHS",
                "outcome": "return",
                "reason": "The payer sent a slip",
                "prepared_by": OTHER,
            },
        ),
        (
            OF_REFUND,
            {
                "id": OTHER,
                "refund_id": OTHER,
                "amount_minor": 501,
                "currency": "GHS",
                "action": "retry",
                "reason": "The card was closed",
                "prepared_by": OTHER,
                "recipient_code": "RCP_2",
                "account_last4": "6780",
                "bank_code": "058",
                "account_name": "Bola Ada",
                "name_at_bank": "BOLA ADE",
            },
        ),
    ],
    ids=["charge", "refund"],
)
def test_a_checker_approves_the_hash_of_every_field(
    decision: QuarantineDecision | RefundDecision, changes: dict[str, Any]
) -> None:
    assert changes.keys() == {*decision.__dataclass_fields__}
    others = {replace(decision, **{name: value}).hash for name, value in changes.items()}
    assert len(others | {decision.hash}) == len(changes) + 1
    assert replace(decision).hash == decision.hash
    prepared = decision.prepared("prepared", NOW)
    assert (prepared.status, prepared.prepared_by, prepared.hash) == ("prepared", MAKER, decision.hash)


def test_only_the_last_four_digits_of_an_account_are_stored() -> None:
    assert Destination("0123456789", "011", "Bola Ade").last4 == "6789"


def test_the_alert_of_a_quarantined_charge_has_its_key() -> None:
    assert alert_key(FIRST) == f"quarantined-charge:{FIRST}"


def test_names_match_in_any_order_and_case() -> None:
    assert names_match("Chidi Okafor", "OKAFOR, CHIDI")
    assert not names_match("Chidi Okafor", "CHIDI OKAFOR JR")
    assert not names_match("Chidi Okafor", None)
