"""Reads of support tickets, their messages and images."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.public_numbers import NumberKind, read_numbers_or_id
from common.web.response_models import Row
from notifications.deliveries import Contact, masked
from notifications.support.domain.cart_replies import CartLinks
from notifications.support.domain.incoming_texts import shown_kind
from notifications.support.domain.tickets import may_write_freely
from notifications.support.responses.tickets import Ticket, TicketAttachment, TicketCustomer, TicketMessage, TicketNote

_TICKET: Final = """
SELECT id, user_id, source, subject, order_id, status, priority, assignee_id, revision, unread_by_customer,
       unread_by_staff, phone_masked, created_at, updated_at, closed_at, number, number_of_order(order_id)
FROM support_tickets
"""
_ONE: Final = _TICKET + "WHERE id = $1"
# An open ticket waits for its assignee, or for all staff without one; never for its own customer.
AWAITING_TICKET: Final = """
status = 'open' AND (assignee_id IS NULL OR assignee_id = (SELECT app_user_id()))
AND user_id IS DISTINCT FROM (SELECT app_user_id())
"""
_PAGE: Final = (
    _TICKET
    + """
WHERE ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR priority = $2)
    AND ($3::uuid IS NULL OR assignee_id = $3)
  AND ($4::timestamptz IS NULL OR (created_at, id) < ($4, $5)) {awaiting}
  AND ($7::text IS NULL OR number BETWEEN $7 AND $12) AND ($8::uuid IS NULL OR id = $8)
  AND ($9::text IS NULL OR strpos(lower(subject), lower($9)) > 0 OR EXISTS (
      SELECT FROM support_messages AS m WHERE m.ticket_id = support_tickets.id AND strpos(lower(m.body), lower($9)) > 0
  ))
  AND ($10::uuid IS NULL OR order_id = $10) AND ($11::uuid IS NULL OR user_id = $11)
