"""Response of a dispatch."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import OvertakableStatus
from common.web.response_models import ResponseModel, Timestamp
from payouts.domain.dispatch import SkipReason
from payouts.domain.transitions import State


class DispatchedTransfer(ResponseModel):
    payout_id: UUID
    amount_minor: int
    reference: str | None
    status: Annotated[State | Literal["planned"], Meta(description="`planned` in a dry run.")]
    transfer_code: str | None
    failure: str | None


class SkippedPayout(ResponseModel):
    payout_id: UUID
    reason: SkipReason


class PayoutDispatch(ResponseModel):
    batch_id: UUID
    dry_run: bool
    submitted: Annotated[int, Meta(description="Transfers that the payment gateway has accepted.")]
    queued: int
    remaining: Annotated[int, Meta(description="Waiting payouts beyond the largest batch.")]
    total_minor: int
    fees_minor: Annotated[
        int, Meta(description="The gateway's fees for `totalMinor`, in kobo; its balance must cover both.")
    ]
    gateway_balance_minor: Annotated[int, Meta(description="The platform's balance at the payment gateway in kobo.")]
    transfers: Annotated[list[DispatchedTransfer], Meta(description="The transfers of this dispatch.")]
    skipped: list[SkippedPayout]


class BatchPayout(ResponseModel):
    """A payout of a batch with its payee and account."""

    payout_id: UUID
    payout_number: Annotated[str | None, Meta(description="The payout's number for people; null for an unknown id.")]
    vendor_id: UUID | None
    vendor_name: Annotated[str | None, Meta(description="The vendor's legal name; null after its erasure.")]
    bank_code: str | None
    bank_name: Annotated[str | None, Meta(description="The bank's name; null for a code that no list has.")]
    account_last4: str | None
    account_name: Annotated[
        str | None, Meta(description="The holder of the account as the bank named them; null while that is unknown.")
    ]
    requested_at: Annotated[Timestamp | None, Meta(description="When the vendor requested the payout.")]


class BatchTransfer(BatchPayout):
    """A transfer of a batch, with its payee."""

    amount_minor: int
    reference: str | None
    status: Annotated[State | Literal["planned"], Meta(description="`planned` in a dry run.")]
    transfer_code: str | None
    failure: str | None
    fee_minor: Annotated[int, Meta(description="The gateway's fee of the transfer by its schedule, in kobo.")]


class BatchSkippedPayout(BatchPayout):
    """A payout that the dispatch skipped, with its payee."""

    reason: SkipReason
    amount_minor: Annotated[int, Meta(description="Kobo; 0 for an unknown id.")]


class PayoutRunApproval(ResponseModel):
    """The approval of a preview by a second person."""

    status: Annotated[
        OvertakableStatus,
        Meta(description="`overtaken`: the list changed before the approval, and nothing was sent."),
    ]
    prepared_by: Annotated[UUID, Meta(description="The maker.")]
    prepared_at: Timestamp
    decided_by: Annotated[UUID | None, Meta(description="The checker.")]
    decided_at: Timestamp | None
    rejection_reason: str | None
    sent_batch_id: Annotated[UUID | None, Meta(description="The batch that the approval sent.")]


class PayoutBatchDetail(ResponseModel):
    """A dispatch with its transfers as they are now, for people: each line names the payee."""

    batch_id: UUID
    dry_run: bool
    dispatched_by: Annotated[UUID, Meta(description="The member of staff who made the dispatch or its preview.")]
    created_at: Timestamp
    submitted: Annotated[int, Meta(description="Transfers that the payment gateway has accepted.")]
    queued: int
    remaining: Annotated[int, Meta(description="Waiting payouts beyond the largest batch.")]
    total_minor: int
    fees_minor: Annotated[
        int, Meta(description="The gateway's fees for `totalMinor`, in kobo; its balance must cover both.")
    ]
    gateway_balance_minor: Annotated[int, Meta(description="The platform's balance at the payment gateway in kobo.")]
    transfers: Annotated[list[BatchTransfer], Meta(description="The transfers of this dispatch, with their payees.")]
    skipped: list[BatchSkippedPayout]
    hash: Annotated[
        str | None,
        Meta(
            description="SHA-256, in hex, of a preview's list as it is now: payouts, vendors, accounts, amounts and "
            "fees; `/prepare` and `/approve` must repeat it. Null for a batch that was sent."
        ),
    ]
    approval: Annotated[PayoutRunApproval | None, Meta(description="The approval of a preview that was prepared.")]
    approval_required: Annotated[
        bool, Meta(description="Whether a second person must approve this preview, because of its total.")
    ]


class PayoutBatch(ResponseModel):
    """A dispatch that was sent, with the counts of its transfers as they are now."""

    batch_id: UUID
    dispatched_by: Annotated[UUID, Meta(description="The member of staff who sent the batch.")]
    created_at: Timestamp
    finished_at: Annotated[
        Timestamp | None, Meta(description="When each transfer was submitted once or left to the worker.")
    ]
    payouts: Annotated[int, Meta(description="The number of its payouts.")]
    total_minor: Annotated[int, Meta(description="Kobo, of the payouts that were not skipped.")]
    skipped: int
    successful: Annotated[int, Meta(description="The number of transfers that succeeded.")]
    failed: Annotated[int, Meta(description="The number of transfers that failed or were reversed.")]
