"""Request bodies and responses of resets and of four-eyes reconciliations (contract section 8)."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody, ResponseShape
from payouts.domain.returns import ReconciliationStatus, ReturnKind

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class ResetPayoutRequest(RequestBody):
    reason: Annotated[Reason, Field(description="Shown to the vendor as `transferFailure`.")]


class PrepareReconciliationRequest(RequestBody):
    reason: Reason


class RejectReconciliationRequest(RequestBody):
    reason: Reason


class PreparedEntry(ResponseShape):
    account: str
    amount_minor: int = Field(description="In kobo, debit positive.")


class PlannedReturnEntry(PreparedEntry):
    balance_minor: int = Field(description="The account's balance now, in kobo, debit positive.")


class PreparedPosting(ResponseShape):
    type: ReturnKind
    posting_key: str
    currency: str
    entries: list[PreparedEntry]


class Reconciliation(ResponseShape):
    id: UUID
    payout_id: UUID
    vendor_id: UUID
    transfer_id: UUID | None = Field(description="With `recovery` and `recovery_returned`: the unrecorded transfer.")
    kind: ReturnKind
    status: ReconciliationStatus
    amount_minor: int
    currency: str
    reason: str
    postings: list[PreparedPosting]
    hash: str = Field(
        description="SHA-256, in hex, of payout, kind and postings; `/approve` must repeat it, calculated again before the posting."
    )
    prepared_by: UUID
    prepared_at: datetime
    decided_by: UUID | None
    decided_at: datetime | None
    rejection_reason: str | None
