"""Request body of a dispatch."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, field_validator

from common.web.schemas import PositiveKobo, RequestBody
from payouts.domain.dispatch import BATCH_PAYOUTS_MAX
from payouts.schemas.reconciliations import Reason


class RejectDispatchRequest(RequestBody):
    reason: Reason


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
