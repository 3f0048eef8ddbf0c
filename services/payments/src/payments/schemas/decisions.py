"""Quarantined charges, refunds, and the four-eyes decisions about them (contract section 7)."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from common.web.schemas import DecisionHash, RequestBody, ResponseShape
from payments.domain.charges import QuarantineReason
from payments.domain.quarantine import Outcome
from payments.domain.refunds import RefundAction, RefundKind
from payments.domain.transitions import QuarantinedChargeStatus, RefundStatus
from payments.schemas.ledger import PlannedEntry

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class PrepareQuarantineDecisionRequest(RequestBody):
    outcome: Outcome
    reason: Reason


class RejectDecisionRequest(RequestBody):
    reason: Reason


class RefundDestinationRequest(RequestBody):
    account_number: Annotated[str, StringConstraints(pattern=r"^[0-9]{10}$")]
    bank_code: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z]{3,6}$")]
    account_name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class PrepareRefundDecisionRequest(RequestBody):
    action: RefundAction
    reason: Reason
    destination: Annotated[
        RefundDestinationRequest | None, Field(description="With `other_destination`, and only with it.")
    ] = None

    @model_validator(mode="after")
    def destination_belongs_to_its_action(self) -> "PrepareRefundDecisionRequest":
        if (self.action == "other_destination") != (self.destination is not None):
            raise ValueError("a destination is given with other_destination, and only with it")
        return self


class Decision(ResponseShape):
    hash: DecisionHash
    status: Literal["prepared", "approved", "rejected", "overtaken"]
    reason: str
    prepared_by: UUID
    prepared_at: datetime
    decided_by: UUID | None
    decided_at: datetime | None
    rejection_reason: str | None


class QuarantineDecision(Decision):
    outcome: Outcome


class QuarantinedCharge(ResponseShape):
    id: UUID
    reference: str
    order_id: UUID | None
    order_number: str | None = Field(
        description="The order's number for people; null without an order, and where it is not known."
    )
    amount_minor: int = Field(description="In the charge's own currency.")
    currency: str
    reason: QuarantineReason
    fraud_flag: bool = Field(description="Flagged for fraud investigation, for the `reason`.")
    status: QuarantinedChargeStatus
    refund_id: UUID | None
    created_at: datetime
    hash: DecisionHash | None = Field(description="Of the newest decision; null while none is prepared.")
    decision: QuarantineDecision | None


class QuarantinePlan(ResponseShape):
    """What the approval of an outcome would post at this moment."""

    outcome: Outcome
    reason: str | None = Field(description="Why this outcome is impossible now; null when it is possible.")
    entries: list[PlannedEntry] = Field(description="Empty when the outcome is impossible.")


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
    order_number: str | None = Field(
        description="The order's number for people; null without an order, and where it is not known."
    )
    kind: RefundKind
    amount_minor: int = Field(description="In the charge's own currency.")
    currency: str
    status: RefundStatus
    reason: str
    failure: str | None
    needs_account: bool = Field(description="Whether the payment gateway waits for an account of the payer.")
    reference: str = Field(description="What the payment gateway knows the present attempt by.")
    created_at: datetime
    settled_at: datetime | None
    hash: DecisionHash | None = Field(description="Of the newest decision; null while none is prepared.")
    decision: RefundDecision | None
