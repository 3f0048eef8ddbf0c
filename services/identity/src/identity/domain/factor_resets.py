"""Resets of lost second factors, which need two people and a waiting time (contract section 5.5)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.primitives.clock import iso
from common.primitives.decisions import ExpiringStatus, PreparedDecision, content_hash, status_at
from common.primitives.problems import Conflict, Forbidden
from identity.domain.second_factors import Factor

# The owner of a mailbox reads the notice within a day, and objects by using the factor.
RESET_WAIT: Final = timedelta(hours=24)
# Who lost a factor has it again or has written by then.
RESET_LIFE: Final = timedelta(days=7)


class OwnFactorReset(Forbidden):
    detail = "You cannot reset your own second factors. Two other people must."


class NoFactorToReset(Conflict):
    detail = "This user has no second factor. They can enrol one after a sign-in."


class FactorResetOpen(Conflict):
    detail = "Another reset of this user's second factors is pending. Approve or reject it first."


class ResetWaits(Conflict):
    def __init__(self, until: datetime) -> None:
        super().__init__(
            f"The user was notified, and may still object. The reset can be approved from {iso(until)} on."
        )


class FactorUsedSince(Conflict):
    detail = "The user has used a second factor since this was prepared. It is not lost: reject the reset."


@dataclass(frozen=True, slots=True)
class FactorReset:
    """A prepared reset of all second factors of a user."""

    id: UUID
    user_id: UUID
    reason: str
    prepared_by: UUID
    prepared_at: datetime
    expires_at: datetime
    status: ExpiringStatus

    @property
    def hash(self) -> str:
        return content_hash(
            {
                "id": self.id,
                "userId": self.user_id,
                "reason": self.reason,
                "preparedBy": self.prepared_by,
                "expiresAt": self.expires_at,
            }
        )

    @property
    def waits_until(self) -> datetime:
        """The instant from which it may be approved."""
        return self.prepared_at + RESET_WAIT

    def decision_at(self, now: datetime) -> PreparedDecision:
        return PreparedDecision(status_at(self.status, self.expires_at, now), self.prepared_by, self.hash)

    def check_not_own(self, decider_id: UUID) -> None:
        """Raise OwnFactorReset (403) for the user whose factors it removes."""
        if decider_id == self.user_id:
            raise OwnFactorReset

    def check_due(self, factors: list[Factor], now: datetime, *, used_code: bool) -> None:
        """Raise ResetWaits (409) before the waiting time ends, FactorUsedSince (409) when the user has used a factor or
        a recovery code since.
        """
        if now < self.waits_until:
            raise ResetWaits(self.waits_until)
        if used_code or any(
            factor.last_used_at is not None and factor.last_used_at >= self.prepared_at for factor in factors
        ):
            raise FactorUsedSince
