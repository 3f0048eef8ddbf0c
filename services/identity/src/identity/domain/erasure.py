"""Decide the erasure of a user by the open obligations that other services report (decision 25)."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from common.primitives.lifecycles import Lifecycle, Rule

# The services that must evaluate a request before it is decided.
EVALUATING_SERVICES: Final = frozenset({"orders", "payments", "payouts"})
ErasureStatus = Literal["asked", "refused", "done"]
Evaluation = Literal["incomplete", "refused", "done"]

_CLOSED: Final[frozenset[ErasureStatus]] = frozenset({"refused", "done"})
ERASURE: Final = Lifecycle[ErasureStatus, Evaluation](
    "Erasure",
    "A user's request to be erased. After a refusal the user may request it again.",
    get_args(ErasureStatus),
    {
        "incomplete": Rule({"asked": "asked"}, stale=_CLOSED, by="orders, payments or payouts service"),
        "refused": Rule(
            {"asked": "refused"}, stale=_CLOSED, by="the last of these services: one or identity has an open obligation"
        ),
        "done": Rule({"asked": "done"}, stale=_CLOSED, by="the last of these services: no obligation is open"),
    },
)


def evaluate(verdicts: Mapping[str, Sequence[str]]) -> Evaluation:
    """Return `incomplete` until all services have evaluated; then one open obligation is enough to refuse."""
    if not verdicts.keys() >= EVALUATING_SERVICES:
        return "incomplete"
    return "refused" if any(verdicts.values()) else "done"
