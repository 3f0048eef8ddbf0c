"""Request and response models of vendors and vendor applications."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import A_NAME, RequestBody, ResponseShape
from identity.schemas.commission_changes import CommissionChange

BusinessName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=120), A_NAME]
LegalName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=200), A_NAME]
Category = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


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

    Any other null is rejected.
    """

    business_name: BusinessName = ""
    category: Category = ""
    description: Description = ""
    commission_basis_points: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    revision: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = None


class Vendor(ResponseShape):
    """The public fields; the optional ones are for the owner and the staff."""

    id: UUID
    business_name: str
    campus_id: UUID
    category: str | None
    description: str | None
    created_at: datetime
    owner_user_id: UUID | None = None
    legal_name: str | None = None
    status: Literal["active", "suspended"] | None = None
    suspension_reason: str | None = None
    commission_basis_points: int | None = None
    revision: int | None = None
    commission_change: Annotated[
        CommissionChange | None,
        Field(description="The change that this request prepared, which waits for a second platform_admin."),
    ] = None


class Applicant(ResponseShape):
    """Who applied. `campusId` is the campus of the proven mail address."""

    full_name: str | None
    email: str
    email_confirmed: bool
    campus_id: UUID | None


class VendorApplication(ResponseShape):
    """`decidedBy` is only for the staff, as is `applicant`, which a list does not show."""

    id: UUID
    user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    category: str
    description: str
    status: Literal["pending", "approved", "rejected"]
    reason: str | None
    vendor_id: UUID | None
    decided_at: datetime | None
    created_at: datetime
    decided_by: UUID | None = None
    applicant: Applicant | None = None
