"""Request and response models of vendors and vendor applications."""

from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from common.web.schemas import A_NAME, Instant, RequestBody
from contracts.opening_hours import Day

BusinessName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=120), A_NAME]
LegalName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=200), A_NAME]
Category = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


TimeOfDay = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$", examples=["08:30"])]
# Several periods a day, for each day of the week.
PERIODS_MAX: Final = 28


class AbsenceRequest(RequestBody):
    """The shop takes no new orders before `until`, a time with an offset; then it is open again by itself."""

    until: Instant
    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=280)] | None = None


class OpeningPeriodRequest(RequestBody):
    """A period of a day, in the time of Lagos. It shows when a shop or hub is open and rejects no order."""

    day: Day
    opens: Annotated[TimeOfDay, Field(alias="from")]
    closes: Annotated[TimeOfDay, Field(alias="to")]

    @model_validator(mode="after")
    def check_length(self) -> Self:
        """Reject a period that ends before it begins; one over midnight is two periods."""
        if self.opens >= self.closes:
            raise ValueError("`from` must be before `to`; split a period that goes over midnight")
        return self


OpeningHours = Annotated[list[OpeningPeriodRequest], Field(default_factory=list, max_length=PERIODS_MAX)]


class CreateVendorApplicationRequest(RequestBody):
    business_name: BusinessName
    legal_name: LegalName
    campus_id: UUID
    category: Category
    description: Description


class RejectApplicationRequest(RequestBody):
    reason: Reason


class SuspendVendorRequest(RequestBody):
    reason: Reason


class ReinstateVendorRequest(RequestBody):
    reason: Reason | None = None


class UpdateVendorRequest(RequestBody):
    """Absent fields stay. A commission waits for a second platform_admin; null is the platform's default.

    `away: null` ends an absence. Any other null is rejected.
    """

    business_name: BusinessName = ""
    category: Category = ""
    description: Description = ""
    away: Annotated[AbsenceRequest | None, Field(description="Null ends an absence.")] = None
    opening_hours: OpeningHours
    commission_basis_points: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    revision: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = None
