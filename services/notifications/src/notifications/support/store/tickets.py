"""Writes of support tickets, their messages and images."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.state_changes import change_state, states_before
from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import MediaReferences, schedule_image_removal
from notifications.deliveries import MaskedText
from notifications.support.domain.attachments import files_of
from notifications.support.domain.tickets import TICKET, Status
from notifications.support.store.messaging import SUPPORT_QUEUE

# Serializes the messages of a phone number, so that concurrent ones open one ticket.
_LOCK_NUMBER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('ticket:' || $1, 0))"
# Tickets of the user, and those of the number without a user. Open tickets come first.
_LOCK_CURRENT: Final = """
SELECT id, status FROM support_tickets
WHERE (user_id = $1 OR (phone_key = $2 AND user_id IS NULL)) AND (status <> 'closed' OR closed_at >= $3)
ORDER BY status = 'closed', updated_at DESC, id DESC LIMIT 1 FOR UPDATE
"""
_LOCK: Final = "SELECT status, revision, closed_at FROM support_tickets WHERE id = $1 FOR UPDATE"
_OPEN: Final = """
INSERT INTO support_tickets
    (id, user_id, source, subject, order_id, status, priority, revision, unread_by_staff, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 'open', 'normal', 1, 1, $6, $6)
RETURNING number
"""
_NUMBER: Final = """
UPDATE support_tickets
SET user_id = coalesce(user_id, $2), phone_key = $3, phone_sealed = $4, phone_masked = $5,
    heard_at = greatest(heard_at, $6), app_user_key = coalesce($7, app_user_key)
WHERE id = $1
"""
_RECORD_ACTIVITY: Final = """
UPDATE support_tickets
SET status = $2, closed_at = NULL, updated_at = greatest(updated_at, $3), revision = revision + (status <> $2)::int,
    unread_by_staff = CASE $4 WHEN 'customer' THEN unread_by_staff + 1 ELSE 0 END,
    unread_by_customer = CASE $4 WHEN 'staff' THEN unread_by_customer + 1 ELSE 0 END
