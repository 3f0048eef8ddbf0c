"""Record a published event for its subscribers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import trace_headers
from notifications.webhooks import store
from notifications.webhooks.domain.webhook_events import WebhookEvent

# They share the round trip of the notifications of the transaction.
_BEFORE_NOTIFICATIONS: Final = -1


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """An event of the transaction. `wake` starts the sender of webhooks."""

    event: WebhookEvent
    now: datetime
    wake: Callable[[], None]


def record_event(uow: UnitOfWork, event: WebhookEvent, now: datetime, wake: Callable[[], None]) -> None:
    """Store the event and queue its deliveries if an endpoint names its type, all events of a transaction together."""
    traced = replace(event, traceparent=trace_headers()["traceparent"])
    uow.defer(_record_events, ReceivedEvent(traced, now, wake), rank=_BEFORE_NOTIFICATIONS)


async def _record_events(uow: UnitOfWork, received: Sequence[ReceivedEvent]) -> None:
    newest = received[-1]
    store.record_webhook_events(
        uow,
        [one.event for one in received],
        newest.now,
        lambda: uow.on_end(lambda is_committed: newest.wake()),
    )
