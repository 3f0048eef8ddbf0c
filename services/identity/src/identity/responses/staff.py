"""Response models of staff, grants and the audit trail."""

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash
from contracts.work import StaffActionSubject
from identity.schemas.fields import Role
from identity.schemas.staff import StaffRole


class RoleAssignment(ResponseModel):
    role: StaffRole
    campus_id: UUID | None
    hub_id: UUID | None
    since: Timestamp


class StaffMember(ResponseModel):
    """`roles` are all roles of the user, `offices` the staff roles with campus and hub."""

    id: UUID
    full_name: str | None
    email: str
    role: Annotated[Role, Meta(description="The highest role.")]
    roles: list[Role]
    offices: Annotated[list[RoleAssignment], Meta(description="The staff roles with their campus or hub.")]
    has_second_factor: Annotated[bool, Meta(description="Whether a second factor is confirmed.")]
    suspended: Annotated[bool, Meta(description="Whether it is suspended.")]
    suspended_at: Annotated[Timestamp | None, Meta(description="The time of the suspension; null without one.")]
    suspended_by: Annotated[UUID | None, Meta(description="The user who suspended it.")]
    suspension_reason: str | None
    created_at: Timestamp


class StaffName(ResponseModel):
    """Enough to name a colleague: no address unless no name is known, no campus, no state."""

    id: UUID
    name: Annotated[str, Meta(description="The full name; the mail address of a member without one.")]
    roles: Annotated[list[StaffRole], Meta(description="The staff roles.")]


class StaffGrant(ResponseModel):
    """`granted` needed no second approver and has no id. `prepared` waits for a second platform_admin until
    `expiresAt`. `proposed` comes from an identity provider and waits for two.
    """

    id: UUID | None
    user_id: UUID
    role: StaffRole
    campus_id: UUID | None
    hub_id: UUID | None
    status: Literal["granted", "proposed", "prepared", "approved", "rejected", "expired"]
    hash: DecisionHash | None
    proposed_by: Annotated[
        str | None, Meta(description="The identity provider that proposed the role; null without one.")
    ]
    prepared_by: UUID | None
    prepared_at: Annotated[Timestamp, Meta(description="The time of the preparation; of a proposal, its own.")]
    expires_at: Timestamp | None
    decided_by: UUID | None
    decided_at: Timestamp | None


class StaffAction(ResponseModel):
    """One line of the audit trail. Without an actor: an operator at the machine, or the first start."""

    id: UUID
    actor_id: Annotated[UUID | None, Meta(description="The member of staff; null for an operator at the machine.")]
    act: str
    subject_kind: StaffActionSubject
    subject_id: UUID
    detail: dict[str, Any]
    created_at: Timestamp
