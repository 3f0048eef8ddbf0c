"""Request bodies, and the response shapes that the API reference shows."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, field_validator

from common.schemas import PositiveKobo, RequestBody, ResponseShape
from payouts.domain.dispatch import BATCH_PAYOUTS_MAX
from payouts.domain.wallet import Kind


class BankDetailsRequest(RequestBody):
    account_number: Annotated[str, Field(pattern=r"^[0-9]{10}$", description="NUBAN, ten digits")]
    bank_code: Annotated[str, Field(pattern=r"^[0-9A-Z]{3,6}$")]


class PayoutRequest(RequestBody):
    amount_minor: PositiveKobo


class DispatchRequest(RequestBody):
    payout_ids: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=BATCH_PAYOUTS_MAX)] | None = None
    max_total_minor: PositiveKobo | None = None
    dry_run: Annotated[bool, Field(strict=True)] = False

    @field_validator("payout_ids")
    @classmethod
    def name_each_once(cls, payout_ids: tuple[UUID, ...] | None) -> tuple[UUID, ...] | None:
        if payout_ids is not None and len(set(payout_ids)) != len(payout_ids):
            raise ValueError("must name each payout once")
        return payout_ids


class Wallet(ResponseShape):
    available_minor: int
    locked_minor: int
    in_transit_minor: int
    debt_minor: int
    held_minor: int
    currency: str


class StatementLine(ResponseShape):
    id: UUID
    kind: Kind
    order_id: UUID | None
    payout_id: UUID | None
    gross_minor: int | None
    commission_minor: int | None
    delivery_fee_minor: int | None
    net_minor: int
    balance_minor: int
    at: str


class BankDetails(ResponseShape):
    vendor_id: UUID
    account_last4: str
    bank_code: str
    bank_name: str | None
    account_name: str | None
    verified: bool
    reason: str | None
    warning: str | None
    updated_at: str


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


class DispatchedTransfer(ResponseShape):
    payout_id: UUID
    amount_minor: int
    reference: str | None
    status: str
    transfer_code: str | None
    failure: str | None


class SkippedPayout(ResponseShape):
    payout_id: UUID
    reason: str


class Dispatch(ResponseShape):
    batch_id: UUID
    dry_run: bool
    submitted: int
    total_minor: int
    gateway_balance_minor: int
    transfers: list[DispatchedTransfer]
    skipped: list[SkippedPayout]


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


class Meta(ResponseShape):
    timestamp: str
    version: str
    request_id: str


def enveloped(shape: Any, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The documented success answer of an endpoint: the shape inside the envelope."""

    class Enveloped(ResponseShape):
        success: Literal[True]
        data: shape
        meta: Meta

    name = getattr(shape, "__name__", "List")
    inner = getattr(shape, "__args__", None)
    Enveloped.__name__ = f"{inner[0].__name__}List" if inner else f"{name}Answer"
    return {status: {"model": Enveloped}}
