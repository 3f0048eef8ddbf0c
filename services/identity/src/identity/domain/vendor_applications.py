"""What staff decide on an application to sell (contract section 10)."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from common.auth.caller import Caller
from identity.domain.errors import AnotherCampus, ApplicationDecidedOtherwise, OwnApplication

Outcome = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class NewApplication:
    """What a person wants to sell, and under which names."""

    business_name: str
    legal_name: str
    campus_id: UUID
    category: str
    description: str


@dataclass(frozen=True, slots=True)
class Application:
    """An application in hand."""

    id: UUID
    user_id: UUID
    wanted: NewApplication
    status: Literal["pending", "approved", "rejected"]


def check_may_decide_application(caller: Caller, *, applicant_id: UUID, campus_id: UUID) -> None:
    """Staff decide on the applications of their own campus, and nobody on their own. Raises OwnApplication and AnotherCampus."""
    if applicant_id == caller.id:
        raise OwnApplication
    if campus_id != caller.campus_id:
        raise AnotherCampus


def is_undecided(application: Application, outcome: Outcome) -> bool:
    """False when it was decided so before: a repetition has no effect. Raises ApplicationDecidedOtherwise."""
    if application.status == "pending":
        return True
    if application.status == outcome:
        return False
    raise ApplicationDecidedOtherwise(application.status)
