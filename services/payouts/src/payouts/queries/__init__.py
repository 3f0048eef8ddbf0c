"""Reads: SQL in, public shapes out; one module per area. What a caller may see is the row policies' business."""

from payouts.queries.bank_details import find_bank_details, find_legal_name
from payouts.queries.batches import describe_batch, list_unsent
from payouts.queries.exceptions import find_exception, page_of_exceptions
from payouts.queries.payouts import find_payout, page_of_payouts
from payouts.queries.wallets import find_wallet, page_of_statement

__all__ = [
    "describe_batch",
    "find_bank_details",
    "find_exception",
    "find_legal_name",
    "find_payout",
    "find_wallet",
    "list_unsent",
    "page_of_exceptions",
    "page_of_payouts",
    "page_of_statement",
]
