"""Who may hold which staff role, and who may grant it (contract section 5)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args
from uuid import UUID

from common.primitives.decisions import (
    AlreadyDecided,
    NothingPrepared,
    PreparedDecision,
    content_hash,
    evaluate_rejection,
)
from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from common.primitives.problems import ValidationFailed
from contracts.permissions import MONEY_ROLES, STAFF_ROLES
from identity.domain.errors import AppointedElsewhere, ConflictingRoles, OwnGrant

ADMIN: Final = "platform_admin"
# A grant without an approval within a day was not intended.
GRANT_LIFE: Final = timedelta(hours=24)
# Longer than a holiday of every administrator. A sign-in after it proposes the role again.
PROPOSAL_LIFE: Final = timedelta(days=30)
# A rejected proposal is not repeated at each sign-in of a user whose group stays.
REJECTION_HOLDS: Final = timedelta(days=90)
HUB_AGENT: Final = "hub_agent"
LOCAL_ROLES: Final = frozenset({"campus_admin", "hub_agent"})
"""Roles at one campus or hub, which a group of an identity provider does not name."""
PROPOSABLE_ROLES: Final = STAFF_ROLES - LOCAL_ROLES
"""Staff roles that a group of an identity provider may propose."""
GrantStatus = Literal["proposed", "prepared", "approved", "rejected", "expired"]

STAFF_GRANT: Final = Lifecycle[GrantStatus, Literal["prepared", "approved", "rejected", "expired"]](
    "Staff grant",
    "A role for which one administrator prepares a grant and another approves it. An identity provider may propose it.",
    get_args(GrantStatus),
    {
        "prepared": Rule({"proposed": "prepared"}, repeated={"prepared"}, by="a platform_admin"),
        "approved": Rule({"prepared": "approved"}, repeated={"approved"}, by="the checker"),
        "rejected": Rule(
            {"proposed": "rejected", "prepared": "rejected"},
            repeated={"rejected"},
            by="the checker; a proposal: any other platform_admin",
        ),
        "expired": Rule(
            {"proposed": "expired", "prepared": "expired"},
            by="timer, the erasure of the user, or a sign-in without the group of the proposal",
        ),
    },
)
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
    """A grant that needs a second approver; without `prepared_by` the proposal of an identity provider."""

    id: UUID
    user_id: UUID
    role: str
    status: GrantStatus
    prepared_by: UUID | None
    expires_at: datetime
    # The name of an identity provider.
    proposed_by: str | None = None

    @property
    def hash(self) -> str:
        return content_hash(
            {
                "id": self.id,
                "userId": self.user_id,
                "role": self.role,
                "preparedBy": self.prepared_by,
                "expiresAt": self.expires_at,
                # Absent from the content of other grants, whose hashes stay.
                **({} if self.proposed_by is None else {"proposedBy": self.proposed_by}),
            }
        )

    def status_at(self, now: datetime) -> GrantStatus:
        is_open = STAFF_GRANT.allows(self.status, "expired")
        return "expired" if is_open and self.expires_at <= now else self.status

    def decision_at(self, now: datetime) -> PreparedDecision:
        """Return the decision that a checker makes. Raises NothingPrepared (409) for a proposal."""
        status = self.status_at(now)
        if status == "proposed" or self.prepared_by is None:
            raise NothingPrepared
        return PreparedDecision(status, self.prepared_by, self.hash)

    def allows_rejection(self, by: UUID, now: datetime) -> bool:
        """Return whether the rejection takes effect now; False for a repetition.

        One administrator is enough for a proposal. Raises AlreadyDecided, and the errors of `evaluate_rejection`.
        """
        if self.prepared_by is not None:
            return evaluate_rejection(self.decision_at(now), by)
        status = self.status_at(now)
        after = STAFF_GRANT.next_state(status, "rejected")
        if after is Rejection.FORBIDDEN:
            raise AlreadyDecided(status)
        return after is not Rejection.REPEATED


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
