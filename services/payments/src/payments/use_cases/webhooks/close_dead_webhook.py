"""Close a dead webhook without a replay: its outcome is `ignored`, and its body stays until retention."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import (
    AlreadyReplayed,
    Closure,
    find_repeated_closure,
    record_closure,
)
from common.primitives.problems import NotFound
from payments.domain.queues import WEBHOOK_QUEUE
from payments.domain.webhooks import alert_key
from payments.store import webhooks
from payments.use_cases.alerts import clear_alert


async def close_dead_webhook(uow: UnitOfWork, key: str, by: UUID, reason: str) -> tuple[UUID, Closure]:
    """Return the dead letter's id with its closure. `key` is that id, or the id of the event.

    A repetition with the same reason returns the first closure. Raises NotFound, AlreadyReplayed and AlreadyClosed
    (409).
    """
    dead = await webhooks.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        return dead.id, await find_repeated_closure(uow, dead.id, reason)
    if dead.replayed_at is not None or dead.outcome != "dead":
        raise AlreadyReplayed
    closure = await record_closure(uow, dead.id, WEBHOOK_QUEUE, dead.event_type, by, reason)
    await webhooks.mark_dead_webhook_closed(uow, dead.id, closure.closed_at)
    await webhooks.save_outcome(uow, dead.webhook_id, "ignored")
    clear_alert(uow, alert_key(dead.id), "the webhook was closed")
    return dead.id, closure
