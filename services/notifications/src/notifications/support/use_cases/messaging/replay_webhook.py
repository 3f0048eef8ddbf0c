"""Replay a dead webhook of the messaging app: enqueue it as a first attempt unless it was processed since."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import AlreadyClosed, Closable, WebhookReplay, record_replay
from common.primitives.problems import NotFound
from notifications.support.store import messaging
from notifications.support.store.messaging import SUPPORT_QUEUE
from notifications.support.use_cases.alerts import clear_dead_webhook


async def replay_webhook(uow: UnitOfWork, key: str, by: UUID, now: datetime) -> WebhookReplay:
    """`key` is the dead letter's id, or the id of its event. Of two concurrent replays the second finds it queued.

    The alert is cleared when the event is processed. Raises NotFound and AlreadyClosed (409).
    """
    dead = await messaging.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        raise AlreadyClosed
    for replayed_id in await messaging.mark_dead_webhooks_replayed(uow, dead.event_id, now):
        await record_replay(uow, Closable(replayed_id, SUPPORT_QUEUE, dead.event_type), by, now)
    requeued = await messaging.requeue_dead_event(uow, dead.event_id)
    outcome = await messaging.find_outcome(uow, dead.event_id)
    if outcome in ("done", "ignored"):
        await clear_dead_webhook(uow, dead.event_id, "the webhook was processed")
    return WebhookReplay(dead.id, dead.event_id, outcome, requeued)
