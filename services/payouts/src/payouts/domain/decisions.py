"""Decisions of two people: one prepares, another one approves or rejects (contract sections 8 and 14, trap 8)."""

from typing import Literal
from uuid import UUID

from payouts.domain.errors import AlreadyDecided, DecidedByItsMaker

Verdict = Literal["approved", "rejected"]


def judge_decision(status: str, prepared_by: UUID, verdict: Verdict, by: UUID) -> bool:
    """Whether the verdict takes effect now; False for its repetition, which succeeds without effect.

    Raises DecidedByItsMaker (403): a person is a user id, whatever role or session. Raises AlreadyDecided (409).
    """
    if prepared_by == by:
        raise DecidedByItsMaker
    if status == verdict:
        return False
    if status != "prepared":
        raise AlreadyDecided(status)
    return True
