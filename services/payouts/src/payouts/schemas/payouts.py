"""Request bodies and responses of payouts."""

from typing import Literal
from uuid import UUID

from common.web.schemas import PositiveKobo, RequestBody, ResponseShape


class PayoutCancellation(RequestBody):
    """`{}`: a cancellation has no members."""


class PayoutRequest(RequestBody):
    amount_minor: PositiveKobo


class PayoutTransfer(ResponseShape):
    id: UUID
    attempt: int
    reference: str
    status: str
    transfer_code: str | None
    failure: str | None
    created_at: str
    updated_at: str


class OpenException(ResponseShape):
    id: UUID
    cause: str
    severity: str
    respond_by: str
    opened_at: str


class Payout(ResponseShape):
    id: UUID
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
    transfer: PayoutTransfer | None
    open_exception: OpenException | None
    created_at: str
    updated_at: str
    processed_at: str | None
