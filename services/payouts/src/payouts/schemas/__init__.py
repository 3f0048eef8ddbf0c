"""Request bodies, and the response shapes that the API reference shows; one module per area."""

from payouts.schemas.bank_details import (
    BankDetails,
    BankDetailsAnswer,
    BankDetailsHistoryAnswer,
    BankDetailsQuarantineRequest,
    BankDetailsRequest,
    QuarantineAnswer,
)
from payouts.schemas.batches import Dispatch, DispatchedTransfer, DispatchRequest, SkippedPayout
from payouts.schemas.envelope import Meta, documented, enveloped
from payouts.schemas.exceptions import (
    ClassifyRequest,
    CloseRequest,
    ExceptionAct,
    ExceptionAnswer,
    ExceptionTransfer,
    Observations,
    PayoutException,
    PayoutExceptionInFull,
)
from payouts.schemas.payouts import OpenException, Payout, PayoutCancellation, PayoutRequest, PayoutTransfer
from payouts.schemas.schedules import PayoutSchedule, PayoutScheduleRequest, ScheduledPayout
from payouts.schemas.wallets import KindOfMonth, StatementLine, StatementMonth, Wallet

__all__ = [
    "BankDetails",
    "BankDetailsAnswer",
    "BankDetailsHistoryAnswer",
    "BankDetailsQuarantineRequest",
    "BankDetailsRequest",
    "ClassifyRequest",
    "CloseRequest",
    "Dispatch",
    "DispatchRequest",
    "DispatchedTransfer",
    "ExceptionAct",
    "ExceptionAnswer",
    "ExceptionTransfer",
    "KindOfMonth",
    "Meta",
    "Observations",
    "OpenException",
    "Payout",
    "PayoutCancellation",
    "PayoutException",
    "PayoutExceptionInFull",
    "PayoutRequest",
    "PayoutSchedule",
    "PayoutScheduleRequest",
    "PayoutTransfer",
    "QuarantineAnswer",
    "ScheduledPayout",
    "SkippedPayout",
    "StatementLine",
    "StatementMonth",
    "Wallet",
    "documented",
    "enveloped",
]
