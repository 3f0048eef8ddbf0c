"""Request body and response of a dispatch."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, field_validator

from common.web.schemas import PositiveKobo, RequestBody, ResponseShape
from payouts.domain.dispatch import BATCH_PAYOUTS_MAX, SkipReason
from payouts.domain.transitions import State


class DispatchPayoutsRequest(RequestBody):
    payout_ids: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=BATCH_PAYOUTS_MAX)] | None = None
    max_total_minor: PositiveKobo | None = None
    dry_run: Annotated[bool, Field(strict=True)] = False

    @field_validator("payout_ids")
    @classmethod
    def names_unique(cls, payout_ids: tuple[UUID, ...] | None) -> tuple[UUID, ...] | None:
        if payout_ids is not None and len(set(payout_ids)) != len(payout_ids):
            raise ValueError("must name each payout once")
        return payout_ids


class DispatchedTransfer(ResponseShape):
    payout_id: UUID
    amount_minor: int
    reference: str | None
    status: Annotated[State | Literal["planned"], Field(description="`planned` in a dry run.")]
    transfer_code: str | None
    failure: str | None


class SkippedPayout(ResponseShape):
    payout_id: UUID
    reason: SkipReason


class PayoutDispatch(ResponseShape):
    batch_id: UUID
    dry_run: bool
    submitted: int
    queued: int
    remaining: int
    total_minor: int
    fees_minor: int = Field(description="The gateway's fees for `totalMinor`, in kobo; its balance must cover both.")
    gateway_balance_minor: int
    transfers: list[DispatchedTransfer]
    skipped: list[SkippedPayout]


class PayoutBatch(ResponseShape):
    """A dispatch that was sent, with the counts of its transfers as they are now."""

    batch_id: UUID
    dispatched_by: UUID
    created_at: datetime
    finished_at: datetime | None = Field(description="When each transfer was submitted once or left to the worker.")
    payouts: int
    total_minor: int = Field(description="Kobo, of the payouts that were not skipped.")
    skipped: int
    successful: int
    failed: int
