"""The maker of the escrow ledger's transactions."""

from collections.abc import Iterable

from common.ledger.posting import Entry, Posting, balanced
from contracts.transaction_types import TransactionType
from payments.domain.accounts import HOME_CURRENCY


def transaction(key: str, type_: TransactionType, entries: Iterable[Entry], currency: str = HOME_CURRENCY) -> Posting:
    """Return a posting of the entries other than zero."""
    return balanced(key, type_, entries, currency)
