"""Request bodies and responses of resets and of reconciliations by two people (contract section 8)."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.responses import EnvelopeMeta, OffsetMeta
from common.web.schemas import RequestBody, ResponseShape
from payouts.domain.returns import ReconciliationStatus, ReturnKind
from payouts.schemas.payouts import Payout

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class ResetRequest(RequestBody):
    reason: Annotated[Reason, Field(description="Shown to the vendor as `transferFailure`.")]


class ReconciliationRequest(RequestBody):
    reason: Reason


class ReconciliationRejection(RequestBody):
    reason: Reason


class PreparedEntry(ResponseShape):
    account: str
    amount_minor: int = Field(description="In kobo, debit positive.")


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
    prepared_at: str
    decided_by: UUID | None
    decided_at: str | None
    rejection_reason: str | None


class ReconciliationResponse(ResponseShape):
    success: Literal[True]
    data: Reconciliation
    meta: EnvelopeMeta


class ReconciliationPageResponse(ResponseShape):
    success: Literal[True]
    data: list[Reconciliation]
    meta: OffsetMeta


class ResetResponse(ResponseShape):
    success: Literal[True]
    data: Payout
    meta: EnvelopeMeta
