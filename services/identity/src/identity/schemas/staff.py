"""Request and response models of staff, grants and the audit trail."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import DecisionHash, RequestBody, ResponseShape
from contracts.work import StaffActionSubject
from identity.schemas.fields import Role

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


class RoleAssignment(ResponseShape):
    role: StaffRole
    campus_id: UUID | None
    hub_id: UUID | None
    since: datetime


class StaffMember(ResponseShape):
    """`roles` are all roles of the user, `offices` the staff roles with campus and hub."""

    id: UUID
    full_name: str | None
    email: str
    role: Role
    roles: list[Role]
    offices: list[RoleAssignment]
    has_second_factor: bool
    suspended: bool
    suspended_at: datetime | None
    suspended_by: UUID | None
    suspension_reason: str | None
    created_at: datetime


class StaffName(ResponseShape):
    """Enough to name a colleague: no address unless no name is known, no campus, no state."""

    id: UUID
    name: Annotated[str, Field(description="The full name; the mail address of a member without one.")]
    roles: Annotated[list[StaffRole], Field(description="The staff roles.")]


class StaffGrant(ResponseShape):
    """`granted` needed no second approver and has no id. `prepared` waits for a second platform_admin until
    `expiresAt`.
    """

    id: UUID | None
    user_id: UUID
    role: StaffRole
    campus_id: UUID | None
    hub_id: UUID | None
    status: Literal["granted", "prepared", "approved", "rejected", "expired"]
    hash: DecisionHash | None
    prepared_by: UUID | None
    prepared_at: datetime
    expires_at: datetime | None
    decided_by: UUID | None
    decided_at: datetime | None


class StaffAction(ResponseShape):
    """One line of the audit trail. Without an actor: an operator at the machine, or the first start."""

    id: UUID
    actor_id: UUID | None
    act: str
    subject_kind: StaffActionSubject
    subject_id: UUID
    detail: dict[str, Any]
    created_at: datetime
