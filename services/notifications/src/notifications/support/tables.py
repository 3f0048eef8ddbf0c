"""Webhooks of the messaging app, tickets, their messages and images."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.database.tables import known
from notifications.support.domain.tickets import Priority, Side, Status
from notifications.tables.metadata import INSTANT, NEWEST, metadata

# The specification's deduplication table, with the outcome and the received bytes. The app gives a body no id: its key
# is the SHA-256 of the bytes.
sa.Table(
    "processed_webhook_events",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("event_type", sa.Text, nullable=False),
    sa.Column("payload", JSONB, nullable=False),
    sa.Column("raw", sa.LargeBinary, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("processed_at", INSTANT, nullable=False, server_default=sa.text("now()")),
    sa.CheckConstraint(
        "outcome IN ('queued', 'done', 'ignored', 'dead')", name="processed_webhook_events_outcome_known"
    ),
    sa.Index("processed_webhook_events_oldest", "processed_at"),
)

# One message, or one status of a message, whatever bodies carried it. `content` is emptied after its effect. A body
# may be removed before its items.
sa.Table(
    "messaging_items",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column(
        "webhook_id",
        sa.Text,
        sa.ForeignKey("processed_webhook_events.id", name="messaging_items_webhook", ondelete="SET NULL"),
    ),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("content", JSONB, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("ticket_id", sa.Uuid),
    sa.Column("received_at", INSTANT, nullable=False),
    sa.CheckConstraint("kind IN ('message', 'status')", name="messaging_items_kind_known"),
    sa.CheckConstraint("outcome IN ('queued', 'done', 'ignored', 'dead')", name="messaging_items_outcome_known"),
    sa.Index("messaging_items_of_webhook", "webhook_id"),
    sa.Index("messaging_items_of_ticket", "ticket_id", postgresql_where=sa.text("ticket_id IS NOT NULL")),
    sa.Index("messaging_items_statuses", "received_at", postgresql_where=sa.text("kind = 'status'")),
)

sa.Table(
    "dead_letter_webhooks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("event_id", sa.Text, nullable=False),
    sa.Column("event_type", sa.Text, nullable=False),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("payload", JSONB, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("failed_at", INSTANT, nullable=False, server_default=sa.text("now()")),
    sa.Column("replayed_at", INSTANT),
    sa.Column("closed_at", INSTANT),
    sa.Column("resolved_at", INSTANT, sa.Computed("COALESCE(replayed_at, closed_at)", persisted=True)),
    sa.CheckConstraint("provider = 'messaging_app'", name="dead_letter_webhooks_provider_known"),
    sa.CheckConstraint("num_nulls(replayed_at, closed_at) > 0", name="dead_letter_webhooks_resolved_once"),
    sa.Index("dead_letter_webhooks_newest", "failed_at", "id"),
    sa.Index("dead_letter_webhooks_of_event", "event_id"),
)

# `phone_key` finds the ticket of a number, `phone_sealed` is the reply address, staff see `phone_masked`. `heard_at`:
# the customer's last message in the messaging app; free text may go there for 24 hours.
sa.Table(
    "support_tickets",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("order_id", sa.Uuid),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("priority", sa.Text, nullable=False),
    sa.Column("assignee_id", sa.Uuid),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("unread_by_customer", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("unread_by_staff", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("phone_key", sa.Text),
    sa.Column("phone_sealed", sa.Text),
    sa.Column("phone_masked", sa.Text),
    sa.Column("heard_at", INSTANT),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("closed_at", INSTANT),
    sa.Column("app_user_key", sa.Text),
    sa.Column("number", sa.Text, server_default=sa.text("new_ticket_number()")),
    sa.CheckConstraint("(status = 'closed') = (closed_at IS NOT NULL)", name="support_tickets_closed_whole"),
    sa.CheckConstraint(
        "number IS NOT NULL AND number ~ '^CT(-[0-9A-HJKMNP-TV-Z]{4}){2}$'", name="support_tickets_number_form"
    ),
    known("support_tickets", "priority", Priority),
    sa.CheckConstraint("source IN ('app', 'messaging')", name="support_tickets_source_known"),
    known("support_tickets", "status", Status),
    sa.Index("support_tickets_newest", *NEWEST),
    sa.Index("support_tickets_of_user", "user_id", *NEWEST),
    sa.Index("support_tickets_of_phone", "phone_key", postgresql_where=sa.text("phone_key IS NOT NULL")),
    sa.Index("support_tickets_open", "updated_at", "id", postgresql_where=sa.text("status = 'open'")),
    sa.Index("support_tickets_number_once", "number", unique=True),
)

# A ticket's owner writes as the customer, other staff write as staff.
sa.Table(
    "support_messages",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "ticket_id", sa.Uuid, sa.ForeignKey("support_tickets.id", name="support_messages_ticket"), nullable=False
    ),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("author_id", sa.Uuid),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    known("support_messages", "author", Side),
    sa.CheckConstraint("source IN ('app', 'messaging')", name="support_messages_source_known"),
    sa.Index("support_messages_of_ticket", "ticket_id", "created_at", "id"),
)

# A note of staff to staff about a ticket. Its customer never sees it, even as a member of staff.
sa.Table(
    "support_notes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("ticket_id", sa.Uuid, sa.ForeignKey("support_tickets.id", name="support_notes_ticket"), nullable=False),
    sa.Column("author_id", sa.Uuid, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Index("support_notes_of_ticket", "ticket_id", "created_at", "id"),
)

# The image itself is in the media store, under the id. Visible with its ticket.
sa.Table(
    "support_attachments",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "ticket_id", sa.Uuid, sa.ForeignKey("support_tickets.id", name="support_attachments_ticket"), nullable=False
    ),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("author_id", sa.Uuid, nullable=False),
    sa.Column("byte_count", sa.Integer, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    known("support_attachments", "author", Side),
    sa.Index("support_attachments_of_ticket", "ticket_id", "created_at", "id"),
)
