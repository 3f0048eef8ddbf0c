"""Quarantined charges, refunds, and the four-eyes decisions about them (contract section 7)."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from common.web.responses import EnvelopeMeta, OffsetMeta
from common.web.schemas import DecisionHash, RequestBody, ResponseShape
from payments.domain.quarantine import ChargeStatus, Outcome
from payments.domain.refunds import RefundAction, RefundKind, RefundStatus

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class QuarantinePrepareRequest(RequestBody):
    outcome: Outcome
    reason: Reason


class RejectRequest(RequestBody):
    reason: Reason


class DestinationRequest(RequestBody):
    account_number: Annotated[str, StringConstraints(pattern=r"^[0-9]{10}$")]
    bank_code: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z]{3,6}$")]
    account_name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class RefundPrepareRequest(RequestBody):
    action: RefundAction
    reason: Reason
    destination: Annotated[
        DestinationRequest | None, Field(description="With `other_destination`, and only with it.")
    ] = None

    @model_validator(mode="after")
    def destination_belongs_to_its_action(self) -> "RefundPrepareRequest":
        if (self.action == "other_destination") != (self.destination is not None):
            raise ValueError("a destination is given with other_destination, and only with it")
        return self


class Decision(ResponseShape):
    hash: DecisionHash
    status: Literal["prepared", "approved", "rejected", "overtaken"]
    reason: str
    prepared_by: UUID
    prepared_at: str
    decided_by: UUID | None
    decided_at: str | None
    rejection_reason: str | None


class QuarantineDecision(Decision):
    outcome: Outcome


class QuarantinedCharge(ResponseShape):
    id: UUID
    reference: str
    order_id: UUID | None
    amount_minor: int = Field(description="In the charge's own currency.")
    currency: str
    reason: str
    status: ChargeStatus
    refund_id: UUID | None
    created_at: str
    hash: DecisionHash | None = Field(description="Of the newest decision; null while none is prepared.")
    decision: QuarantineDecision | None


class RefundDestination(ResponseShape):
    last4: str
    bank_code: str
    account_name: str
    name_at_bank: str | None
    verified: bool = Field(description="Whether the bank's name for the account is the one given.")


class RefundDecision(Decision):
    action: RefundAction
    destination: RefundDestination | None


class Refund(ResponseShape):
    id: UUID
    order_id: UUID | None
    kind: RefundKind
    amount_minor: int = Field(description="In the charge's own currency.")
    currency: str
    status: RefundStatus
    reason: str
    failure: str | None
    needs_account: bool = Field(description="Whether the payment gateway waits for an account of the payer.")
    reference: str = Field(description="What the payment gateway knows the present attempt by.")
    created_at: str
    settled_at: str | None
    hash: DecisionHash | None = Field(description="Of the newest decision; null while none is prepared.")
    decision: RefundDecision | None


class QuarantinedChargeResponse(ResponseShape):
    success: bool
    data: QuarantinedCharge
    meta: EnvelopeMeta


class QuarantinedChargeListResponse(ResponseShape):
    success: bool
    data: list[QuarantinedCharge]
    meta: OffsetMeta


class RefundResponse(ResponseShape):
    success: bool
    data: Refund
    meta: EnvelopeMeta


class RefundListResponse(ResponseShape):
    success: bool
    data: list[Refund]
    meta: OffsetMeta
