"""Who may hold which staff role, and who may grant it (contract section 5)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from common.primitives.decisions import PreparedDecision, content_hash
from common.primitives.problems import ValidationFailed
from contracts.permissions import MONEY_ROLES, STAFF_ROLES
from identity.domain.errors import AppointedElsewhere, ConflictingRoles, OwnGrant

ADMIN: Final = "platform_admin"
# A grant without an approval within a day was not intended.
GRANT_LIFE: Final = timedelta(hours=24)
# No user both prepares and approves, and no user who appoints staff moves money.
_EXCLUDE_EACH_OTHER: Final = frozenset(
    {frozenset({"finance_maker", "finance_checker"}), *(frozenset({ADMIN, role}) for role in MONEY_ROLES)}
)


@dataclass(frozen=True, slots=True)
class Appointment:
    """A role with its campus, and for a hub agent the hub."""

    role: str
    campus_id: UUID | None = None
    hub_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class StaffUser:
    """A user with the facts that a decision on their roles needs."""

    user_id: UUID
    appointments: tuple[Appointment, ...]
    is_suspended: bool
    has_second_factor: bool
    email_confirmed: bool

    @property
    def roles(self) -> frozenset[str]:
        return frozenset(appointment.role for appointment in self.appointments)

    def appointment(self, role: str) -> Appointment | None:
        """Return the appointment with this role, None without one."""
        return next((appointment for appointment in self.appointments if appointment.role == role), None)


@dataclass(frozen=True, slots=True)
class PreparedGrant:
    """A grant that needs a second approver."""

    id: UUID
    user_id: UUID
    role: str
    status: Literal["prepared", "approved", "rejected", "expired"]
    prepared_by: UUID
    expires_at: datetime

    @property
    def hash(self) -> str:
        return content_hash(
            {
                "id": self.id,
                "userId": self.user_id,
                "role": self.role,
                "preparedBy": self.prepared_by,
                "expiresAt": self.expires_at,
            }
        )

    def decision_at(self, now: datetime) -> PreparedDecision:
        is_expired = self.status == "prepared" and self.expires_at <= now
        return PreparedDecision("expired" if is_expired else self.status, self.prepared_by, self.hash)


def requires_second_approver(role: str) -> bool:
    """Roles that move money need one, and platform_admin, who could otherwise create an approver alone."""
    return role == ADMIN or role in MONEY_ROLES


def check_location(role: str, campus_id: UUID | None, hub_id: UUID | None) -> None:
    """Check campus and hub of a role (422): a campus_admin has a campus, a hub_agent a hub, other roles neither.

    The campus of a hub_agent's hub may be given too.
    """
    if role == "hub_agent":
        if hub_id is None:
            raise ValidationFailed.of("hubId", "is required for hub_agent")
        return
    if hub_id is not None:
        raise ValidationFailed.of("hubId", f"must be absent for {role}")
    if role == "campus_admin" and campus_id is None:
        raise ValidationFailed.of("campusId", "is required for campus_admin")
    if role != "campus_admin" and campus_id is not None:
        raise ValidationFailed.of("campusId", f"must be absent for {role}")


def check_roles_compatible(appointments: Collection[Appointment], requested: Appointment) -> None:
    """Raise ConflictingRoles, and AppointedElsewhere for a second campus: a token names one campus for all roles."""
    for appointment in appointments:
        if frozenset({appointment.role, requested.role}) in _EXCLUDE_EACH_OTHER:
            raise ConflictingRoles(appointment.role, requested.role)
        if (
            appointment.role in STAFF_ROLES
            and None not in (appointment.campus_id, requested.campus_id)
            and (appointment.campus_id != requested.campus_id)
        ):
            raise AppointedElsewhere(appointment.role)


def check_not_own_grant(grant: PreparedGrant, decider_id: UUID) -> None:
    """Reject a grantee who decides on the grant. Raises OwnGrant (403)."""
    if decider_id == grant.user_id:
        raise OwnGrant
