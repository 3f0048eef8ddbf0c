"""Sections of a user's personal data export."""

from typing import Final

from common.standard_endpoints.personal_records import Section

SECTIONS: Final = (
    Section(
        "tickets",
        "SELECT id::text AS place, id, source, subject, order_id, status, priority, created_at, updated_at, closed_at "
        "FROM support_tickets WHERE user_id = $1",
    ),
    Section(
        "ticketMessages",
        "SELECT message.id::text AS place, message.id, message.ticket_id, message.author, message.kind, "
        "message.body, message.created_at "
        "FROM support_messages AS message JOIN support_tickets AS ticket ON ticket.id = message.ticket_id WHERE "
        "ticket.user_id = $1",
    ),
    Section(
        "ticketPictures",
        "SELECT image.id::text AS place, image.id, image.ticket_id, image.author, image.byte_count, image.created_at "
        "FROM support_attachments AS image JOIN support_tickets AS ticket ON ticket.id = image.ticket_id WHERE "
        "ticket.user_id = $1",
    ),
)
