"""The ledger as a CSV file."""

from typing import Any

from payments.domain.exports import csv_heading, csv_of_transactions

CHARGE: dict[str, Any] = {
    "id": "018cc251-f400-7000-8000-000000000001",
    "type": "charge",
    "postingKey": "charge:ch-1/7",
    "currency": "NGN",
    "createdAt": "2026-03-01T12:00:00.000Z",
    "entries": [
        {"account": "gateway_cash", "amountMinor": 500_000},
        {"account": "escrow:018cc251-f400-7000-8000-000000000002", "amountMinor": -500_000},
    ],
}


def test_the_header_names_the_columns() -> None:
    assert csv_heading() == (
        '\ufeff"transactionId","type","postingKey","currency","createdAt","account","amountMinor"\r\n'
    )


def test_each_entry_is_a_line_in_kobo_debit_positive() -> None:
    head = '"018cc251-f400-7000-8000-000000000001","charge","charge:ch-1/7","NGN","2026-03-01T12:00:00.000Z"'
    assert csv_of_transactions([CHARGE]) == (
        f'{head},"gateway_cash",500000\r\n{head},"escrow:018cc251-f400-7000-8000-000000000002",-500000\r\n'
    )
    assert csv_of_transactions([]) == ""


def test_a_formula_of_a_spreadsheet_is_text() -> None:
    odd = {**CHARGE, "postingKey": "=1+1", "entries": [{"account": "+quarantine:x", "amountMinor": -1}]}
    end = '"\'=1+1","NGN","2026-03-01T12:00:00.000Z","\'+quarantine:x",-1\r\n'
    assert csv_of_transactions([odd]).endswith(end)