ORDER BY created_at DESC, id DESC LIMIT $6
"""
)
_MESSAGES: Final = """
SELECT id, ticket_id, author, author_id, source, kind, body AS text, created_at FROM support_messages
WHERE ticket_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3))
ORDER BY created_at, id LIMIT $4
"""
_MESSAGE: Final = """
SELECT id, ticket_id, author, author_id, source, kind, body AS text, created_at FROM support_messages WHERE id = $1
"""
_NOTES: Final = """
SELECT id, ticket_id, author_id, body AS text, created_at FROM support_notes
WHERE ticket_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3))
ORDER BY created_at, id LIMIT $4
"""
_NOTE: Final = "SELECT id, ticket_id, author_id, body AS text, created_at FROM support_notes WHERE id = $1"
_ATTACHMENTS: Final = """
SELECT id, ticket_id, author, author_id, byte_count, created_at FROM support_attachments
WHERE ticket_id = $1 ORDER BY created_at, id
"""
_HAS_ATTACHMENT: Final = "SELECT EXISTS (SELECT FROM support_attachments WHERE id = $1 AND ticket_id = $2)"
_FREE_TEXT: Final = """
SELECT m.body, m.kind, t.heard_at FROM support_messages m JOIN support_tickets t ON t.id = m.ticket_id WHERE m.id = $1
"""


class TicketRow(NamedTuple):
    id: UUID
    user_id: UUID | None
    source: str
    subject: str
    order_id: UUID | None
    status: str
    priority: str
    assignee_id: UUID | None
    revision: int
    unread_by_customer: int
    unread_by_staff: int
    phone_masked: str | None
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None
    number: str
    order_number: str | None


async def find_ticket(uow: UnitOfWork, ticket_id: UUID) -> TicketRow | None:
    """Return the ticket; None when there is none that the caller may see."""
    row = await uow.fetch_row(_ONE, ticket_id)
    return None if row is None else TicketRow(*row)


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """Filters of a list of tickets; None does not filter. `awaiting` are those that wait for the caller's reply as
    staff, `number` the number or id of one, in any form that people type.
    """

    status: str | None = None
    priority: str | None = None
    assignee_id: UUID | None = None
    awaiting: str | None = None
    number: str | None = None
    # A part of the subject or of a message, in any case.
    text: str | None = None
    order_id: UUID | None = None
    user_id: UUID | None = None


async def list_tickets(
    uow: UnitOfWork, narrowed: TicketFilter, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[TicketRow]:
    """Return the tickets that the caller may see, newest first, after a cursor position."""
    at, ticket_id = after or (None, None)
    statement = _PAGE.format(awaiting=f"AND {AWAITING_TICKET}" if narrowed.awaiting else "")
    # Any other text is the number of no ticket.
    named = None if narrowed.number is None else read_numbers_or_id(narrowed.number, NumberKind.TICKET) or ("", "")
    first, last = (None, None) if named is None or isinstance(named, UUID) else named
    searched_id = named if isinstance(named, UUID) else None
    fixed = (narrowed.status, narrowed.priority, narrowed.assignee_id)
    searched = (narrowed.text, narrowed.order_id, narrowed.user_id)
    rows = await uow.fetch(statement, *fixed, at, ticket_id, rows_max, first, searched_id, *searched, last)
    return [TicketRow(*row) for row in rows]


async def list_ticket_messages(
    uow: UnitOfWork, ticket_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[TicketMessage]:
    """Return the messages of a ticket, oldest first, after a cursor position."""
    at, message_id = after or (None, None)
    return [_message(row) for row in await uow.fetch(_MESSAGES, ticket_id, at, message_id, rows_max)]


async def find_ticket_message(uow: UnitOfWork, message_id: UUID) -> TicketMessage:
    """Return a message that was just written."""
    [row] = await uow.fetch(_MESSAGE, message_id)
    return _message(row)


async def list_ticket_notes(
    uow: UnitOfWork, ticket_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[TicketNote]:
    """Return the notes of a ticket that the caller may see, oldest first, after a cursor position."""
    at, note_id = after or (None, None)
    return [TicketNote.from_row(row) for row in await uow.fetch(_NOTES, ticket_id, at, note_id, rows_max)]


async def find_ticket_note(uow: UnitOfWork, note_id: UUID) -> TicketNote:
    """Return a note that was just written."""
    [row] = await uow.fetch(_NOTE, note_id)
    return TicketNote.from_row(row)


async def list_attachments(uow: UnitOfWork, ticket_id: UUID) -> list[TicketAttachment]:
    """Return the images of a ticket, oldest first."""
    return [_attachment(row) for row in await uow.fetch(_ATTACHMENTS, ticket_id)]


async def has_attachment(uow: UnitOfWork, ticket_id: UUID, attachment_id: UUID) -> bool:
    """Return whether the image belongs to a ticket that the caller may see."""
    return bool(await uow.fetch_value(_HAS_ATTACHMENT, attachment_id, ticket_id))


async def find_free_text(links: CartLinks, uow: UnitOfWork, message_id: UUID, now: datetime) -> str | None:
    """Return the text of a staff message while the messaging app accepts free texts to its customer; else None."""
    row = await uow.fetch_row(_FREE_TEXT, message_id)
    if row is None or not row["body"] or not may_write_freely(row["heard_at"], now):
        return None
    return links.linked(row["body"], row["kind"], message_id)


def ticket_response(ticket: TicketRow, reader_id: UUID, customers: Mapping[UUID, Contact] | None = None) -> Ticket:
    """Return the ticket for its customer; with `customers` for staff, including the customer with masked addresses."""
    unread = ticket.unread_by_customer if ticket.user_id == reader_id else ticket.unread_by_staff
    customer = None if customers is None else _customer(ticket, customers)
    return Ticket.from_record(ticket, unread=unread, customer=customer)


def _customer(ticket: TicketRow, customers: Mapping[UUID, Contact]) -> TicketCustomer:
    contact = None if ticket.user_id is None else customers.get(ticket.user_id)
    email, phone = (contact.email, contact.phone) if contact else ("", None)
    return TicketCustomer(
        id=ticket.user_id,
        name=contact.full_name if contact else None,
        email=masked(email) if email else None,
        phone=ticket.phone_masked or (masked(phone) if phone else None),
    )


def _message(row: Row) -> TicketMessage:
    return TicketMessage.from_row(row, kind=shown_kind(row["kind"]))


def _attachment(row: Row) -> TicketAttachment:
    return TicketAttachment.from_row(row, url=f"/api/support-tickets/{row['ticket_id']}/attachments/{row['id']}")
