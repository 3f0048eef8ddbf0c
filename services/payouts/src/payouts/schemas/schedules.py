"""Request body and response of a payout schedule."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from common.web.schemas import PositiveKobo, RequestBody, ResponseShape
from payouts.domain.schedules import Frequency, SkippedReason, Weekday


class ReplacePayoutScheduleRequest(RequestBody):
    frequency: Frequency
    weekday: Annotated[Weekday | None, Field(description="With `weekly`, and only with it.")] = None
    minimum_minor: Annotated[PositiveKobo | None, Field(description="Below it nothing is asked for; kobo.")] = None

    @model_validator(mode="after")
    def has_a_weekday_when_weekly(self) -> Self:
        if (self.frequency == "weekly") != (self.weekday is not None):
            raise ValueError("weekday stands with a weekly schedule, and only with it")
        return self


class ScheduledPayout(ResponseShape):
    period: str
    outcome: Literal["requested", "skipped"]
    reason: SkippedReason | None
    payout_id: UUID | None
    available_minor: int
    due_at: datetime
    decided_at: datetime


class PayoutSchedule(ResponseShape):
    vendor_id: UUID
    frequency: Frequency
    weekday: Weekday | None
    minimum_minor: int | None
    next_at: datetime | None
    updated_at: datetime | None
    latest: ScheduledPayout | None
