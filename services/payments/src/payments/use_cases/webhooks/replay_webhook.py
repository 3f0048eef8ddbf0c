"""Replay a dead webhook: enqueue it as a first attempt unless it was processed since."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import AlreadyClosed, Closable, WebhookReplay, record_replay
from common.primitives.problems import NotFound
from payments.domain.queues import WEBHOOK_QUEUE
from payments.store import webhooks
from payments.use_cases.webhooks.steps import clear_dead_webhook


async def replay_webhook(uow: UnitOfWork, key: str, by: UUID, now: datetime) -> WebhookReplay:
    """`key` is the dead letter's id, or the id of its event. Of two concurrent replays the second finds it queued.

    The alert is cleared when the webhook is processed. Raises NotFound and AlreadyClosed (409).
    """
    dead = await webhooks.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        raise AlreadyClosed
    for replayed_id in await webhooks.mark_dead_webhooks_replayed(uow, dead.webhook_id, now):
        await record_replay(uow, Closable(replayed_id, WEBHOOK_QUEUE, dead.event_type), by)
    if dead.outcome != "dead":
        if dead.outcome != "queued":
            await clear_dead_webhook(uow, dead.webhook_id, "the webhook was processed")
        return WebhookReplay(dead.id, dead.webhook_id, dead.outcome, requeued=False)
    await webhooks.save_outcome(uow, dead.webhook_id, "queued")
    uow.enqueue_work(WEBHOOK_QUEUE, dead.webhook_id, {"webhookId": dead.webhook_id, "isReplay": True})
    return WebhookReplay(dead.id, dead.webhook_id, "queued", requeued=True)
