"""Amounts of accounts, and entries with the balances around them."""

import pytest

from console.money import arrival_words, money, posting_rows, sided


@pytest.mark.parametrize(
    ("minor", "currency", "shown"),
    [
        (123_450, "NGN", "₦1,234.50"),
        (123_450, "GHS", "GHS 1,234.50"),
        (-5, "GHS", "-GHS 0.05"),
        (None, "GHS", "\N{EN DASH}"),
    ],
)
def test_an_amount_of_another_currency_never_shows_naira(minor: int | None, currency: str, shown: str) -> None:
    assert money(minor, currency) == shown


def test_a_balance_shows_its_side() -> None:
    assert [sided(minor) for minor in (100, -100, 0)] == ["₦1.00 Dr", "₦1.00 Cr", "₦0.00"]


def test_an_entry_is_a_debit_or_a_credit_with_the_balances_around_it() -> None:
    entries = [
        {"account": "quarantine:x", "amountMinor": 5_000, "balanceMinor": -5_000},
        {"account": "refund_payable:y", "amountMinor": -5_000, "balanceMinor": 0},
    ]
    first, second = posting_rows(entries, names={"refund_payable:y": "CM-7K3F-9Q2D"})
    assert first == {
        "account": "quarantine:x",
        "words": "quarantine",
        "debit": "₦50.00",
        "credit": "",
        "before": "₦50.00 Cr",
        "after": "₦0.00",
    }
    assert second["words"] == "refund payable CM-7K3F-9Q2D"
    assert (second["debit"], second["credit"], second["after"]) == ("", "₦50.00", "₦50.00 Cr")


def test_an_entry_without_a_balance_shows_none() -> None:
    [row] = posting_rows([{"account": "commission", "amountMinor": -1}])
    assert (row["before"], row["after"]) == (None, None)


@pytest.mark.parametrize(
    ("arrival", "shown"),
    [
        (None, ""),
        ({"day": "2026-12-01", "obstacle": None}, "by Tuesday 1 December"),
        ({"day": None, "obstacle": "held"}, "no day yet: finance holds it"),
        ({"day": None, "obstacle": "a_new_one"}, "no day yet: a new one"),
    ],
)
def test_a_payout_has_a_day_at_the_bank_or_the_reason_why_not(arrival, shown: str) -> None:
    assert arrival_words(arrival) == shown
