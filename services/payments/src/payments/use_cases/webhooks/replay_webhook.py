"""Replay a dead webhook: back on its queue as a first attempt. One that took effect is left alone."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.operations import AlertCleared
from payments import store
from payments.domain.webhooks import alert_key

WEBHOOK_QUEUE = "payments.webhooks"


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of a replay: `outcome` is the webhook's, `requeued` whether this call put it back."""

    webhook_id: str
    outcome: str
    requeued: bool


async def replay_webhook(uow: UnitOfWork, dead_letter_id: UUID, now: datetime) -> Replay:
    """Raises NotFound. Two at once: the second finds it queued."""
    dead_letter = await store.lock_dead_webhook(uow, dead_letter_id)
    if dead_letter is None:
        raise NotFound
    webhook_id: str = dead_letter["webhook_id"]
    outcome = await store.lock_outcome(uow, webhook_id)
    # Given up once more it is another letter, with an alert of its own.
    for waiting in await store.mark_replayed(uow, webhook_id, now):
        cleared = AlertCleared(alert_id=new_id(), dedup_key=alert_key(waiting), reason="the webhook was replayed")
        uow.publish(cleared, source="payments")
    if outcome != "dead":
        return Replay(webhook_id, outcome, requeued=False)
    await store.save_outcome(uow, webhook_id, "queued")
    uow.enqueue_work(WEBHOOK_QUEUE, webhook_id, {"webhookId": webhook_id})
    return Replay(webhook_id, "queued", requeued=True)
