"""Replay a dead webhook: enqueue it as a first attempt unless it was processed since."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.operations import AlertCleared
from payments.domain.queues import WEBHOOK_QUEUE
from payments.domain.webhooks import alert_key
from payments.store import webhooks


@dataclass(frozen=True, slots=True)
class Replay:
    """The webhook's outcome after a replay, and whether this call enqueued it."""

    dead_letter_id: UUID
    webhook_id: str
    outcome: str
    requeued: bool


async def replay_webhook(uow: UnitOfWork, key: str, now: datetime) -> Replay:
    """`key` is the dead letter's id, or the id of its event. Raises NotFound. Of two concurrent replays the second finds it queued."""
    found = await webhooks.lock_dead_webhook(uow, key)
    if found is None:
        raise NotFound
    dead_letter_id, webhook_id = found
    outcome = await webhooks.lock_outcome(uow, webhook_id)
    # A second failure makes another dead letter, with its own alert.
    for replayed_id in await webhooks.mark_dead_webhooks_replayed(uow, webhook_id, now):
        cleared = AlertCleared(alert_id=new_id(), dedup_key=alert_key(replayed_id), reason="the webhook was replayed")
        uow.publish(cleared, source="payments")
    if outcome != "dead":
        return Replay(dead_letter_id, webhook_id, outcome, requeued=False)
    await webhooks.save_outcome(uow, webhook_id, "queued")
    uow.enqueue_work(WEBHOOK_QUEUE, webhook_id, {"webhookId": webhook_id})
    return Replay(dead_letter_id, webhook_id, "queued", requeued=True)
