"""Records the public events of the other services for webhook endpoints."""

from datetime import datetime
from typing import Final

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received, Subscription
from contracts.event import Event
from contracts.topology import WEBHOOK_EVENTS
from notifications.dependencies import Dependencies
from notifications.webhooks.domain.webhook_events import webhook_event
from notifications.webhooks.use_cases.record_event import record_event


async def record_webhook_event(event: Event, received: Received, uow: UnitOfWork, dependencies: Dependencies) -> None:
    """Store the public part of the event and queue its deliveries, in the transaction of its inbox row."""
    occurred_at = datetime.fromisoformat(received.time)
    public = webhook_event(received.event_id, received.type, occurred_at, msgspec.to_builtins(event))
    record_event(uow, public, dependencies.clock.now(), dependencies.webhook_sender.wake)


WEBHOOK_SUBSCRIPTIONS: Final[list[Subscription]] = [
    Subscription(event, record_webhook_event) for event in WEBHOOK_EVENTS
]
