"""Quarantined charges, refunds, and the four-eyes decisions about them (contract section 7)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import OvertakableStatus
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash
from payments.domain.charges import QuarantineReason
from payments.domain.quarantine import Outcome
from payments.domain.refunds import RefundAction, RefundKind
from payments.domain.transitions import QuarantinedChargeStatus, RefundStatus
from payments.responses.ledger import PlannedEntry


class Decision(ResponseModel):
    hash: DecisionHash
    status: OvertakableStatus
    reason: str
    prepared_by: UUID
    prepared_at: Timestamp
    decided_by: UUID | None
    decided_at: Timestamp | None
    rejection_reason: str | None


class QuarantineDecision(Decision):
    outcome: Outcome


class QuarantinedCharge(ResponseModel):
    id: UUID
    reference: str
    order_id: UUID | None
    order_number: str | None
    amount_minor: Annotated[int, Meta(description="In the charge's own currency.")]
    currency: str
    reason: QuarantineReason
    fraud_flag: Annotated[bool, Meta(description="Flagged for fraud investigation, for the `reason`.")]
    status: QuarantinedChargeStatus
    refund_id: UUID | None
    created_at: Timestamp
    hash: Annotated[DecisionHash | None, Meta(description="Of the newest decision; null while none is prepared.")]
    decision: QuarantineDecision | None


class QuarantinePlan(ResponseModel):
    """Postings of an outcome if it were approved at this moment."""

    outcome: Outcome
    reason: Annotated[str | None, Meta(description="Why this outcome is impossible now; null when it is possible.")]
    entries: Annotated[list[PlannedEntry], Meta(description="Empty when the outcome is impossible.")]


class RefundDestination(ResponseModel):
    last4: Annotated[str, Meta(description="The last four digits of the account number.")]
    bank_code: str
    account_name: str
    name_at_bank: Annotated[str | None, Meta(description="The holder's name that the bank reports.")]
    verified: Annotated[bool, Meta(description="Whether the bank's name for the account is the one given.")]


class RefundDecision(Decision):
    action: RefundAction
    destination: RefundDestination | None


class Refund(ResponseModel):
    id: UUID
    order_id: UUID | None
    order_number: str | None
    kind: RefundKind
    amount_minor: Annotated[int, Meta(description="In the charge's own currency.")]
    balance_minor: Annotated[int, Meta(description="The part that the buyer's balance received at once, in kobo.")]
    currency: str
    status: RefundStatus
    reason: str
    failure: str | None
    needs_account: Annotated[bool, Meta(description="Whether the payment gateway waits for an account of the payer.")]
    reference: Annotated[str, Meta(description="What the payment gateway knows the present attempt by.")]
    created_at: Timestamp
    settled_at: Annotated[
        Timestamp | None,
        Meta(
            description="The time at which the payment gateway paid it, or the balance received all of it; null before."
        ),
    ]
    hash: Annotated[DecisionHash | None, Meta(description="Of the newest decision; null while none is prepared.")]
    decision: RefundDecision | None
