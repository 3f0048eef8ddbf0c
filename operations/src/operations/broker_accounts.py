"""Permissions of each broker account (decision 31), shared by `make run`, docker compose and the Kubernetes manifests.

A service declares only the exclusive queues of its processes, publishes only routing keys that start with its name, and
reads only its own queues. An outside team has queues with its own name, within limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contracts.topology import BROADCASTS, EVENTS_EXCHANGE, PUBLIC_EXCHANGE, RETRY_EXCHANGE, WORK_EXCHANGE


@dataclass(frozen=True, slots=True)
class Rights:
    """RabbitMQ permissions: patterns of names, and for each topic exchange patterns of routing keys."""

    configure: str
    write: str
    read: str
    topics: Mapping[str, tuple[str, str]]
    """Exchange: (write, read). Reading `campus.events` means binding it to an exclusive queue."""


def rights_of_service(service: str) -> Rights:
    """Return the permissions of a service's account; the account has the service's name."""
    broadcasts = "|".join(sorted(event.TYPE.replace(".", r"\.") for event in BROADCASTS))
    own_keys = (rf"^{service}\.", "^$")
    return Rights(
        configure=r"^amq\.gen-.*$",
        write=r"^(campus\.(events|work|retry)|amq\.gen-.*)$",
        read=rf"^({service}\..*|campus\.events|amq\.gen-.*)$",
        topics={
            EVENTS_EXCHANGE: (rf"^({service}|operations)\.", f"^({broadcasts})$"),
            WORK_EXCHANGE: own_keys,
            RETRY_EXCHANGE: own_keys,
        },
    )


def rights_of_subscriber(team: str, types: Sequence[str] = ()) -> Rights:
    """Return the permissions of a subscriber: declare its own queues, bind them to the public exchange, read them.

    With `types`, only bindings to exactly these event types are accepted.
    """
    allowed = "|".join(event_type.replace(".", r"\.") for event_type in types)
    return Rights(
        configure=rf"^sub\.{team}\..*",
        write=rf"^sub\.{team}\..*",
        read=rf"^(sub\.{team}\..*|campus\.public)$",
        topics={PUBLIC_EXCHANGE: ("^$", f"^({allowed})$")} if types else {},
    )


# A team runs a few instances of a few programs; each connection has a channel to consume and one to declare.
SUBSCRIBER_LIMITS: Final[Mapping[str, int]] = {"max-connections": 20, "max-channels": 100}

# An unread queue drops its oldest messages after a week or 1 GiB; it is deleted with its bindings after 30 days.
SUBSCRIBER_POLICY_NAME: Final = "queues-of-subscribers"
SUBSCRIBER_POLICY: Final[Mapping[str, Any]] = {
    "pattern": r"^sub\.",
    "apply-to": "queues",
    "priority": 0,
    "definition": {
        "message-ttl": 604_800_000,
        "max-length-bytes": 1_073_741_824,
        "overflow": "drop-head",
        "expires": 2_592_000_000,
    },
}

# A team runs a few programs with a queue each. RabbitMQ has no such limit: `operations.subscriber_supervisor` removes
# the rest.
SUBSCRIBER_QUEUES_MAX: Final = 20

# RabbitMQ limits queues by virtual host, not by account. The services need about fifty and one for each process, and
# fifty teams twenty each. The rest is what a team may declare between two rounds of the supervisor, without refusals
# for others.
QUEUES_MAX: Final = 3_000