WHERE id = $1 AND status = $5
"""
_MESSAGE: Final = """
INSERT INTO support_messages (id, ticket_id, author, author_id, source, kind, body, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
_NOTE: Final = "INSERT INTO support_notes (id, ticket_id, author_id, body, created_at) VALUES ($1, $2, $3, $4, $5)"
_CLOSE: Final = f"""
UPDATE support_tickets SET status = 'closed', closed_at = $2, updated_at = $2, revision = revision + 1
WHERE id = $1 AND status IN {states_before(TICKET, "close")}
"""
_ASSIGN: Final = """
UPDATE support_tickets SET assignee_id = $2, updated_at = $3, revision = revision + 1
WHERE id = $1 AND assignee_id IS DISTINCT FROM $2
"""
_PRIORITY: Final = """
UPDATE support_tickets SET priority = $2, updated_at = $3, revision = revision + 1 WHERE id = $1 AND priority <> $2
"""
_READ_BY_CUSTOMER: Final = "UPDATE support_tickets SET unread_by_customer = 0 WHERE id = $1"
_READ_BY_STAFF: Final = "UPDATE support_tickets SET unread_by_staff = 0 WHERE id = $1"
_COUNT_ATTACHMENTS: Final = "SELECT count(*) FROM support_attachments WHERE ticket_id = $1"
_ATTACH: Final = """
INSERT INTO support_attachments (id, ticket_id, author, author_id, byte_count, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
"""
# The tickets of the number name the user's ids in the messaging app, under which tickets without a number have their
# key.
_OF_USER: Final = """
SELECT id FROM support_tickets
WHERE user_id = $1 OR (user_id IS NULL AND (phone_key = $2 OR phone_key IN (
    SELECT app_user_key FROM support_tickets WHERE user_id = $1 OR (user_id IS NULL AND phone_key = $2)
)))
"""
_LOCK_OF_USER: Final = f"{_OF_USER} ORDER BY id FOR UPDATE"
_LIST_ADDRESS_KEYS: Final = """
SELECT DISTINCT key FROM support_tickets CROSS JOIN LATERAL (VALUES (phone_key), (app_user_key)) AS address (key)
WHERE (user_id = $1 OR (user_id IS NULL AND phone_key = $2)) AND key IS NOT NULL
"""
_EMPTY_TICKETS: Final = f"""
UPDATE support_tickets
SET subject = '', phone_key = NULL, phone_sealed = NULL, phone_masked = NULL, app_user_key = NULL, heard_at = NULL,
    status = 'closed',
    closed_at = coalesce(closed_at, $2), updated_at = $2, revision = revision + 1
WHERE id = ANY ($1) AND status IN {states_before(TICKET, "erase")}
"""
_EMPTY_MESSAGES: Final = "UPDATE support_messages SET body = '', kind = 'erased' WHERE ticket_id = ANY ($1)"
_DROP_NOTES: Final = "DELETE FROM support_notes WHERE ticket_id = ANY ($1)"
_DROP_ATTACHMENTS: Final = "DELETE FROM support_attachments WHERE ticket_id = ANY ($1) RETURNING id, ticket_id"
_STAFF_REPLIES: Final = "SELECT id FROM support_messages WHERE ticket_id = ANY ($1) AND author = 'staff'"
_REPLY: Final = """
SELECT m.body, t.id AS ticket_id, t.user_id, t.phone_sealed, t.phone_masked, t.number, m.kind
FROM support_messages m JOIN support_tickets t ON t.id = m.ticket_id WHERE m.id = $1
"""


MEDIA: Final = MediaReferences(
    named="EXISTS (SELECT FROM support_attachments WHERE support_attachments.id = leaving.picture_id)", files=files_of
)


class CurrentTicket(NamedTuple):
    id: UUID
    status: Status


class LockedTicket(NamedTuple):
    status: Status
    revision: int
    closed_at: datetime | None


class StaffReply(NamedTuple):
    """A message of staff and its recipient. `phone_encrypted` is set for a ticket of the messaging app."""

    body: str
    ticket_id: UUID
    user_id: UUID | None
    phone_encrypted: str | None
    phone_masked: str | None
    number: str
    kind: str


async def lock_number(uow: UnitOfWork, phone_key: str) -> None:
    """Serialize the messages of a phone number."""
    await uow.execute(_LOCK_NUMBER, phone_key)


async def lock_current_ticket(
    uow: UnitOfWork, user_id: UUID | None, phone_key: str, closed_after: datetime
) -> CurrentTicket | None:
    """Lock the ticket that continues with a message of this number."""
    row = await uow.fetch_row(_LOCK_CURRENT, user_id, phone_key, closed_after)
    return None if row is None else CurrentTicket(*row)


async def lock_ticket(uow: UnitOfWork, ticket_id: UUID) -> LockedTicket | None:
    """Lock the ticket; None when there is none that the caller may change."""
    row = await uow.fetch_row(_LOCK, ticket_id)
    return None if row is None else LockedTicket(*row)


async def save_opened_ticket(
    uow: UnitOfWork,
    ticket_id: UUID,
    user_id: UUID | None,
    source: str,
    subject: MaskedText,
    order_id: UUID | None,
    now: datetime,
) -> str:
    """Store a ticket and return its number for people."""
    number: str = await uow.fetch_value(_OPEN, ticket_id, user_id, source, subject, order_id, now)
    return number


class TicketNumber(NamedTuple):
    """The number that receives replies, and the sender's id in the app."""

    phone_key: str
    phone_encrypted: str
    phone_masked: str
    last_message_at: datetime
    app_user_key: str | None


async def save_number(uow: UnitOfWork, ticket_id: UUID, user_id: UUID | None, number: TicketNumber) -> None:
    """Store the number, and the user of a ticket without one."""
    await uow.execute(_NUMBER, ticket_id, user_id, *number)


async def record_ticket_activity(
    uow: UnitOfWork, ticket_id: UUID, before: Status, status: Status, author: str, now: datetime
) -> None:
    """Count an unread message for the other side; the writer has read everything."""
    await change_state(uow, _RECORD_ACTIVITY, ticket_id, status, now, author, before)


class NewTicketMessage(NamedTuple):
    """A message of a ticket, from its source: the app, or the messaging app with the kind of its content."""

    id: UUID
    ticket_id: UUID
    author: str
    author_id: UUID | None
    source: str
    kind: str
    body: MaskedText


async def save_ticket_message(uow: UnitOfWork, message: NewTicketMessage, at: datetime) -> None:
    await uow.execute(_MESSAGE, *message, at)


async def save_ticket_note(
    uow: UnitOfWork, note_id: UUID, ticket_id: UUID, author_id: UUID, body: MaskedText, now: datetime
) -> None:
    await uow.execute(_NOTE, note_id, ticket_id, author_id, body, now)


async def save_ticket_closed(uow: UnitOfWork, ticket_id: UUID, now: datetime) -> None:
    await change_state(uow, _CLOSE, ticket_id, now)


async def save_assignee(uow: UnitOfWork, ticket_id: UUID, assignee_id: UUID | None, now: datetime) -> None:
    await uow.execute(_ASSIGN, ticket_id, assignee_id, now)


async def save_priority(uow: UnitOfWork, ticket_id: UUID, priority: str, now: datetime) -> None:
    await uow.execute(_PRIORITY, ticket_id, priority, now)


async def save_ticket_read(uow: UnitOfWork, ticket_id: UUID, side: str) -> None:
    await uow.execute(_READ_BY_CUSTOMER if side == "customer" else _READ_BY_STAFF, ticket_id)


async def count_attachments(uow: UnitOfWork, ticket_id: UUID) -> int:
    count: int = await uow.fetch_value(_COUNT_ATTACHMENTS, ticket_id)
    return count


async def save_attachment(
    uow: UnitOfWork, attachment_id: UUID, ticket_id: UUID, author: str, author_id: UUID, byte_count: int, now: datetime
) -> None:
    await uow.execute(_ATTACH, attachment_id, ticket_id, author, author_id, byte_count, now)


async def lock_tickets_of_user(uow: UnitOfWork, user_id: UUID, phone_key: str | None) -> list[UUID]:
    """Lock the tickets of the user, and those of the number without a user."""
    return [ticket_id for (ticket_id,) in await uow.fetch(_LOCK_OF_USER, user_id, phone_key)]


async def list_tickets_of_user(uow: UnitOfWork, user_id: UUID, phone_key: str | None) -> list[UUID]:
    """Return the tickets that `lock_tickets_of_user` locks."""
    return [ticket_id for (ticket_id,) in await uow.fetch(_OF_USER, user_id, phone_key)]


async def list_address_keys(uow: UnitOfWork, user_id: UUID, phone_key: str | None) -> list[str]:
    """Return the hashes of the numbers and of the app's ids that the user wrote from."""
    return [key for (key,) in await uow.fetch(_LIST_ADDRESS_KEYS, user_id, phone_key)]


async def empty_tickets(uow: UnitOfWork, ticket_ids: Sequence[UUID], now: datetime) -> None:
    """Close the tickets, empty their texts, delete their notes and schedule the deletion of their images."""
    await uow.execute(_EMPTY_TICKETS, list(ticket_ids), now)
    await uow.execute(_EMPTY_MESSAGES, list(ticket_ids))
    await uow.execute(_DROP_NOTES, list(ticket_ids))
    dropped = await uow.fetch(_DROP_ATTACHMENTS, list(ticket_ids))
    await schedule_image_removal(uow, [(image_id, ticket_id) for image_id, ticket_id in dropped], now)


async def list_staff_replies(uow: UnitOfWork, ticket_ids: Sequence[UUID]) -> list[UUID]:
    """Return the staff messages of these tickets."""
    return [message_id for (message_id,) in await uow.fetch(_STAFF_REPLIES, list(ticket_ids))]


async def find_reply(uow: UnitOfWork, message_id: UUID) -> StaffReply | None:
    row = await uow.fetch_row(_REPLY, message_id)
    return None if row is None else StaffReply(*row)


def enqueue_reply(uow: UnitOfWork, message_id: UUID) -> None:
    uow.enqueue_work(SUPPORT_QUEUE, message_id, {"replyId": str(message_id)})
