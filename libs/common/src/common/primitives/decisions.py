"""Decisions by a maker and a checker: the checker approves exactly what was prepared, or rejects it
(contract section 5.5).
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final, Literal, TypeVar, get_args
from uuid import UUID

import msgspec

from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from common.primitives.problems import Conflict, Forbidden

Verdict = Literal["approved", "rejected"]
Status = TypeVar("Status", bound=str)
DecisionStatus = Literal["prepared", "approved", "rejected", "expired", "overtaken"]
# Of decisions that people alone end, that time ends as well, and that a change of their subject ends as well.
StaffDecisionStatus = Literal["prepared", "approved", "rejected"]
ExpiringStatus = Literal["prepared", "approved", "rejected", "expired"]
OvertakableStatus = Literal["prepared", "approved", "rejected", "overtaken"]

DECISION: Final = Lifecycle[DecisionStatus, Literal["approved", "rejected", "expired", "overtaken"]](
    "Decision",
    "A decision that one of staff prepares and another one makes. A rejected one may be prepared again, as a new one.",
    get_args(DecisionStatus),
    {
        "approved": Rule({"prepared": "approved"}, repeated={"approved"}, by="the checker"),
        "rejected": Rule({"prepared": "rejected"}, repeated={"rejected"}, by="the checker"),
        "expired": Rule({"prepared": "expired"}, by="timer, or the erasure of its subject"),
        "overtaken": Rule(
            {"prepared": "overtaken"},
            by="payments service: the refund was settled in the meantime; payouts service: the list of the run changed",
        ),
    },
)


class NothingPrepared(Conflict):
    detail = "No decision is prepared here."


class AlreadyDecided(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The decision is {status} already. Nothing was changed.")


class OtherContent(Conflict):
    """The hash belongs to another decision, or to another content of this one."""

    detail = "The hash is not the hash of the prepared decision. Read the decision again before you approve it."


class DecidedByItsMaker(Forbidden):
    detail = "The person who prepared a decision cannot decide on it, under any role."


@dataclass(frozen=True, slots=True)
class PreparedDecision:
    """A stored decision; `hash` is computed over its current content."""

    status: DecisionStatus
    prepared_by: UUID
    hash: str


@dataclass(frozen=True, slots=True)
class DecisionContent:
    """The base of a decision's content: the checker approves every field of it, by their hash."""

    id: UUID
    prepared_by: UUID

    @property
    def hash(self) -> str:
        return content_hash(asdict(self))

    @property
    def ends_at(self) -> datetime | None:
        """The instant from which it can no longer be approved; None without one."""
        return None

    def prepared(self, status: DecisionStatus, now: datetime) -> PreparedDecision:
        """Return the decision as it is evaluated at this instant, when its stored status is `status`."""
        return PreparedDecision(status_at(status, self.ends_at, now), self.prepared_by, self.hash)


def status_at(status: Status, ends_at: datetime | None, now: datetime) -> Status | Literal["expired"]:
    """Return the status at this instant: a prepared decision expires without a write."""
    return "expired" if status == "prepared" and ends_at is not None and ends_at <= now else status


def content_hash(content: Mapping[str, object]) -> str:
    """SHA-256, in hex, over the content as JSON in a canonical form: sorted keys, no spaces."""
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def evaluate_approval(decision: PreparedDecision | None, approved_hash: str, by: UUID) -> bool:
    """Return whether the approval takes effect now; False for its repetition, which succeeds without effect.

    Maker and checker are compared by user id, whatever their role or session. Raises NothingPrepared, OtherContent and
    AlreadyDecided (409), and DecidedByItsMaker (403).
    """
    prepared = _decided_by_another(decision, by)
    must_match(prepared.hash, approved_hash)
    return _is_effective(prepared, "approved")


def evaluate_rejection(decision: PreparedDecision | None, by: UUID) -> bool:
    """Return whether the rejection takes effect now. Raises as `evaluate_approval` does, except for the hash."""
    return _is_effective(_decided_by_another(decision, by), "rejected")


def must_match(prepared_hash: str, approved_hash: str) -> None:
    """Raise OtherContent (409) unless both hashes are the same; compared in constant time."""
    if not hmac.compare_digest(prepared_hash.encode(), approved_hash.encode()):
        raise OtherContent


def _decided_by_another(decision: PreparedDecision | None, by: UUID) -> PreparedDecision:
    if decision is None:
        raise NothingPrepared
    if decision.prepared_by == by:
        raise DecidedByItsMaker
    return decision


def _is_effective(decision: PreparedDecision, verdict: Verdict) -> bool:
    after = DECISION.next_state(decision.status, verdict)
    if after is Rejection.FORBIDDEN:
        raise AlreadyDecided(decision.status)
    return after is not Rejection.REPEATED
