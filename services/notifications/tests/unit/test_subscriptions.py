"""Subscriptions and work items match the topology."""

from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS as TOPOLOGY
from contracts.topology import WORK_QUEUES
from notifications.consumers import SUBSCRIPTIONS, WORK


def test_the_subscriptions_equal_the_topology() -> None:
    subscribed = dict.fromkeys(line.event for line in SUBSCRIPTIONS)
    assert set(subscribed) == set(TOPOLOGY["notifications"]) - {SessionRevoked}


def test_every_consumer_of_an_event_has_a_unique_name() -> None:
    """The inbox has one row for each event and consumer."""
    names = [(line.event, line.consumer) for line in SUBSCRIPTIONS]
    assert len(names) == len(set(names))


def test_work_items_use_queues_of_the_topology() -> None:
    assert {item.queue for item in WORK} <= set(WORK_QUEUES)
