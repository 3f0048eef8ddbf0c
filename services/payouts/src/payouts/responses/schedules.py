"""Response of a payout schedule."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from payouts.domain.schedules import Frequency, SkippedReason, Weekday


class ScheduledPayout(ResponseModel):
    period: Annotated[str, Meta(description="The day or week of the run.")]
    outcome: Literal["requested", "skipped"]
    reason: SkippedReason | None
    payout_id: UUID | None
    available_minor: int
    due_at: Timestamp
    decided_at: Timestamp


class PayoutSchedule(ResponseModel):
    vendor_id: UUID
    frequency: Frequency
    weekday: Weekday | None
    minimum_minor: int | None
    next_at: Annotated[Timestamp | None, Meta(description="The time of the next run; null without one.")]
    updated_at: Timestamp | None
    latest: Annotated[ScheduledPayout | None, Meta(description="The last run of the schedule; null before the first.")]
