"""Request bodies and responses of exceptions."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody, ResponseShape
from payouts.domain.severity import Cause, Severity
from payouts.domain.transitions import State

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class ClassifyExceptionRequest(RequestBody):
    severity: Severity
    cause: Cause
    note: _Text


class CloseExceptionRequest(RequestBody):
    evidence: _Text


class PayoutException(ResponseShape):
    id: UUID
    payout_id: UUID | None
    payout_number: Annotated[str | None, Field(description="The payout's number for people: `PO-XXXX-XXXX`.")]
    batch_id: UUID | None
    vendor_id: UUID | None
    cause: Cause
    severity: Severity
    status: Literal["open", "closed"]
    detail: str
    amount_minor: int
    respond_by: datetime
    opened_at: datetime
    closed_at: datetime | None
    closed_because: str | None


class ExceptionTransfer(ResponseShape):
    """The attempt that an exception is about."""

    id: UUID
    attempt: int
    reference: str
    status: State
    transfer_code: str | None


class ExceptionAction(ResponseShape):
    """One line of the history. `by` is null where the service acted on a report of the gateway."""

    id: UUID
    kind: Literal["classified", "changed", "noted", "closed"]
    by: UUID | None
    at: datetime
    severity_before: Severity
    severity_after: Severity
    cause_before: Cause
    cause_after: Cause
    note: str


class PayoutExceptionDetail(PayoutException):
    transfer: ExceptionTransfer | None
    acts: list[ExceptionAction]


class ExceptionObservations(ResponseShape):
    """The window of `windowSeconds` that ends now.

    `attempts` counts transfer attempts that started or failed within it, and each batch that was stopped before its first transfer as one
    attempt. `failures` counts those of them that opened an exception within it; `failureRate` is failures / attempts, 0 without attempts.
    `bySeverity` and `byCause` count the exceptions that opened within it: those failures, one each, and the exceptions that hold all
    payouts of a vendor, which are no attempt.
    """

    window_seconds: int
    attempts: int
    failures: int
    failure_rate: float
    alerting: bool
    by_severity: dict[Severity, int]
    by_cause: dict[Cause, int]
