"""Request and response models of vendors and vendor applications."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import A_NAME, RequestBody

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
