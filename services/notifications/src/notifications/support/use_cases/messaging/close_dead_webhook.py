"""Close a dead webhook of the messaging app without a replay: its item is `ignored`, its payload stays until
retention.
"""

from datetime import datetime
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
from notifications.support.store import messaging
from notifications.support.store.messaging import SUPPORT_QUEUE
from notifications.support.use_cases.alerts import clear_dead_webhook


async def close_dead_webhook(
    uow: UnitOfWork, key: str, by: UUID, reason: str, now: datetime
) -> tuple[UUID, Closure | ClosureRequest]:
    """Return the dead letter's id with its closure. `key` is that id, or the id of the event.

    A repetition with the same reason returns the first closure. Raises NotFound, AlreadyReplayed and AlreadyClosed
    (409).
    """
    dead = await messaging.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        return dead.id, await find_repeated_closure(uow, dead.id, reason)
    if dead.replayed_at is not None or not await messaging.ignore_dead_event(uow, dead.event_id):
        raise AlreadyReplayed
    result = await close_or_request(uow, Closable(dead.id, SUPPORT_QUEUE, dead.event_type), by, reason, now)
    if isinstance(result, Closure):
        await messaging.mark_dead_webhook_closed(uow, dead.id, result.closed_at)
        await clear_dead_webhook(uow, dead.event_id, "the webhook was closed")
    return dead.id, result
