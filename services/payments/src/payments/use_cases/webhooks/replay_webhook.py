"""Replay a dead webhook: enqueue it as a first attempt unless it was processed since."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import AlreadyClosed
from common.primitives.problems import NotFound
from payments.domain.queues import WEBHOOK_QUEUE
from payments.domain.webhooks import alert_key
from payments.store import webhooks
from payments.use_cases.alerts import clear_alert


@dataclass(frozen=True, slots=True)
class Replay:
    """The webhook's outcome after a replay, and whether this call enqueued it."""

    dead_letter_id: UUID
    webhook_id: str
    outcome: str
    requeued: bool


async def replay_webhook(uow: UnitOfWork, key: str, now: datetime) -> Replay:
    """`key` is the dead letter's id, or the id of its event. Of two concurrent replays the second finds it queued.

    Raises NotFound and AlreadyClosed (409).
    """
    dead = await webhooks.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        raise AlreadyClosed
    # A second failure makes another dead letter, with its own alert.
    for replayed_id in await webhooks.mark_dead_webhooks_replayed(uow, dead.webhook_id, now):
        clear_alert(uow, alert_key(replayed_id), "the webhook was replayed")
    if dead.outcome != "dead":
        return Replay(dead.id, dead.webhook_id, dead.outcome, requeued=False)
    await webhooks.save_outcome(uow, dead.webhook_id, "queued")
    uow.enqueue_work(WEBHOOK_QUEUE, dead.webhook_id, {"webhookId": dead.webhook_id})
    return Replay(dead.id, dead.webhook_id, "queued", requeued=True)
