"""Decisions of staff on applications to become a vendor (contract section 10)."""

from dataclasses import dataclass
from typing import Final, Literal, get_args
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from identity.domain.errors import AnotherCampus, ApplicationDecidedOtherwise, OwnApplication

Outcome = Literal["approved", "rejected"]
ApplicationStatus = Literal["pending", "approved", "rejected"]

_DECIDERS: Final = "staff of the campus with `vendor_applications:decide`"
APPLICATION: Final = Lifecycle[ApplicationStatus, Outcome](
    "Application",
    "A user's application to become a vendor.",
    get_args(ApplicationStatus),
    {
        "approved": Rule({"pending": "approved"}, repeated={"approved"}, by=_DECIDERS),
        "rejected": Rule({"pending": "rejected"}, repeated={"rejected"}, by=_DECIDERS),
    },
)


@dataclass(frozen=True, slots=True)
class NewApplication:
    """The content of an application."""

    business_name: str
    legal_name: str
    campus_id: UUID
    category: str
    description: str


@dataclass(frozen=True, slots=True)
class Application:
    """A locked application."""

    id: UUID
    user_id: UUID
    details: NewApplication
    status: ApplicationStatus


def check_may_decide_application(caller: Caller, *, applicant_id: UUID, campus_id: UUID) -> None:
    """Allow staff of the application's campus except the applicant. Raises OwnApplication and AnotherCampus."""
    if applicant_id == caller.id:
        raise OwnApplication
    if campus_id != caller.campus_id:
        raise AnotherCampus


def is_undecided(application: Application, outcome: Outcome) -> bool:
    """Return False when the same decision was made before. Raises ApplicationDecidedOtherwise for the other one."""
    after = APPLICATION.next_state(application.status, outcome)
    if after is Rejection.FORBIDDEN:
        raise ApplicationDecidedOtherwise(application.status)
    return after is not Rejection.REPEATED
