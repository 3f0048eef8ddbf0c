"""Definition of the service: its subscriptions, its routes."""

from common.process.runtime import Service
from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS
from orders.app import SERVICE


def test_the_subscriptions_match_the_broker_topology() -> None:
    service: Service = SERVICE
    subscribed = [subscription.event for subscription in service.subscriptions]
    assert [SessionRevoked, *subscribed] == list(SUBSCRIPTIONS["orders"])
