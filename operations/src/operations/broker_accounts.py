"""What each account of the broker may do (decision 31). `make run`, docker compose and the manifests of Kubernetes agree on it.

A service declares nothing but the exclusive queue of a process, publishes only routing keys that begin with its own name,
and reads only its own queues. A team outside has queues of its own name, within limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from contracts.topology import BROADCASTS, EVENTS_EXCHANGE, RETRY_EXCHANGE, WORK_EXCHANGE


@dataclass(frozen=True, slots=True)
class Rights:
    """Patterns of names, and for each topic exchange the patterns of routing keys, as RabbitMQ has them."""

    configure: str
    write: str
    read: str
    topics: Mapping[str, tuple[str, str]]
    """Exchange: (write, read). What a process may read of `campus.events` is what it binds to its exclusive queue."""


def rights_of_service(service: str) -> Rights:
    """The rights of a service's account, which has the service's name."""
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


def rights_of_subscriber(team: str) -> Rights:
    """A team declares its own queues, binds them to the public exchange and reads them, nothing else."""
    return Rights(
        configure=rf"^sub\.{team}\..*",
        write=rf"^sub\.{team}\..*",
        read=rf"^(sub\.{team}\..*|campus\.public)$",
        topics={},
    )


# A team runs a few instances of a few programs; each connection has a channel to consume and one to declare.
SUBSCRIBER_LIMITS: Final[Mapping[str, int]] = {"max-connections": 20, "max-channels": 100}

# A queue that is not read loses the oldest messages after a week or 1 GiB, and goes with its bindings after 30 days.
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

# RabbitMQ counts queues for a virtual host, not for an account. The services have about fifty, and one for each of their processes:
# the rest is for subscribers and for autoscaling.
QUEUES_MAX: Final = 500
