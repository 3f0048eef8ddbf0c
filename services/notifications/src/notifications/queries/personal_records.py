"""Sections of a user's personal data export."""

from typing import Final

from common.web.personal_records import Section

SECTIONS: Final = (
    Section(
        "contact",
        "SELECT user_id::text AS place, email, phone, full_name FROM contacts WHERE user_id = $1",
        past_policies=True,
    ),
    Section(
        "notifications",
        "SELECT id::text AS place, id, template, title, body, created_at, read_at FROM notifications WHERE user_id = $1",
    ),
    Section(
        "messagesSent",
        "SELECT id::text AS place, id, channel, template, recipient, status, attempted_at "
        "FROM notification_delivery_logs WHERE user_id = $1",
        past_policies=True,
    ),
    Section(
        "devices",
        "SELECT id::text AS place, id, kind, address, created_at FROM user_devices WHERE user_id = $1",
    ),
    Section(
        "webhookEndpoints",
        "SELECT id::text AS place, id, url, event_types, description, status, created_at "
        "FROM webhook_endpoints WHERE created_by = $1",
        past_policies=True,
    ),
    Section(
        "preferences",
        "SELECT user_id::text AS place, channels, quiet_from, quiet_to, timezone, locale, updated_at "
        "FROM notification_preferences WHERE user_id = $1",
    ),
    Section(
        "tickets",
        "SELECT id::text AS place, id, source, subject, order_id, status, priority, created_at, updated_at, closed_at "
        "FROM support_tickets WHERE user_id = $1",
    ),
    Section(
        "ticketMessages",
        "SELECT message.id::text AS place, message.id, message.ticket_id, message.author, message.kind, message.body, message.created_at "
        "FROM support_messages AS message JOIN support_tickets AS ticket ON ticket.id = message.ticket_id WHERE ticket.user_id = $1",
    ),
    Section(
        "ticketPictures",
        "SELECT image.id::text AS place, image.id, image.ticket_id, image.author, image.byte_count, image.created_at "
        "FROM support_attachments AS image JOIN support_tickets AS ticket ON ticket.id = image.ticket_id WHERE ticket.user_id = $1",
    ),
    Section(
        "conversations",
        "SELECT id::text AS place, id, title, created_at, last_message_at FROM conversations WHERE user_id = $1",
    ),
    Section(
        "conversationMessages",
        "SELECT id::text AS place, id, conversation_id, position, role, text, provider, created_at "
        "FROM conversation_messages WHERE user_id = $1",
    ),
)
