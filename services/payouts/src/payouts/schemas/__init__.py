"""Request bodies, and the response shapes of the API reference; one module per area."""

from payouts.schemas.bank_details import (
    BankDetails,
    BankDetailsHistoryResponse,
    BankDetailsQuarantineRequest,
    BankDetailsRequest,
    BankDetailsResponse,
    QuarantineResponse,
)
from payouts.schemas.batches import Dispatch, DispatchedTransfer, DispatchRequest, SkippedPayout
from payouts.schemas.exceptions import (
    ClassifyRequest,
    CloseRequest,
    ExceptionAction,
    ExceptionResponse,
    ExceptionTransfer,
    Observations,
    PayoutException,
    PayoutExceptionDetail,
)
from payouts.schemas.payouts import OpenException, Payout, PayoutCancellation, PayoutRequest, PayoutTransfer
from payouts.schemas.schedules import PayoutSchedule, PayoutScheduleRequest, ScheduledPayout
from payouts.schemas.wallets import StatementLine, StatementMonth, StatementMonthKind, WaiverRequest, Wallet

__all__ = [
    "BankDetails",
    "BankDetailsHistoryResponse",
    "BankDetailsQuarantineRequest",
    "BankDetailsRequest",
    "BankDetailsResponse",
    "ClassifyRequest",
    "CloseRequest",
    "Dispatch",
    "DispatchRequest",
    "DispatchedTransfer",
    "ExceptionAction",
    "ExceptionResponse",
    "ExceptionTransfer",
    "Observations",
    "OpenException",
    "Payout",
    "PayoutCancellation",
    "PayoutException",
    "PayoutExceptionDetail",
    "PayoutRequest",
    "PayoutSchedule",
    "PayoutScheduleRequest",
    "PayoutTransfer",
    "QuarantineResponse",
    "ScheduledPayout",
    "SkippedPayout",
    "StatementLine",
    "StatementMonth",
    "StatementMonthKind",
    "WaiverRequest",
    "Wallet",
]
