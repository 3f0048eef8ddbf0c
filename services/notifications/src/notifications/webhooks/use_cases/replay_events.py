"""Send stored events again."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.webhooks import queries, store
from notifications.webhooks.domain.errors import TooManyEventsToReplay, WebhookEndpointDisabled
from notifications.webhooks.domain.webhooks import EVENT_LIFETIME, REPLAY_EVENTS_MAX, WebhookEndpoint


async def replay_events(
    uow: UnitOfWork, endpoint_id: UUID, *, event_id: UUID | None, since: datetime | None, now: datetime
) -> int:
    """Queue one event, or all events since a time, with their webhook ids; return the number of new deliveries.

    An event that is queued already is not queued twice. Raises NotFound, WebhookEndpointDisabled and
    TooManyEventsToReplay.
    """
    endpoint = await store.find_webhook_endpoint_for_update(uow, endpoint_id)
    if endpoint is None:
        raise NotFound
    if endpoint.status == "disabled":
        raise WebhookEndpointDisabled
    events = await _events(uow, endpoint, event_id, since, now)
    return await store.queue_webhook_replay(uow, endpoint_id, events, now)


async def _events(
    uow: UnitOfWork, endpoint: WebhookEndpoint, event_id: UUID | None, since: datetime | None, now: datetime
) -> list[UUID]:
    if event_id is not None:
        found = await queries.find_webhook_event(uow, endpoint, event_id, now - EVENT_LIFETIME)
        if found is None:
            raise NotFound
        return [found]
    oldest = now if since is None else since
    events = await queries.list_webhook_events_since(uow, endpoint, oldest, REPLAY_EVENTS_MAX + 1)
    if len(events) > REPLAY_EVENTS_MAX:
        raise TooManyEventsToReplay(REPLAY_EVENTS_MAX)
    return events
