"""Close a dead webhook without a replay: its outcome is `ignored`, and its body stays until retention.

Money may be concerned: one person requests the closure, and another one closes the webhook.
"""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import (
    AlreadyReplayed,
    Closable,
    Closure,
    ClosureRequest,
    close_or_request,
    find_repeated_closure,
)
from common.primitives.problems import NotFound
from payments.domain.queues import WEBHOOK_QUEUE
from payments.store import webhooks
from payments.use_cases.webhooks.steps import clear_dead_webhook


async def close_dead_webhook(uow: UnitOfWork, key: str, by: UUID, reason: str) -> tuple[UUID, Closure | ClosureRequest]:
    """Return the dead letter's id with its closure or its request. `key` is that id, or the id of the event.

    A repetition with the same reason returns the first closure, or the person's own request. Raises NotFound,
    AlreadyReplayed, AlreadyRequested and AlreadyClosed (409).
    """
    dead = await webhooks.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        return dead.id, await find_repeated_closure(uow, dead.id, reason)
    if dead.replayed_at is not None or dead.outcome != "dead":
        raise AlreadyReplayed
    result = await close_or_request(uow, Closable(dead.id, WEBHOOK_QUEUE, dead.event_type), by, reason)
    if isinstance(result, Closure):
        await webhooks.mark_dead_webhook_closed(uow, dead.id, result.closed_at)
        await webhooks.save_outcome(uow, dead.webhook_id, "ignored")
        await clear_dead_webhook(uow, dead.webhook_id, "the webhook was closed")
    return dead.id, result
