"""Notifications, their deliveries, devices, alerts and tickets."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from notifications.tables.metadata import INSTANT, NEWEST, metadata

# A `..._sealed` column is encrypted.
_DUE = sa.text("due_at IS NOT NULL")

# Projected from identity; `sequence` is the publisher's, so that a late event never overwrites a newer one.
sa.Table(
    "contacts",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("phone", sa.Text),
    sa.Column("full_name", sa.Text),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("phone_confirmed", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("staff_roles", ARRAY(sa.Text)),
    # Finds the user whose telephone sent a message.
    sa.Index("contacts_of_phone", "phone", postgresql_where=sa.text("phone IS NOT NULL")),
    sa.Index("contacts_of_staff", "user_id", postgresql_where=sa.text("staff_roles <> '{}'")),
)

sa.Table(
    "vendors",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("owner_user_id", sa.Uuid, nullable=False),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)

# `payment_under_review`: the payment is in quarantine, so that no notice claims the buyer did not pay.
sa.Table(
    "order_summaries",
    metadata,
    sa.Column("order_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("total_minor", sa.BigInteger, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("items", JSONB, nullable=False),
    sa.Column("buyer_id", sa.Uuid),
    sa.Column("payment_under_review", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("number", sa.Text),
)

# One message to one user, as the app shows it; without a title it is not shown (a one-time code).
sa.Table(
    "notifications",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid),
    sa.Column("template", sa.Text, nullable=False),
    sa.Column("title", sa.Text),
    sa.Column("body", sa.Text),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("read_at", INSTANT),
    sa.Column("place", sa.BigInteger),
    sa.Column("subject", JSONB),
    sa.CheckConstraint("(title IS NULL) = (place IS NULL)", name="notifications_place_in_feed"),
    sa.Index("notifications_feed", "user_id", *NEWEST, postgresql_where=sa.text("title IS NOT NULL")),
    sa.Index("notifications_places", "user_id", "place", unique=True, postgresql_where=sa.text("place IS NOT NULL")),
    sa.Index(
        "notifications_unread", "user_id", *NEWEST, postgresql_where=sa.text("title IS NOT NULL AND read_at IS NULL")
    ),
    sa.Index("notifications_oldest", "created_at"),
    sa.Index(
        "notifications_of_order",
        sa.text("(subject ->> 'orderId')"),
        postgresql_where=sa.text("subject ->> 'orderId' IS NOT NULL"),
    ),
)

# The last place given in a user's feed. Its row is locked until the line is committed, so that lines appear in the
# order of their places: a reader up to one place has missed nothing before it.
sa.Table(
    "feeds",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("last", sa.BigInteger, nullable=False),
    sa.Column("streamed_until", INSTANT),
)

# One message by one channel. `payload` holds no secret; `sealed` holds the secrets, encrypted. `due_at`: not before
# this time (quiet hours, or a provider that rests).
sa.Table(
    "notification_deliveries",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "notification_id",
        sa.Uuid,
        sa.ForeignKey("notifications.id", name="notification_deliveries_notification"),
        nullable=False,
    ),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("recipient", sa.Text, nullable=False),
    sa.Column("template", sa.Text, nullable=False),
    sa.Column("payload", JSONB, nullable=False),
    sa.Column("sealed", JSONB, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("claim_id", sa.Uuid),
    sa.Column("claimed_at", INSTANT),
    sa.Column("provider_message_id", sa.Text),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("due_at", INSTANT),
    sa.Column("is_urgent", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("traceparent", sa.Text),
    sa.UniqueConstraint("notification_id", "channel", "recipient", name="notification_deliveries_once"),
    sa.CheckConstraint(
        "channel IN ('push', 'messaging', 'sms', 'email')", name="notification_deliveries_channel_known"
    ),
    sa.CheckConstraint("(claim_id IS NULL) = (claimed_at IS NULL)", name="notification_deliveries_claim_whole"),
    sa.CheckConstraint(
        "status IN ('queued', 'sent', 'delivered', 'read', 'failed', 'bounced')",
        name="notification_deliveries_status_known",
    ),
    sa.Index("notification_deliveries_claimed", "claimed_at", postgresql_where=sa.text("claimed_at IS NOT NULL")),
    sa.Index("notification_deliveries_due", "due_at", postgresql_where=_DUE),
    sa.Index("notification_deliveries_oldest", "created_at"),
    sa.Index("notification_deliveries_queue", "channel", sa.text("is_urgent DESC"), "due_at", postgresql_where=_DUE),
)

# One row for each attempt: `sending` during the provider's call, `unknown` when the worker died in it. Partitioned by
# month. `told_at` is the provider's time of its last report on the attempt.
sa.Table(
    "notification_delivery_logs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "delivery_id",
        sa.Uuid,
        sa.ForeignKey("notification_deliveries.id", name="notification_delivery_logs_delivery"),
        nullable=False,
    ),
    sa.Column("notification_id", sa.Uuid, nullable=False),
    sa.Column("user_id", sa.Uuid),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("template", sa.Text, nullable=False),
    sa.Column("recipient", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("provider", sa.Text),
    sa.Column("provider_message_id", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("attempted_at", INSTANT, primary_key=True),
    sa.Column("told_at", INSTANT),
    sa.CheckConstraint(
        "status IN ('sending', 'unknown', 'sent', 'delivered', 'read', 'failed', 'bounced')",
        name="notification_delivery_logs_status_known",
    ),
    sa.Index("notification_delivery_logs_newest", sa.text("attempted_at DESC"), sa.text("id DESC")),
    sa.Index("notification_delivery_logs_of_delivery", "delivery_id"),
    sa.Index("notification_delivery_logs_of_notification", "notification_id"),
    # A provider reports on a message by its own id.
    sa.Index(
        "notification_delivery_logs_told_of",
        "channel",
        "provider_message_id",
        postgresql_where=sa.text("provider_message_id IS NOT NULL"),
    ),
    postgresql_partition_by="RANGE (attempted_at)",
)

sa.Table(
    "alerts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("severity", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("subject", sa.Text),
    sa.Column("runbook", sa.Text, nullable=False),
    sa.Column("dedup_key", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("repetitions", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("raised_at", INSTANT, nullable=False),
    sa.Column("last_raised_at", INSTANT, nullable=False),
    sa.Column("paged_at", INSTANT),
    sa.Column("page_error", sa.Text),
    sa.Column("closed_at", INSTANT),
    sa.CheckConstraint("severity IN ('SEV-1', 'SEV-2', 'SEV-3')", name="alerts_severity_known"),
    # Repetitions of an open alert are the same alert.
    sa.Index("alerts_open_once", "dedup_key", unique=True, postgresql_where=sa.text("closed_at IS NULL")),
    sa.Index("alerts_newest", sa.text("raised_at DESC"), sa.text("id DESC")),
    sa.Index("alerts_of_key", "dedup_key", "closed_at"),
    sa.Index("alerts_closed", "closed_at", postgresql_where=sa.text("closed_at IS NOT NULL")),
)

# A push address: a native token, or a browser's subscription with its encryption keys (RFC 8291). An address belongs
# to its last registrant.
sa.Table(
    "user_devices",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("public_key", sa.Text),
    sa.Column("auth_secret", sa.Text),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("registered_at", INSTANT, nullable=False),
    sa.UniqueConstraint("address", name="user_devices_address"),
    sa.CheckConstraint(
        "(kind = 'web') = (public_key IS NOT NULL) AND (kind = 'web') = (auth_secret IS NOT NULL)",
        name="user_devices_keys_of_web",
    ),
    sa.CheckConstraint("kind IN ('web', 'android', 'ios')", name="user_devices_kind_known"),
    sa.Index("user_devices_of_user", "user_id", "created_at"),
)

# A user's choices. No row, or no channel in `channels`: the default.
sa.Table(
    "notification_preferences",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("channels", JSONB, nullable=False),
    sa.Column("quiet_from", sa.Time),
    sa.Column("quiet_to", sa.Time),
    sa.Column("timezone", sa.Text, nullable=False),
    sa.Column("locale", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("optional_mail", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.CheckConstraint("(quiet_from IS NULL) = (quiet_to IS NULL)", name="notification_preferences_quiet_whole"),
)

# A PIN under delivery: `due_at` is when the next channel is tried, NULL when nothing is left to do. A PIN is over when
# it was used or replaced; one sent by deliver-notification has no order.
sa.Table(
    "pin_watches",
    metadata,
    sa.Column("notification_id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid),
    sa.Column("issue", sa.Integer, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("due_at", INSTANT),
    sa.Column("is_over", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index("pin_watches_due", "due_at", postgresql_where=_DUE),
    sa.Index("pin_watches_of_order", "order_id"),
)

sa.Table(
    "provider_pauses",
    metadata,
    sa.Column("provider", sa.Text, primary_key=True),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("failed_at", INSTANT, nullable=False),
    sa.Column("probe_at", INSTANT, nullable=False),
)

# Who requested that a message is sent again.
sa.Table(
    "notification_resends",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "delivery_id",
        sa.Uuid,
        sa.ForeignKey("notification_deliveries.id", name="notification_resends_delivery"),
        nullable=False,
    ),
    sa.Column("log_id", sa.Uuid, nullable=False),
    sa.Column("asked_by", sa.Uuid, nullable=False),
    sa.Column("idempotency_key", sa.Text),
    sa.Column("asked_at", INSTANT, nullable=False),
    sa.UniqueConstraint("asked_by", "idempotency_key", name="notification_resends_once"),
    sa.Index("notification_resends_of_delivery", "delivery_id"),
)

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
    sa.CheckConstraint("priority IN ('low', 'normal', 'high', 'urgent')", name="support_tickets_priority_known"),
    sa.CheckConstraint("source IN ('app', 'messaging')", name="support_tickets_source_known"),
    sa.CheckConstraint("status IN ('open', 'pending', 'closed')", name="support_tickets_status_known"),
    sa.Index("support_tickets_newest", *NEWEST),
    sa.Index("support_tickets_of_user", "user_id", *NEWEST),
    sa.Index("support_tickets_of_phone", "phone_key", postgresql_where=sa.text("phone_key IS NOT NULL")),
    sa.Index("support_tickets_open", "updated_at", "id", postgresql_where=sa.text("status = 'open'")),
    sa.Index("support_tickets_number_once", "number", unique=True),
)

# Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
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
    sa.CheckConstraint("author IN ('customer', 'staff')", name="support_messages_author_known"),
    sa.CheckConstraint("source IN ('app', 'messaging')", name="support_messages_source_known"),
    sa.Index("support_messages_of_ticket", "ticket_id", "created_at", "id"),
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
    sa.CheckConstraint("author IN ('customer', 'staff')", name="support_attachments_author_known"),
    sa.Index("support_attachments_of_ticket", "ticket_id", "created_at", "id"),
)
