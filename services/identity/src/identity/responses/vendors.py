"""Response models of vendors and vendor applications."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType, field

from common.web.response_models import ResponseModel, Timestamp
from contracts.opening_hours import Day
from identity.domain.vendor_applications import ApplicationStatus
from identity.responses.commission_changes import CommissionChange


class Absence(ResponseModel):
    """The shop takes no new orders before `until`."""

    until: Timestamp
    message: str | None


class OpeningPeriod(ResponseModel):
    """A period of a day, in the time of Lagos."""

    day: Day
    opens: str = field(name="from")
    closes: str = field(name="to")


class Vendor(ResponseModel):
    """The public fields; the optional ones are for the owner and the staff."""

    id: UUID
    business_name: str
    campus_id: UUID
    category: str | None
    description: str | None
    created_at: Timestamp
    away: Annotated[Absence | None, Meta(description="Null while the shop takes orders.")]
    opening_hours: list[OpeningPeriod]
    owner_user_id: Annotated[UUID | UnsetType | None, Meta(description="The user who owns the vendor.")] = UNSET
    legal_name: str | UnsetType | None = UNSET
    status: Literal["active", "suspended"] | UnsetType | None = UNSET
    suspension_reason: str | UnsetType | None = UNSET
    commission_basis_points: int | UnsetType | None = UNSET
    revision: int | UnsetType | None = UNSET
    commission_change: Annotated[
        CommissionChange | UnsetType | None,
        Meta(description="The change that this request prepared, which waits for a second platform_admin."),
    ] = UNSET


class Applicant(ResponseModel):
    """Who applied. `campusId` is the campus of the proven mail address."""

    full_name: str | None
    email: str
    email_confirmed: bool
    campus_id: UUID | None


class VendorApplication(ResponseModel):
    """`decidedBy` is only for the staff, as is `applicant`, which a list does not show."""

    id: UUID
    user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    category: str
    description: str
    status: ApplicationStatus
    reason: str | None
    vendor_id: UUID | None
    decided_at: Timestamp | None
    created_at: Timestamp
    decided_by: UUID | UnsetType | None = UNSET
    applicant: Annotated[Applicant | UnsetType | None, Meta(description="Who applied; only for the staff.")] = UNSET
