"""Request bodies, one module for each area."""

from payouts.schemas.bank_details import QuarantineBankDetailsRequest, ReplaceBankDetailsRequest
from payouts.schemas.batches import DispatchPayoutsRequest, RejectDispatchRequest
from payouts.schemas.exceptions import ClassifyExceptionRequest, CloseExceptionRequest
from payouts.schemas.payouts import CreatePayoutRequest, HoldPayoutRequest
from payouts.schemas.schedules import ReplacePayoutScheduleRequest
from payouts.schemas.wallets import WaiveRemainderRequest

__all__ = [
    "ClassifyExceptionRequest",
    "CloseExceptionRequest",
    "CreatePayoutRequest",
    "DispatchPayoutsRequest",
    "HoldPayoutRequest",
    "QuarantineBankDetailsRequest",
    "RejectDispatchRequest",
    "ReplaceBankDetailsRequest",
    "ReplacePayoutScheduleRequest",
    "WaiveRemainderRequest",
]
