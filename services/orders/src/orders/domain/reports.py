"""Reports of products, reviews, vendors and messages, and their decisions (contract section 11.10)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.problems import Conflict, Forbidden, ValidationFailed
from orders.domain.order_roles import is_own_vendor

SubjectKind = Literal["product", "review", "vendor", "message"]
ReportOutcome = Literal["dismiss", "hide", "suspend_vendor"]


class PartyCannotDecideReport(Forbidden):
    detail = "You cannot decide on your own report, or on a report about your own vendor."


class ReportAlreadyDecided(Conflict):
    detail = "The report was decided otherwise. Read it again."


# A vendor is suspended and not hidden. The vendor of a review did not write it.
_OUTCOMES: Final[Mapping[SubjectKind, tuple[ReportOutcome, ...]]] = {
    "product": ("dismiss", "hide", "suspend_vendor"),
    "review": ("dismiss", "hide"),
    "vendor": ("dismiss", "suspend_vendor"),
    "message": ("dismiss", "hide"),
}


@dataclass(frozen=True, slots=True)
class ReportedSubject:
    """A reported product, review, vendor or message, with its vendor."""

    kind: SubjectKind
    id: UUID
    vendor_id: UUID
    campus_id: UUID


@dataclass(frozen=True, slots=True)
class Report:
    """The locked row of a report; `outcome` is None while it is open."""

    id: UUID
    reporter_id: UUID
    subject: ReportedSubject
    outcome: ReportOutcome | None
    vendor_owner_id: UUID | None


def check_decision(caller: Caller, report: Report, outcome: ReportOutcome) -> bool:
    """Return whether the decision changes anything; False for its repetition.

    A later dismissal shows a hidden subject again. Raises Forbidden for an outcome that the caller's roles do not
    permit, PartyCannotDecideReport (403), ValidationFailed (422) for an outcome that the subject cannot have,
    ReportAlreadyDecided (409).
    """
    subject = report.subject
    if outcome == "suspend_vendor":
        if not caller.may("vendors:suspend") or caller.campus_id != subject.campus_id:
            raise Forbidden
    elif not caller.may("reports:decide"):
        raise Forbidden
    if caller.id == report.reporter_id or is_own_vendor(caller, subject.vendor_id, report.vendor_owner_id):
        raise PartyCannotDecideReport
    if outcome not in _OUTCOMES[subject.kind]:
        raise ValidationFailed.of("outcome", f"a {subject.kind} is decided by {' or '.join(_OUTCOMES[subject.kind])}")
    if report.outcome not in (None, outcome) and (report.outcome, outcome) != ("hide", "dismiss"):
        raise ReportAlreadyDecided
    return report.outcome != outcome
