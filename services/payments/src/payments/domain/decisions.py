"""Decisions of two people: one prepares, another one approves or rejects (contract sections 5 and 14, trap 8)."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from payments.domain.errors import AlreadyDecided, DecidedByItsMaker, NothingPrepared

Verdict = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The newest decision about a subject, as it stands."""

    id: UUID
    status: str
    prepared_by: UUID


def judge_decision(decision: Decision | None, verdict: Verdict, by: UUID) -> bool:
    """Whether the verdict takes effect now; False for its repetition, which succeeds without effect.

    Raises NothingPrepared and AlreadyDecided (409), and DecidedByItsMaker (403): a person is a user id, whatever role or session.
    """
    if decision is None:
        raise NothingPrepared
    if decision.prepared_by == by:
        raise DecidedByItsMaker
    if decision.status == verdict:
        return False
    if decision.status != "prepared":
        raise AlreadyDecided(decision.status)
    return True
