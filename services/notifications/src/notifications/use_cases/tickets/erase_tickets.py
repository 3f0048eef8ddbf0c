"""Forget what a person said to support."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.domain.deliveries import notification_id_of
from notifications.store import messaging, tickets
from notifications.use_cases.tickets.notify_reply import TEMPLATE as REPLY


async def erase_tickets(uow: UnitOfWork, user_id: UUID, phone_key: str | None, now: datetime) -> int:
    """Closes their tickets and empties subjects, texts, numbers and the bodies they came in; pictures leave the store by the worker.

    `phone_key` is of the number that the person had: what was said from it before it was theirs goes too. The empty tickets stay,
    so that what support did can be counted. Tells how many.
    """
    ticket_ids = await tickets.lock_tickets_of_user(uow, user_id, phone_key)
    await messaging.forget_messaging_bodies(uow, ticket_ids)
    answers = await tickets.list_answers(uow, ticket_ids)
    await tickets.erase_sent_replies(uow, [notification_id_of(REPLY, message_id) for message_id in answers])
    await tickets.empty_tickets(uow, ticket_ids, now)
    return len(ticket_ids)
