"""Responses of exceptions."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from contracts.severities import Severity
from payouts.domain.exceptions import ExceptionActionKind
from payouts.domain.payout_transitions import ExceptionStatus
from payouts.domain.severity import Cause
from payouts.domain.transitions import State


class PayoutException(ResponseModel):
    id: UUID
    payout_id: UUID | None
    payout_number: Annotated[str | None, Meta(description="The payout's number for people: `PO-XXXX-XXXX`.")]
    batch_id: UUID | None
    vendor_id: UUID | None
    vendor_name: Annotated[
        str | None, Meta(description="The vendor's legal name; null after its erasure, and without a vendor.")
    ]
    cause: Cause
    severity: Severity
    status: ExceptionStatus
    detail: str
    amount_minor: int
    respond_by: Timestamp
    opened_at: Timestamp
    closed_at: Timestamp | None
    closed_because: str | None


class ExceptionTransfer(ResponseModel):
    """The attempt that an exception is about."""

    id: UUID
    attempt: int
    reference: str
    status: State
    transfer_code: str | None


class ExceptionAction(ResponseModel):
    """One line of the history. `by` is null where the service acted on a report of the gateway."""

    id: UUID
    kind: ExceptionActionKind
    by: Annotated[
        UUID | None, Meta(description="The member of staff; null where the service acted on a report of the gateway.")
    ]
    at: Timestamp
    severity_before: Annotated[Severity, Meta(description="The severity before the action.")]
    severity_after: Annotated[Severity, Meta(description="The severity after the action.")]
    cause_before: Annotated[Cause, Meta(description="The cause before the action.")]
    cause_after: Annotated[Cause, Meta(description="The cause after the action.")]
    note: str


class PayoutExceptionDetail(PayoutException):
    transfer: ExceptionTransfer | None
    acts: Annotated[list[ExceptionAction], Meta(description="The history, oldest first.")]


class ExceptionObservations(ResponseModel):
    """The window of `windowSeconds` that ends now.

    `attempts` counts transfer attempts that started or failed within it, and each batch that was stopped before its
    first transfer as one attempt. `failures` counts those of them that opened an exception within it; `failureRate` is
    failures / attempts, 0 without attempts. `bySeverity` and `byCause` count the exceptions that opened within it:
    those failures, one each, and the exceptions that hold all payouts of a vendor, which are no attempt.
    """

    window_seconds: Annotated[int, Meta(description="The length of the window in seconds.")]
    attempts: int
    failures: Annotated[int, Meta(description="The attempts that opened an exception.")]
    failure_rate: Annotated[float, Meta(description="Failures divided by attempts; 0 without attempts.")]
    alerting: Annotated[bool, Meta(description="Whether the rate is above the limit, so that an alert is open.")]
    by_severity: Annotated[dict[Severity, int], Meta(description="The exceptions by severity.")]
    by_cause: Annotated[dict[Cause, int], Meta(description="The exceptions by cause.")]
