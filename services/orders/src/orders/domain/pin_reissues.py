"""Reissues of a delivery PIN beyond the buyer's limit, which two members of staff decide (contract section 6)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.primitives.decisions import DecisionContent
from common.primitives.problems import Conflict
from orders.domain.pins import ISSUES_MAX, STAFF_ISSUES_MAX, WRONG_ATTEMPTS_MAX, IssuedPin

# The identification of the buyer is older afterwards than a second person should rely on.
REISSUE_LIFE: Final = timedelta(hours=24)
# The second approved reissue of one order raises an alert: another user may collect its parcel.
ALERT_FROM: Final = 2


class PinNotExhausted(Conflict):
    detail = "The buyer can reissue this delivery PIN without support: it is not locked, and reissues are left."


class PinReissuePending(Conflict):
    detail = "Another reissue of this order's delivery PIN is prepared. Approve or reject it first."


class PinIssuesExhausted(Conflict):
    def __init__(self) -> None:
        super().__init__(
            f"This order has had {STAFF_ISSUES_MAX} delivery PINs, which is the limit. Dispute the order instead."
        )


@dataclass(frozen=True, slots=True)
class PinReissue(DecisionContent):
    """A prepared reissue; `reason` states how the buyer was identified."""

    order_id: UUID
    reason: str
    expires_at: datetime

    @property
    def ends_at(self) -> datetime:
        return self.expires_at


def next_staff_issue(current: IssuedPin) -> int:
    """Return the number of the issue that staff may add. Raises PinNotExhausted and PinIssuesExhausted (409)."""
    if current.issue < ISSUES_MAX and current.wrong_tries < WRONG_ATTEMPTS_MAX:
        raise PinNotExhausted
    if current.issue >= STAFF_ISSUES_MAX:
        raise PinIssuesExhausted
    return current.issue + 1
