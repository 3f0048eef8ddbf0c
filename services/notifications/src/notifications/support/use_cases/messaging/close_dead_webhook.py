"""Close a dead webhook of the messaging app without a replay: its item is `ignored`, its payload stays until retention."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import AlreadyReplayed, Closure, find_repeated_closure, record_closure
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.operations import AlertCleared
from notifications.support.domain.messaging_webhook import dead_letter_alert_key
from notifications.support.store import messaging
from notifications.support.store.messaging import SUPPORT_QUEUE


async def close_dead_webhook(uow: UnitOfWork, key: str, by: UUID, reason: str, now: datetime) -> tuple[UUID, Closure]:
    """Return the dead letter's id with its closure. `key` is that id, or the id of the event.

    A repetition with the same reason returns the first closure. Raises NotFound, AlreadyReplayed and AlreadyClosed (409).
    """
    dead = await messaging.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        return dead.id, await find_repeated_closure(uow, dead.id, reason)
    if dead.replayed_at is not None or not await messaging.ignore_dead_event(uow, dead.event_id):
        raise AlreadyReplayed
    closure = await record_closure(uow, dead.id, SUPPORT_QUEUE, dead.event_type, by, reason, now)
    await messaging.mark_dead_webhook_closed(uow, dead.id, closure.closed_at)
    alert_key = dead_letter_alert_key(dead.id)
    cleared = AlertCleared(alert_id=new_id(), dedup_key=alert_key, reason="the webhook was closed")
    uow.publish(cleared, source="notifications")
    return dead.id, closure
