"""Request body of a payout schedule."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from common.web.schemas import PositiveKobo, RequestBody
from payouts.domain.schedules import Frequency, Weekday


class ReplacePayoutScheduleRequest(RequestBody):
    frequency: Frequency
    weekday: Annotated[Weekday | None, Field(description="With `weekly`, and only with it.")] = None
    minimum_minor: Annotated[PositiveKobo | None, Field(description="Below it nothing is asked for; kobo.")] = None

    @model_validator(mode="after")
    def has_a_weekday_when_weekly(self) -> Self:
        if (self.frequency == "weekly") != (self.weekday is not None):
            raise ValueError("weekday stands with a weekly schedule, and only with it")
        return self
