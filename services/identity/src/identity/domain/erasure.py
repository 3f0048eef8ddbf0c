"""Whether a person may go: the services that keep money or orders of theirs say what is under way (decision 25)."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

# Whose word is waited for.
EVALUATING_SERVICES: Final = frozenset({"orders", "payments", "payouts"})
Status = Literal["asked", "refused", "done"]


def evaluate(verdicts: Mapping[str, Sequence[str]]) -> Status:
    """`asked` until all have spoken, so that a person learns everything at once; then one open matter is enough to stay."""
    if not verdicts.keys() >= EVALUATING_SERVICES:
        return "asked"
    return "refused" if any(verdicts.values()) else "done"
