"""Request bodies, and the response shapes that the API reference shows; one module per area."""

from payouts.schemas.bank_details import BankDetails, BankDetailsRequest
from payouts.schemas.batches import Dispatch, DispatchedTransfer, DispatchRequest, SkippedPayout
from payouts.schemas.envelope import Meta, enveloped
from payouts.schemas.exceptions import PayoutException
from payouts.schemas.payouts import OpenException, Payout, PayoutRequest, PayoutTransfer
from payouts.schemas.wallets import StatementLine, Wallet

__all__ = [
    "BankDetails",
    "BankDetailsRequest",
    "Dispatch",
    "DispatchRequest",
    "DispatchedTransfer",
    "Meta",
    "OpenException",
    "Payout",
    "PayoutException",
    "PayoutRequest",
    "PayoutTransfer",
    "SkippedPayout",
    "StatementLine",
    "Wallet",
    "enveloped",
]
