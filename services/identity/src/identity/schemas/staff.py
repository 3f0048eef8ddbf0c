"""Request and response models of staff, grants and the audit trail."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import StringConstraints

from common.web.schemas import RequestBody

# merchant comes from a vendor application, buyer from a sign-up.
StaffRole = Literal[
    "hub_agent",
    "support_agent",
    "campus_admin",
    "finance_maker",
    "finance_checker",
    "ops_oncall",
    "auditor",
    "platform_admin",
]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class GrantRoleRequest(RequestBody):
    """`campusId` for a campus_admin, `hubId` for a hub_agent, neither for the others."""

    role: StaffRole
    campus_id: UUID | None = None
    hub_id: UUID | None = None


class RevokeRoleRequest(RequestBody):
    role: StaffRole


class SuspendUserRequest(RequestBody):
    reason: Reason | None = None
