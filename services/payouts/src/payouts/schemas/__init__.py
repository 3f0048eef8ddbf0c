"""Request bodies, and the response shapes of the API reference; one module per area."""

from payouts.schemas.bank_details import (
    BankDetails,
    BankDetailsChange,
    QuarantineBankDetailsRequest,
    QuarantinedBankDetails,
    ReplaceBankDetailsRequest,
)
from payouts.schemas.batches import (
    DispatchedTransfer,
    DispatchPayoutsRequest,
    PayoutBatch,
    PayoutDispatch,
    SkippedPayout,
)
from payouts.schemas.exceptions import (
    ClassifyExceptionRequest,
    CloseExceptionRequest,
    ExceptionAction,
    ExceptionObservations,
    ExceptionTransfer,
    PayoutException,
    PayoutExceptionDetail,
)
from payouts.schemas.payouts import CreatePayoutRequest, OpenPayoutException, Payout, Transfer
from payouts.schemas.schedules import PayoutSchedule, ReplacePayoutScheduleRequest, ScheduledPayout
from payouts.schemas.wallets import (
    StatementLine,
    StatementMonth,
    StatementMonthKind,
    WaiveRemainderRequest,
    Wallet,
    WalletTransaction,
)

__all__ = [
    "BankDetails",
    "BankDetailsChange",
    "ClassifyExceptionRequest",
    "CloseExceptionRequest",
    "CreatePayoutRequest",
    "DispatchPayoutsRequest",
    "DispatchedTransfer",
    "ExceptionAction",
    "ExceptionObservations",
    "ExceptionTransfer",
    "OpenPayoutException",
    "Payout",
    "PayoutBatch",
    "PayoutDispatch",
    "PayoutException",
    "PayoutExceptionDetail",
    "PayoutSchedule",
    "QuarantineBankDetailsRequest",
    "QuarantinedBankDetails",
    "ReplaceBankDetailsRequest",
    "ReplacePayoutScheduleRequest",
    "ScheduledPayout",
    "SkippedPayout",
    "StatementLine",
    "StatementMonth",
    "StatementMonthKind",
    "Transfer",
    "WaiveRemainderRequest",
    "Wallet",
    "WalletTransaction",
]
