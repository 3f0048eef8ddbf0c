"""How far a message got, and that it only ever gets further (contract sections 9 and 12).

| From | Gets to |
|---|---|
| `queued` (of an attempt: `sending`, `unknown`) | any of the others |
| `sent` | `delivered`, `read`, `failed`, `bounced` |
| `delivered` | `read` |
| `read`, `failed`, `bounced` | nothing: what is said later is late |
"""

from collections.abc import Mapping
from typing import Final, Literal

Status = Literal["sent", "delivered", "read", "failed", "bounced"]
# The person has it: a failure that is told afterwards is about something else.
ARRIVED: Final = frozenset({"delivered", "read"})
LOST: Final = frozenset({"failed", "bounced"})

_RANKS: Final[Mapping[str, int]] = {"queued": 0, "sending": 0, "unknown": 0, "sent": 1, "delivered": 2, "read": 3}


def climbs(was: str, said: Status) -> bool:
    """Whether `said` is further than `was`; otherwise it is late news."""
    if was in LOST:
        return False
    if said in LOST:
        return was not in ARRIVED
    return _RANKS[said] > _RANKS[was]


def furthest(statuses: list[str]) -> int:
    """The place of the status that got furthest, in a list that is not empty: how a message to several devices stands."""
    ranks = [-1 if status in LOST else _RANKS[status] for status in statuses]
    return ranks.index(max(ranks))
