"""Replay a dead webhook of the messaging app: enqueue it as a first attempt unless it was processed since."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.messaging.dead_letters import AlreadyClosed
from common.primitives.problems import NotFound
from notifications.support.store import messaging
from notifications.support.use_cases.alerts import clear_dead_webhook


@dataclass(frozen=True, slots=True)
class Replay:
    """The outcome of the event after a replay, and whether this call enqueued it."""

    dead_letter_id: UUID
    event_id: str
    outcome: str
    requeued: bool


async def replay_webhook(uow: UnitOfWork, key: str, now: datetime) -> Replay:
    """`key` is the dead letter's id, or the id of its event. Of two concurrent replays the second finds it queued.

    Raises NotFound and AlreadyClosed (409).
    """
    dead = await messaging.lock_dead_webhook(uow, key)
    if dead is None:
        raise NotFound
    if dead.closed_at is not None:
        raise AlreadyClosed
    # A second failure makes another dead letter, with its own alert.
    for replayed_id in await messaging.mark_dead_webhooks_replayed(uow, dead.event_id, now):
        clear_dead_webhook(uow, replayed_id, "the webhook was replayed")
    requeued = await messaging.requeue_dead_event(uow, dead.event_id)
    return Replay(dead.id, dead.event_id, await messaging.find_outcome(uow, dead.event_id), requeued)
