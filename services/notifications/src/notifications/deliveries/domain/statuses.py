"""Statuses of a delivery and of its attempts, which only advance (contract sections 9 and 12).

**Statuses only advance** (`domain/statuses.py`). `record_delivery_status` finds a delivery by the provider's message
id, or by our id where the provider repeats it. A stale status changes nothing; a status before our commit is retried.
A failed attempt that was followed by another one does not change the delivery.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeVar, get_args

from common.primitives.lifecycles import Lifecycle, Rule

# What a provider reports.
Status = Literal["sent", "delivered", "read", "failed", "bounced"]
DeliveryStatus = Literal["queued", "sent", "delivered", "read", "failed", "bounced"]
AttemptStatus = Literal["sending", "unknown", "sent", "delivered", "read", "failed", "bounced"]
StateT = TypeVar("StateT", bound=str)

LOST: Final = frozenset({"failed", "bounced"})

_RANKS: Final[Mapping[str, int]] = {"queued": 0, "sending": 0, "unknown": 0, "sent": 1, "delivered": 2, "read": 3}
# The states that a report leaves, besides those before any report. A failure that is reported after the arrival is
# stale.
_BEFORE: Final[Mapping[Status, tuple[Status, ...]]] = {
    "sent": (),
    "delivered": ("sent",),
    "read": ("sent", "delivered"),
    "failed": ("sent",),
    "bounced": ("sent",),
}


def _reports(states: tuple[StateT, ...], unreported: tuple[StateT, ...]) -> dict[str, Rule[StateT]]:
    by_name = {str(state): state for state in states}
    rules = {}
    for status, before in _BEFORE.items():
        to = dict.fromkeys((*unreported, *(by_name[name] for name in before)), by_name[status])
        stale = frozenset(states) - {*to, by_name[status]}
        rules[str(status)] = Rule(to, repeated={by_name[status]}, stale=stale, by="provider")
    return rules


DELIVERY: Final = Lifecycle[DeliveryStatus, str](
    "Delivery",
    "A notification to one address of its recipient.",
    get_args(DeliveryStatus),
    {
        **_reports(get_args(DeliveryStatus), ("queued",)),
        "withdrawn": Rule({"queued": "failed"}, by="notifications service: recipient erased, or PIN no longer valid"),
        "retried": Rule(
            {"queued": "queued", "sent": "queued"}, by="notifications service, after a failure that may pass"
        ),
        "resent": Rule(
            dict.fromkeys(("sent", "delivered", "read", "failed", "bounced"), "queued"),
            by="staff with `notifications:resend`",
        ),
    },
)
ATTEMPT: Final = Lifecycle[AttemptStatus, str](
    "Attempt",
    "One call of a provider for a delivery.",
    get_args(AttemptStatus),
    {
        "worker_lost": Rule({"sending": "unknown"}, by="notifications service"),
        **_reports(get_args(AttemptStatus), ("sending", "unknown")),
    },
)


def furthest(statuses: list[str]) -> int:
    """Return the index of the furthest status in a non-empty list."""
    ranks = [-1 if status in LOST else _RANKS[status] for status in statuses]
    return ranks.index(max(ranks))
