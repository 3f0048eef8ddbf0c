"""Whether a user may be erased, by the open obligations that other services report (decision 25)."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

# The services that must evaluate a request before it is decided.
EVALUATING_SERVICES: Final = frozenset({"orders", "payments", "payouts"})
Status = Literal["asked", "refused", "done"]


def evaluate(verdicts: Mapping[str, Sequence[str]]) -> Status:
    """Return `asked` until all services have evaluated; then one open obligation is enough to reject."""
    if not verdicts.keys() >= EVALUATING_SERVICES:
        return "asked"
    return "refused" if any(verdicts.values()) else "done"
