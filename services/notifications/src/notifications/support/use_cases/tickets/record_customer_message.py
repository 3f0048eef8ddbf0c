"""Record a customer's message from the messaging app in a ticket."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from contracts.notifications import TicketOpened
from notifications.deliveries import find_user_of_number, key_of, mask_digits, masked
from notifications.support.domain.incoming_texts import OPENS_NO_TICKET
from notifications.support.domain.tickets import REOPENED_WITHIN, TICKET, subject_of
from notifications.support.store import tickets

SOURCE: Final = "messaging"


@dataclass(frozen=True, slots=True)
class PhoneHasher:
    """Keyed hashes of phone numbers, so that numbers are found without plain text."""

    hash_key: bytes

    def key_of(self, phone: str) -> str:
        return key_of(self.hash_key, phone)


@dataclass(frozen=True, slots=True)
class CustomerMessage:
    """A message of the messaging app. `phone` is E.164, or the app's id of a user who hides the number; `sent_at` is
    the app's time. `app_user_id` is that id, also together with a number.
    """

    phone: str
    kind: str
    text: str
    sent_at: datetime
    app_user_id: str | None = None


class RecordedMessage(NamedTuple):
    """The ticket of a message, the user with the proven number, and whether the message opened the ticket."""

    ticket_id: UUID
    user_id: UUID | None
    is_opened: bool


async def record_customer_message(
    uow: UnitOfWork, message: CustomerMessage, phone_hasher: PhoneHasher, encryptor: Encryptor, now: datetime
) -> RecordedMessage | None:
    """Continue or open a ticket and return it (contract section 12); None for a kind that opens none.

    The ticket belongs to the user with the proven number, else to the number alone. A ticket that was closed within
    seven days reopens. Concurrent messages of a number are serialized.
    """
    phone_key = phone_hasher.key_of(message.phone)
    await tickets.lock_number(uow, phone_key)
    user_id = await find_user_of_number(uow, message.phone)
    current = await tickets.lock_current_ticket(uow, user_id, phone_key, now - REOPENED_WITHIN)
    if current is None and message.kind in OPENS_NO_TICKET:
        return None
    text = mask_digits(message.text)
    ticket_id = current.id if current else new_id()
    if current is None:
        number = await tickets.save_opened_ticket(uow, ticket_id, user_id, SOURCE, subject_of(text), None, now)
        uow.publish(TicketOpened(ticket_id=ticket_id, user_id=user_id, source=SOURCE, number=number))
    else:
        await tickets.record_ticket_activity(
            uow, ticket_id, current.status, TICKET.rules["customer"].to[current.status], "customer", now
        )
    encrypted = encryptor.encrypt(message.phone, str(ticket_id))
    app_user_key = phone_hasher.key_of(message.app_user_id) if message.app_user_id else None
    phone = tickets.TicketNumber(phone_key, encrypted, masked(message.phone), message.sent_at, app_user_key)
    await tickets.save_number(uow, ticket_id, user_id, phone)
    received = tickets.NewTicketMessage(new_id(), ticket_id, "customer", user_id, SOURCE, message.kind, text)
    await tickets.save_ticket_message(uow, received, message.sent_at)
    return RecordedMessage(ticket_id, user_id, current is None)
