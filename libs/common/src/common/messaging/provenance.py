"""Verification that the named service published a message (decision 31).

The broker proves two facts about a delivery, and its sender can forge neither:

- **the route**: the exchange it was published to and the first routing key, which the broker compared with the topic
  permissions of the sender's account; and the queues in which it expired (`x-death`), which the sender can add to but
  not remove;
- **the account**: `user_id`, which the broker compares with the account of the connection that published.

| Route | Meaning | Account |
|---|---|---|
| `campus.events`, routing key = type, never expired | published by its publisher | the publisher's |
| `campus.work`, routing key = queue, never expired | own work, or a replayed dead letter | the service's own |
| the default exchange, routing key = queue, expired in delay queues only | own retry | the service's own |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from aio_pika.abc import AbstractIncomingMessage

from common.messaging.faults import PermanentFault
from common.messaging.messages import Received
from contracts.topology import DELAY_EXCHANGE, EVENTS_EXCHANGE, SUBSCRIPTIONS, WORK_EXCHANGE

SERVICES: Final = frozenset(SUBSCRIPTIONS)
# Alerts are published by every service; the type does not name the publisher, the envelope's `source` does.
SHARED_PUBLISHER: Final = "operations"
_DEFAULT_EXCHANGE: Final = ""


class UnprovenPublisher(PermanentFault):
    """The named service did not publish the message. It has no effect, and is not replayed."""


@dataclass(frozen=True, slots=True)
class Route:
    """The route of a delivery, as the broker reports it. `account` is None when the sender did not set `user_id`."""

    exchange: str
    routing_key: str
    account: str | None
    expired_in: tuple[str, ...] = ()


def route_of(message: AbstractIncomingMessage) -> Route:
    """Return the route of a delivery. Raises UnprovenPublisher for a malformed `x-death`."""
    deaths = _deaths_of(message.headers)
    return Route(
        message.exchange or "",
        message.routing_key or "",
        message.user_id,
        tuple(str(death.get("queue")) for death in deaths),
    )


def route_before_dead_lettering(message: AbstractIncomingMessage, dead_letter_queue: str) -> tuple[str, Route]:
    """Return the queue that dead-lettered the message, and the route by which the message reached that queue.

    Raises:
        UnprovenPublisher: the broker did not dead-letter it.
    """
    route = route_of(message)
    deaths = _deaths_of(message.headers)
    if (route.exchange, route.routing_key) != (_DEFAULT_EXCHANGE, dead_letter_queue) or not deaths:
        raise UnprovenPublisher(f"published to {dead_letter_queue} by a client, not dead-lettered by the broker")
    # The broker puts the latest death first.
    latest = deaths[0]
    keys = latest.get("routing-keys")
    key = str(keys[0]) if isinstance(keys, list) and keys else ""
    return str(latest.get("queue")), Route(
        str(latest.get("exchange")), key, route.account, tuple(str(death.get("queue")) for death in deaths[1:])
    )


def check_publisher(queue: str, route: Route, received: Received, *, account_required: bool) -> None:
    """Rejects a message in `queue` whose route, account, type and `source` contradict one another.

    With `account_required` the broker must have validated the publisher's account. Otherwise a message without an
    account is accepted by its route, and only the account of another service is rejected.

    Raises:
        UnprovenPublisher: the message names a publisher that did not send it.
    """
    owner, _, publisher = queue.partition(".")
    if is_work_queue(queue):
        publisher = owner
        if received.type != queue:
            raise UnprovenPublisher(f"type {received.type} in the work queue {queue}")
    elif received.type.partition(".")[0] != publisher:
        raise UnprovenPublisher(f"type {received.type} in the queue of events of {publisher}")
    sender = _source_of(received, publisher)
    account = sender if _is_published_event(route, received) else _own_account(queue, owner, route)
    _check_account(route, account, account_required=account_required)


def check_broadcast(route: Route, received: Received, *, account_required: bool) -> None:
    """Like `check_publisher`, for an event on the exclusive queue of a process, which has no retries.

    Raises:
        UnprovenPublisher: the message names a publisher that did not send it.
    """
    sender = _source_of(received, received.type.partition(".")[0])
    if not _is_published_event(route, received):
        raise UnprovenPublisher(_unknown_route(route, received.type))
    _check_account(route, sender, account_required=account_required)


def is_work_queue(queue: str) -> bool:
    """Return whether `queue` holds a service's own work. Queues of events are named `<service>.<publisher>`."""
    return queue.partition(".")[2] not in SERVICES | {SHARED_PUBLISHER}


def _source_of(received: Received, publisher: str) -> str:
    sender = received.source.removeprefix("/services/")
    expected = sender in SERVICES if publisher == SHARED_PUBLISHER else sender == publisher
    if not expected or received.source != f"/services/{sender}":
        raise UnprovenPublisher(f"source {received.source} of type {received.type}")
    return sender


def _is_published_event(route: Route, received: Received) -> bool:
    return (route.exchange, route.routing_key, route.expired_in) == (EVENTS_EXCHANGE, received.type, ())


def _own_account(queue: str, owner: str, route: Route) -> str:
    """Return the service itself, for its work exchange and its retries. Raises UnprovenPublisher for any other
    route.
    """
    is_own_work = route.exchange == WORK_EXCHANGE and not route.expired_in
    is_own_retry = route.exchange == _DEFAULT_EXCHANGE and all(
        name.startswith(f"{DELAY_EXCHANGE}.") for name in route.expired_in
    )
    if route.routing_key != queue or not (is_own_work or is_own_retry):
        raise UnprovenPublisher(_unknown_route(route, queue))
    return owner


def _check_account(route: Route, expected: str, *, account_required: bool) -> None:
    if route.account == expected:
        return
    if account_required or route.account in SERVICES:
        raise UnprovenPublisher(f"published by the account {route.account}, not by {expected}")


def _unknown_route(route: Route, expected: str) -> str:
    came = f"exchange {route.exchange or '(default)'}, routing key {route.routing_key}"
    expired = f", expired in {', '.join(route.expired_in)}" if route.expired_in else ""
    return f"not the route of {expected}: {came}{expired}"


def _deaths_of(headers: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    deaths = headers.get("x-death", [])
    if not isinstance(deaths, list):
        raise UnprovenPublisher("an x-death header that the broker did not write")
    return cast("list[Mapping[str, object]]", deaths)
