"""Statuses of a delivery, which only advance (contract sections 9 and 12).

| From | Advances to |
|---|---|
| `queued` (of an attempt: `sending`, `unknown`) | any of the others |
| `sent` | `delivered`, `read`, `failed`, `bounced` |
| `delivered` | `read` |
| `read`, `failed`, `bounced` | nothing: a later report is stale |
"""

from collections.abc import Mapping
from typing import Final, Literal

Status = Literal["sent", "delivered", "read", "failed", "bounced"]
# A failure that is reported after the arrival is ignored.
ARRIVED: Final = frozenset({"delivered", "read"})
LOST: Final = frozenset({"failed", "bounced"})

_RANKS: Final[Mapping[str, int]] = {"queued": 0, "sending": 0, "unknown": 0, "sent": 1, "delivered": 2, "read": 3}


def advances(was: str, reported: Status) -> bool:
    """Return whether the reported status is further than the stored one; otherwise the report is stale."""
    if was in LOST:
        return False
    if reported in LOST:
        return was not in ARRIVED
    return _RANKS[reported] > _RANKS[was]


def furthest(statuses: list[str]) -> int:
    """Return the index of the furthest status in a non-empty list."""
    ranks = [-1 if status in LOST else _RANKS[status] for status in statuses]
    return ranks.index(max(ranks))
