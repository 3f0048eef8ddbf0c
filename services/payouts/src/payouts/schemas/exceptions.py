"""Shapes of exceptions."""

from typing import Literal
from uuid import UUID

from common.schemas import ResponseShape


class PayoutException(ResponseShape):
    id: UUID
    payout_id: UUID | None
    batch_id: UUID | None
    vendor_id: UUID | None
    cause: str
    severity: str
    status: Literal["open", "closed"]
    detail: str
    amount_minor: int
    respond_by: str
    opened_at: str
    closed_at: str | None
    closed_because: str | None
