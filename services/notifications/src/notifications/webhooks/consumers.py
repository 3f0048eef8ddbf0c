"""Records the public events of the other services for webhook endpoints."""

from datetime import datetime
from typing import Final

import msgspec

import contracts.orders as orders_events
import contracts.payments as payments_events
import contracts.payouts as payouts_events
from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received, Subscription
from contracts.event import Event
from contracts.webhook_types import EVENT_TYPES
from notifications.dependencies import Dependencies
from notifications.webhooks.domain.webhook_events import webhook_event
from notifications.webhooks.use_cases.record_event import record_event

_EVENTS: Final[dict[str, type[Event]]] = {
    value.TYPE: value
    for module in (orders_events, payments_events, payouts_events)
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Event) and hasattr(value, "TYPE")
}


async def record_webhook_event(event: Event, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    """Store the public part of the event and queue its deliveries, in the transaction of its inbox row."""
    occurred_at = datetime.fromisoformat(received.time)
    public = webhook_event(received.event_id, received.type, occurred_at, msgspec.to_builtins(event))
    record_event(uow, public, dependencies.clock.now(), dependencies.webhook_sender.wake)


WEBHOOK_SUBSCRIPTIONS: Final[list[Subscription]] = [
    Subscription(_EVENTS[event_type], record_webhook_event) for event_type in EVENT_TYPES
]
