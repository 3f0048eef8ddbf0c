"""Support tickets, their messages and pictures."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from notifications.domain.deliveries import Contact, masked

_TICKET: Final = """
SELECT id, user_id, source, subject, order_id, status, priority, assignee_id, revision, unread_by_customer, unread_by_staff,
       phone_masked, heard_at, created_at, updated_at, closed_at
FROM support_tickets
"""
_ONE: Final = _TICKET + "WHERE id = $1"
_PAGE: Final = (
    _TICKET
    + """
WHERE ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR priority = $2) AND ($3::uuid IS NULL OR assignee_id = $3)
  AND ($4::timestamptz IS NULL OR (created_at, id) < ($4, $5))
ORDER BY created_at DESC, id DESC LIMIT $6
"""
)
_MESSAGES: Final = """
SELECT id, ticket_id, author, author_id, source, kind, body, created_at FROM support_messages
WHERE ticket_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3))
ORDER BY created_at, id LIMIT $4
"""
_MESSAGE: Final = """
SELECT id, ticket_id, author, author_id, source, kind, body, created_at FROM support_messages WHERE id = $1
"""
_ATTACHMENTS: Final = """
SELECT id, ticket_id, author, author_id, byte_count, created_at FROM support_attachments
WHERE ticket_id = $1 ORDER BY created_at, id
"""
_HAS_ATTACHMENT: Final = "SELECT EXISTS (SELECT FROM support_attachments WHERE id = $1 AND ticket_id = $2)"
_CUSTOMERS: Final = "SELECT user_id, email, phone, full_name FROM contacts WHERE user_id = ANY ($1)"
_IS_PARTY: Final = """
SELECT EXISTS (
    SELECT FROM order_summaries o LEFT JOIN vendors v ON v.vendor_id = o.vendor_id
    WHERE o.order_id = $1 AND (o.buyer_id = $2 OR v.owner_user_id = $2)
)
"""
_FREE_TEXT: Final = """
SELECT m.body, t.heard_at FROM support_messages m JOIN support_tickets t ON t.id = m.ticket_id WHERE m.id = $1
"""


async def find_ticket(uow: UnitOfWork, ticket_id: UUID) -> Any:
    """The ticket's row; None when there is none, or none that the caller may see."""
    return await uow.fetch_row(_ONE, ticket_id)


async def list_tickets(
    uow: UnitOfWork,
    status: str | None,
    priority: str | None,
    assignee_id: UUID | None,
    after: tuple[datetime, UUID] | None,
    rows_max: int,
) -> list[Any]:
    """The tickets that the caller may see, newest first, after a position."""
    at, ticket_id = after or (None, None)
    return await uow.fetch(_PAGE, status, priority, assignee_id, at, ticket_id, rows_max)


async def list_ticket_messages(
    uow: UnitOfWork, ticket_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[dict[str, Any]]:
    """What was said, as it was said: the oldest first."""
    at, message_id = after or (None, None)
    return [_message_shape(row) for row in await uow.fetch(_MESSAGES, ticket_id, at, message_id, rows_max)]


async def find_ticket_message(uow: UnitOfWork, message_id: UUID) -> dict[str, Any]:
    """A message that stands there."""
    return _message_shape(await uow.fetch_row(_MESSAGE, message_id))


async def list_attachments(uow: UnitOfWork, ticket_id: UUID) -> list[dict[str, Any]]:
    """The pictures of a ticket, the oldest first."""
    return [_attachment_shape(row) for row in await uow.fetch(_ATTACHMENTS, ticket_id)]


async def has_attachment(uow: UnitOfWork, ticket_id: UUID, attachment_id: UUID) -> bool:
    """Whether the caller may see this picture of this ticket."""
    return bool(await uow.fetch_value(_HAS_ATTACHMENT, attachment_id, ticket_id))


async def find_customers(uow: UnitOfWork, user_ids: Iterable[UUID | None]) -> dict[UUID, Contact]:
    """Who the customers are, for staff."""
    known = sorted({user_id for user_id in user_ids if user_id is not None})
    return {row["user_id"]: Contact(**row) for row in await uow.fetch(_CUSTOMERS, known)}


async def is_party_of_order(uow: UnitOfWork, order_id: UUID, user_id: UUID) -> bool:
    """Whether the user bought the order or sells it."""
    return bool(await uow.fetch_value(_IS_PARTY, order_id, user_id))


async def find_free_text(uow: UnitOfWork, message_id: UUID) -> Any:
    """What support wrote, and when the customer last did in the messaging app."""
    return await uow.fetch_row(_FREE_TEXT, message_id)


def ticket_shape(row: Any, reader_id: UUID, customers: Mapping[UUID, Contact] | None = None) -> dict[str, Any]:
    """A ticket as its customer sees it, or, with `customers`, as staff do: with who asks, and how they are reached, masked."""
    is_own = row["user_id"] == reader_id
    shape = {
        "id": str(row["id"]),
        "subject": row["subject"],
        "status": row["status"],
        "priority": row["priority"],
        "source": row["source"],
        "orderId": _text(row["order_id"]),
        "assigneeId": _text(row["assignee_id"]),
        "unread": row["unread_by_customer"] if is_own else row["unread_by_staff"],
        "revision": row["revision"],
        "createdAt": iso(row["created_at"]),
        "updatedAt": iso(row["updated_at"]),
        "closedAt": iso_or_none(row["closed_at"]),
    }
    if customers is None:
        return shape
    known = customers.get(row["user_id"])
    email, phone = (known.email, known.phone) if known else ("", None)
    shape["customer"] = {
        "id": _text(row["user_id"]),
        "name": known.full_name if known else None,
        "email": masked(email) if email else None,
        "phone": row["phone_masked"] or (masked(phone) if phone else None),
    }
    return shape


def cursor_of(rows: Sequence[Any]) -> list[str]:
    """The position of the last of the tickets."""
    return [rows[-1]["created_at"].isoformat(), str(rows[-1]["id"])]


def _message_shape(row: Any) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "ticketId": str(row["ticket_id"]),
        "author": row["author"],
        "authorId": _text(row["author_id"]),
        "source": row["source"],
        "kind": row["kind"],
        "text": row["body"],
        "createdAt": iso(row["created_at"]),
    }


def _attachment_shape(row: Any) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "ticketId": str(row["ticket_id"]),
        "author": row["author"],
        "byteCount": row["byte_count"],
        "url": f"/api/support-tickets/{row['ticket_id']}/attachments/{row['id']}",
        "createdAt": iso(row["created_at"]),
    }


def _text(identifier: UUID | None) -> str | None:
    return None if identifier is None else str(identifier)
