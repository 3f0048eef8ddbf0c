"""Erase the dead webhooks of the messaging app that name a user."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.support.domain.messaging_webhook import addresses_in
from notifications.support.store import messaging, tickets
from notifications.support.use_cases.alerts import clear_dead_webhook
from notifications.support.use_cases.tickets.record_customer_message import PhoneHasher


async def erase_dead_webhooks(
    uow: UnitOfWork, user_id: UUID, phone_key: str | None, phone_hasher: PhoneHasher, now: datetime
) -> None:
    """Empty and close each dead webhook with a number or an app's id of the user; its event is `ignored`. Empty the
    bodies of the user's tickets.

    A body that could not be split is emptied in whole, with the messages of other customers. Call it before the tickets
    are locked: a message locks its item before its ticket.
    """
    keys = {phone_key, *await tickets.list_address_keys(uow, user_id, phone_key)}
    named = [
        dead
        for dead in await messaging.lock_filled_dead_webhooks(uow)
        if not keys.isdisjoint(map(phone_hasher.key_of, addresses_in(dead.payload)))
    ]
    event_ids = [dead.event_id for dead in named]
    await messaging.empty_dead_webhooks(uow, [dead.id for dead in named], now)
    ticket_ids = await tickets.list_tickets_of_user(uow, user_id, phone_key)
    await messaging.erase_webhook_bodies(uow, ticket_ids, event_ids)
    await messaging.ignore_dead_items(uow, event_ids)
    for event_id in {dead.event_id for dead in named if dead.is_open}:
        await clear_dead_webhook(uow, event_id, "the user was erased")
