"""The ledger as a CSV file."""

from uuid import UUID

from msgspec.structs import replace

from payments.responses.exports import csv_heading, csv_of_transactions
from payments.responses.ledger import LedgerEntry, LedgerTransaction

CHARGE = LedgerTransaction(
    id=UUID("018cc251-f400-7000-8000-000000000001"),
    type="charge",
    posting_key="charge:ch-1/7",
    currency="NGN",
    created_at="2026-03-01T12:00:00.000Z",
    entries=[
        LedgerEntry(account="gateway_cash", amount_minor=500_000),
        LedgerEntry(account="escrow:018cc251-f400-7000-8000-000000000002", amount_minor=-500_000),
    ],
    order_numbers={},
)


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
    odd = replace(CHARGE, posting_key="=1+1", entries=[LedgerEntry(account="+quarantine:x", amount_minor=-1)])
    end = '"\'=1+1","NGN","2026-03-01T12:00:00.000Z","\'+quarantine:x",-1\r\n'
    assert csv_of_transactions([odd]).endswith(end)
