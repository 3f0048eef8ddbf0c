"""The types of the escrow ledger's transactions (contract section 7)."""

from collections.abc import Iterable
from typing import Literal

from common.ledger.posting import Entry, Posting, balanced
from payments.domain.accounts import HOME_CURRENCY

TransactionType = Literal[
    "charge",
    "overpayment",
    "quarantine",
    "release",
    "refund",
    "quarantine_release",
    "refund_settled",
    "refund_reversed",
    "gateway_fee",
    "transfer_fee",
    "settlement",
    "referral_reward",
    "reward_moved",
    "balance_hold",
    "balance_returned",
    "balance_spent",
    "balance_refund",
    "goodwill_refund",
    "balance_withdrawal",
    "withdrawal_settled",
    "withdrawal_returned",
    "withdrawal_reversed",
    "chargeback",
    "chargeback_won",
    "refund_spared",
    "outside_refund",
    "outside_refund_returned",
    "outside_refund_corrected",
]


def transaction(key: str, type_: TransactionType, entries: Iterable[Entry], currency: str = HOME_CURRENCY) -> Posting:
    """Return a posting of the entries other than zero."""
    return balanced(key, type_, entries, currency)
