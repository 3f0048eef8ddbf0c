"""Responses of resets and of four-eyes reconciliations (contract section 8)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import StaffDecisionStatus
from common.web.response_models import ResponseModel, Timestamp
from payouts.domain.returns import ReturnKind


class PreparedEntry(ResponseModel):
    account: str
    amount_minor: Annotated[int, Meta(description="In kobo, debit positive.")]


class PlannedReturnEntry(PreparedEntry):
    balance_minor: Annotated[int, Meta(description="The account's balance now, in kobo, debit positive.")]


class PreparedPosting(ResponseModel):
    type: ReturnKind
    posting_key: str
    currency: str
    entries: list[PreparedEntry]


class Reconciliation(ResponseModel):
    id: UUID
    payout_id: UUID
    payout_number: Annotated[str, Meta(description="The payout's number for people: `PO-XXXX-XXXX`.")]
    vendor_id: UUID
    vendor_name: Annotated[str | None, Meta(description="The vendor's legal name; null after its erasure.")]
    transfer_id: Annotated[
        UUID | None, Meta(description="With `recovery` and `recovery_returned`: the unrecorded transfer.")
    ]
    kind: ReturnKind
    status: StaffDecisionStatus
    amount_minor: int
    currency: str
    reason: str
    postings: Annotated[list[PreparedPosting], Meta(description="The prepared ledger postings.")]
    hash: Annotated[
        str,
        Meta(
            description=(
                "SHA-256, in hex, of payout, kind and postings; `/approve` must repeat it, calculated again "
                "before the posting."
            )
        ),
    ]
    prepared_by: UUID
    prepared_at: Timestamp
    decided_by: UUID | None
    decided_at: Timestamp | None
    rejection_reason: str | None
