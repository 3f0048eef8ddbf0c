"""Responses, one module for each area: each model is built from a row and encoded as it is."""

from payouts.responses.bank_details import BankDetails, BankDetailsChange, QuarantinedBankDetails
from payouts.responses.batches import (
    BatchSkippedPayout,
    BatchTransfer,
    DispatchedTransfer,
    PayoutBatch,
    PayoutBatchDetail,
    PayoutDispatch,
    PayoutRunApproval,
    SkippedPayout,
)
from payouts.responses.exceptions import (
    ExceptionAction,
    ExceptionObservations,
    ExceptionTransfer,
    PayoutException,
    PayoutExceptionDetail,
)
from payouts.responses.payouts import OpenPayoutException, Payout, Transfer
from payouts.responses.schedules import PayoutSchedule, ScheduledPayout
from payouts.responses.wallets import StatementLine, StatementMonth, StatementMonthKind, Wallet, WalletTransaction

__all__ = [
    "BankDetails",
    "BankDetailsChange",
    "BatchSkippedPayout",
    "BatchTransfer",
    "DispatchedTransfer",
    "ExceptionAction",
    "ExceptionObservations",
    "ExceptionTransfer",
    "OpenPayoutException",
    "Payout",
    "PayoutBatch",
    "PayoutBatchDetail",
    "PayoutDispatch",
    "PayoutException",
    "PayoutExceptionDetail",
    "PayoutRunApproval",
    "PayoutSchedule",
    "QuarantinedBankDetails",
    "ScheduledPayout",
    "SkippedPayout",
    "StatementLine",
    "StatementMonth",
    "StatementMonthKind",
    "Transfer",
    "Wallet",
    "WalletTransaction",
]
