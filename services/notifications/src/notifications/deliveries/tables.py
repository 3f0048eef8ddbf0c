"""Contacts, notifications, their deliveries, devices and alerts."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from common.database.tables import known
from contracts.channels import Channel
from contracts.severities import Severity
from notifications.deliveries.domain.devices import DeviceKind
from notifications.deliveries.domain.shop_notices import MemberRole
from notifications.deliveries.domain.statuses import AttemptStatus, DeliveryStatus
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
    # The hub of a hub agent.
    sa.Column("hub_id", sa.Uuid),
    # Finds the user whose telephone sent a message.
    sa.Index("contacts_of_phone", "phone", postgresql_where=sa.text("phone IS NOT NULL")),
    sa.Index("contacts_of_hub", "hub_id", "user_id", postgresql_where=sa.text("hub_id IS NOT NULL")),
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

# Members of a vendor's shop, projected from identity. Without a role the membership ended.
sa.Table(
    "shop_members",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("role", sa.Text),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    known("shop_members", "role", MemberRole),
    sa.Index("shop_members_of_vendor", "vendor_id", "user_id", postgresql_where=sa.text("role IS NOT NULL")),
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
    sa.Column("recorded_at", INSTANT, nullable=False, server_default=sa.text("now()")),
    sa.Index("order_summaries_oldest", "recorded_at"),
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
    known("notification_deliveries", "channel", Channel),
    sa.CheckConstraint("(claim_id IS NULL) = (claimed_at IS NULL)", name="notification_deliveries_claim_whole"),
    known("notification_deliveries", "status", DeliveryStatus),
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
    known("notification_delivery_logs", "status", AttemptStatus),
    sa.Index("notification_delivery_logs_newest", sa.text("attempted_at DESC"), sa.text("id DESC")),
    sa.Index("notification_delivery_logs_of_delivery", "delivery_id"),
    sa.Index("notification_delivery_logs_of_notification", "notification_id"),
    sa.Index("notification_delivery_logs_of_user", "user_id", "attempted_at"),
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
    sa.Column("acknowledged_at", INSTANT),
    sa.Column("acknowledged_by", sa.Uuid),
    sa.Column("assignee_id", sa.Uuid),
    sa.Column("escalated_at", INSTANT),
    # Of an alert that a member of staff closed.
    sa.Column("closed_by", sa.Uuid),
    sa.Column("close_reason", sa.Text),
    known("alerts", "severity", Severity),
    sa.CheckConstraint("(acknowledged_at IS NULL) = (acknowledged_by IS NULL)", name="alerts_acknowledged_by_a_user"),
    # Repetitions of an open alert are the same alert.
    sa.Index("alerts_open_once", "dedup_key", unique=True, postgresql_where=sa.text("closed_at IS NULL")),
    sa.Index("alerts_newest", sa.text("raised_at DESC"), sa.text("id DESC")),
    sa.Index("alerts_of_key", "dedup_key", "closed_at"),
    sa.Index("alerts_closed", "closed_at", postgresql_where=sa.text("closed_at IS NOT NULL")),
)

# The history of an alert. `acted_by` is null where a timer escalated it; `assignee_id` is the new assignee.
sa.Table(
    "alert_actions",
    metadata,
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("alert_id", sa.Uuid, sa.ForeignKey("alerts.id", name="alert_actions_alert"), nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("acted_by", sa.Uuid),
    sa.Column("assignee_id", sa.Uuid),
    sa.Column("note", sa.Text),
    sa.Column("acted_at", INSTANT, nullable=False),
    sa.CheckConstraint("kind IN ('acknowledged', 'assigned', 'noted', 'escalated')", name="alert_actions_kind_known"),
    sa.CheckConstraint("(kind = 'escalated') = (acted_by IS NULL)", name="alert_actions_by_a_user"),
    sa.CheckConstraint("(kind = 'noted') = (note IS NOT NULL)", name="alert_actions_note_of_noted"),
    sa.Index("alert_actions_of_alert", "alert_id", "position"),
)

# An exercise of the people on call. Its measured instants arrive with its end; null: not reached.
sa.Table(
    "drills",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("runbook", sa.Text, nullable=False),
    sa.Column("severity", sa.Text, nullable=False),
    sa.Column("started_by", sa.Uuid, nullable=False),
    sa.Column("started_at", INSTANT, nullable=False),
    sa.Column("seen_at", INSTANT),
    sa.Column("acknowledged_at", INSTANT),
    sa.Column("cleared_at", INSTANT),
    sa.Column("ended_at", INSTANT),
    sa.Column("runbook_steps", ARRAY(sa.Integer), nullable=False, server_default=sa.text("'{}'")),
    known("drills", "severity", Severity),
    sa.CheckConstraint(
        "ended_at IS NOT NULL OR (seen_at IS NULL AND acknowledged_at IS NULL AND cleared_at IS NULL)",
        name="drills_measured_at_their_end",
    ),
    sa.CheckConstraint(
        "seen_at IS NOT NULL OR (acknowledged_at IS NULL AND cleared_at IS NULL)", name="drills_seen_first"
    ),
    # Two faults at once would be measured as one.
    sa.Index(
        "drills_one_at_a_time", sa.text("(ended_at IS NULL)"), unique=True, postgresql_where=sa.text("ended_at IS NULL")
    ),
    sa.Index("drills_newest", sa.text("started_at DESC"), sa.text("id DESC")),
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
    known("user_devices", "kind", DeviceKind),
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
    sa.Column("text_id", sa.Uuid),
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
