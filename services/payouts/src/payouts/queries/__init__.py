"""Reads: SQL in, response models out, one module per area. Row policies decide what a caller sees."""

from payouts.queries.bank_details import (
    find_bank_details,
    find_legal_name,
    find_quarantined_payout,
    page_of_bank_details_history,
)
from payouts.queries.banks import find_bank_name
from payouts.queries.batches import describe_batch, list_unsent, page_of_batches
from payouts.queries.exceptions import ExceptionFilter, find_exception, page_of_exceptions
from payouts.queries.observations import find_open_alert, list_open_alert_keys, list_troubled_banks, observe_window
from payouts.queries.payouts import find_payout, list_named, list_ready, page_of_payouts
from payouts.queries.schedules import find_schedule
from payouts.queries.statements import page_of_month, page_of_statement, read_month
from payouts.queries.wallets import find_wallet, list_transactions_of_order

__all__ = [
    "ExceptionFilter",
    "describe_batch",
    "find_bank_details",
    "find_bank_name",
    "find_exception",
    "find_legal_name",
    "find_open_alert",
    "find_payout",
    "find_quarantined_payout",
    "find_schedule",
    "find_wallet",
    "list_named",
    "list_open_alert_keys",
    "list_ready",
    "list_transactions_of_order",
    "list_troubled_banks",
    "list_unsent",
    "observe_window",
    "page_of_bank_details_history",
    "page_of_batches",
    "page_of_exceptions",
    "page_of_month",
    "page_of_payouts",
    "page_of_statement",
    "read_month",
]
