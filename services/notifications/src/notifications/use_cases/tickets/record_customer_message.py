"""Hear a customer who writes in the messaging app: their ticket goes on, or begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from contracts.notifications import TicketOpened
from notifications.domain.deliveries import masked
from notifications.domain.incoming_texts import OPENS_NO_TICKET
from notifications.domain.telephone_numbers import key_of
from notifications.domain.ticket_texts import mask_digits
from notifications.domain.tickets import REOPENED_WITHIN, reported_instant, subject_of
from notifications.store import tickets

SOURCE: Final = "messaging"


@dataclass(frozen=True, slots=True)
class Numbers:
    """How telephone numbers are found again without being kept in the clear."""

    hash_key: bytes

    def key_of(self, phone: str) -> str:
        return key_of(self.hash_key, phone)


async def record_customer_message(
    uow: UnitOfWork, phone: str, told: Mapping[str, Any], numbers: Numbers, sealer: Encryptor, now: datetime
) -> UUID | None:
    """The ticket that the message now stands in (contract section 12); None for a thumb that would begin one.

    The ticket is that of the one user with this number (E.164), or of the number alone, until it is known to be somebody's and
    writes again. A ticket that was closed within seven days is opened again. Of two messages at once the second waits.
    """
    phone_key = numbers.key_of(phone)
    await tickets.lock_number(uow, phone_key)
    user_id = await tickets.find_user_of_number(uow, phone)
    living = await tickets.lock_living_ticket(uow, user_id, phone_key, now - REOPENED_WITHIN)
    if living is None and told["kind"] in OPENS_NO_TICKET:
        return None
    text = mask_digits(told["text"])
    ticket_id: UUID = new_id() if living is None else living["id"]
    if living is None:
        await tickets.save_opened_ticket(uow, ticket_id, user_id, SOURCE, subject_of(text), None, now)
        uow.publish(TicketOpened(ticket_id=ticket_id, user_id=user_id, source=SOURCE))
    else:
        await tickets.save_written(uow, ticket_id, "open", "customer", now)
    heard_at = reported_instant(told["at"], now)
    sealed = sealer.encrypt(phone, str(ticket_id))
    await tickets.save_number(uow, ticket_id, user_id, phone_key, sealed, masked(phone), heard_at)
    await tickets.save_ticket_message(
        uow, new_id(), ticket_id, "customer", user_id, SOURCE, told["kind"], text, heard_at
    )
    return ticket_id
