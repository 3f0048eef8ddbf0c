"""The life of a payout exception: what changes it, and when it may be closed (contract section 8)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from contracts.severities import Severity
from payouts.domain.errors import ExceptionIsClosed, PayoutUnsettled
from payouts.domain.severity import Cause, worse_severity

# The page in docs/runbooks for the on-call staff.
RUNBOOK: Final = "payout-exceptions"
RELEASES_RUNBOOK: Final = "credit-not-released"

ExceptionActionKind = Literal["classified", "changed", "noted", "closed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The cause of an exception and its severity."""

    cause: Cause
    severity: Severity


@dataclass(frozen=True, slots=True)
class OpenException:
    """An exception under lock. `classified`: staff have set its cause."""

    id: UUID
    payout_id: UUID | None
    batch_id: UUID | None
    vendor_id: UUID | None
    finding: Finding
    detail: str
    respond_by: datetime
    opened_at: datetime
    is_open: bool
    classified: bool = False
    # The attempt; None for a batch or a vendor.
    transfer_id: UUID | None = None
    # The payout's number for people.
    number: str | None = None

    @property
    def held_vendor_id(self) -> UUID | None:
        """The vendor whose payouts are all held; None for the exception of a payout or a batch."""
        return self.vendor_id if self.payout_id is None and self.batch_id is None else None

    @property
    def subject(self) -> str:
        """The subject of alerts."""
        return str(self.payout_id or self.batch_id or self.vendor_id)


@dataclass(frozen=True, slots=True)
class ExceptionAction:
    """One line of an exception's history. `by` is None for the service itself."""

    kind: ExceptionActionKind
    by: UUID | None
    before: Finding
    after: Finding
    note: str


@dataclass(frozen=True, slots=True)
class Settlement:
    """Where a payout's money is. `reversed_after_success`: the bank returned it to the gateway, which has not confirmed
    a success since. `returned`: it is in the wallet. `held`: it may have been paid twice, and two people have not
    decided.
    """

    payout_status: str
    reversed_after_success: bool
    returned: bool
    held: bool = False


def alert_key(exception_id: UUID) -> str:
    """Return the deduplication key of all alerts of one exception."""
    return f"payout-exception:{exception_id}"


def runbook_of(cause: Cause) -> str:
    """Return the page for the on-call staff."""
    return RELEASES_RUNBOOK if cause in ("credit_not_released", "release_statement_late") else RUNBOOK


def check_classification(exception: OpenException, finding: Finding) -> bool:
    """Return whether the classification has an effect; False when it repeats the finding. Raises ExceptionIsClosed
    (409).
    """
    if not exception.is_open:
        raise ExceptionIsClosed
    return finding != exception.finding


def check_closing(exception: OpenException, settlement: Settlement | None) -> bool:
    """Return whether the closing has an effect; False when it is closed already. Raises PayoutUnsettled (409).

    An exception of a batch (`settlement` None) concerns no money: nothing of the batch was sent.
    """
    if not exception.is_open:
        return False
    if settlement is not None and not is_settled(settlement):
        raise PayoutUnsettled
    return True


def is_settled(settlement: Settlement) -> bool:
    """Return whether the vendor has the money once, at the bank or in the wallet."""
    if settlement.held:
        return False
    if settlement.payout_status == "processed":
        return settlement.returned or not settlement.reversed_after_success
    return settlement.payout_status == "failed"


# Causes that explain less than any other.
_UNSPECIFIC_CAUSES: Final[frozenset[Cause]] = frozenset({"unclassified", "timeout"})


def revised(exception: OpenException, update: Finding) -> Finding:
    """Return the finding after a further report: the newer cause, unless staff set one or money is held, and the worse
    severity.
    """
    is_held = exception.finding.cause == "transfer_contradicted"
    keeps_cause = exception.classified or is_held or update.cause in _UNSPECIFIC_CAUSES
    cause = exception.finding.cause if keeps_cause else update.cause
    return Finding(cause, worse_severity(exception.finding.severity, update.severity))
