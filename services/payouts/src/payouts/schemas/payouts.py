"""Request bodies and responses of payouts."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from common.web.schemas import PositiveKobo, RequestBody, ResponseShape
from payouts.domain.severity import Cause, Severity
from payouts.domain.transitions import State


class CreatePayoutRequest(RequestBody):
    amount_minor: PositiveKobo


class Transfer(ResponseShape):
    id: UUID
    attempt: int
    reference: str
    status: State
    transfer_code: str | None
    failure: str | None
    created_at: datetime
    updated_at: datetime


class OpenPayoutException(ResponseShape):
    id: UUID
    cause: Cause
    severity: Severity
    respond_by: datetime
    opened_at: datetime


class Payout(ResponseShape):
    id: UUID
    number: Annotated[str, Field(description="The number for people: `PO-XXXX-XXXX`.")]
    vendor_id: UUID
    amount_minor: int
    currency: str
    status: Literal["pending", "processed", "failed"]
    bank_code: str
    account_last4: str
    retry_count: int
    transfer_reference: str | None
    transfer_code: str | None
    transfer_failure: str | None
    transfer: Transfer | None
    open_exception: OpenPayoutException | None
    created_at: datetime
    updated_at: datetime
    processed_at: datetime | None
