"""Erase the support tickets of a user."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries import notification_id_of
from notifications.support.store import messaging, tickets
from notifications.support.use_cases.tickets.notify_reply import TEMPLATE as REPLY


async def erase_tickets(uow: UnitOfWork, user_id: UUID, phone_key: str | None, now: datetime) -> list[UUID]:
    """Close the tickets and empty their subjects, texts, numbers and webhook bodies; return the notifications of
    support's replies, which the caller erases.

    `phone_key` is the hash of the user's number: its tickets without a user are erased too, and those of the ids that
    the messaging app sent together with it. The empty tickets stay for
    statistics. The worker deletes the images.
    """
    ticket_ids = await tickets.lock_tickets_of_user(uow, user_id, phone_key)
    # Only a message that arrived since `erase_dead_webhooks` has a body here.
    await messaging.erase_webhook_bodies(uow, ticket_ids)
    replies = await tickets.list_staff_replies(uow, ticket_ids)
    await tickets.empty_tickets(uow, ticket_ids, now)
    return [notification_id_of(REPLY, message_id) for message_id in replies]
