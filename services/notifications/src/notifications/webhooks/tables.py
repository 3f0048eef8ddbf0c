"""Outgoing webhooks: endpoints, stored events and deliveries."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from common.database.tables import known
from notifications.tables.metadata import INSTANT, metadata
from notifications.webhooks.domain.webhooks import DeliveryStatus, EndpointStatus

sa.Table(
    "webhook_endpoints",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("event_types", ARRAY(sa.Text), nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("disabled_reason", sa.Text),
    sa.Column("failing_since", INSTANT),
    sa.Column("secret_sealed", sa.Text, nullable=False),
    sa.Column("previous_secret_sealed", sa.Text),
    sa.Column("previous_secret_until", INSTANT),
    sa.Column("created_by", sa.Uuid, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.CheckConstraint(
        "(previous_secret_sealed IS NULL) = (previous_secret_until IS NULL)", name="webhook_endpoints_previous_whole"
    ),
    sa.CheckConstraint(
        "(status = 'disabled') = (disabled_reason IS NOT NULL) AND disabled_reason IN ('owner', 'gone', 'failing')",
        name="webhook_endpoints_reason_of_disabled",
    ),
    known("webhook_endpoints", "status", EndpointStatus),
    sa.Index("webhook_endpoints_of_vendor", "vendor_id"),
    sa.Index("webhook_endpoints_newest", sa.text("created_at DESC"), sa.text("id DESC")),
)

sa.Table(
    "webhook_events",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("occurred_at", INSTANT, nullable=False),
    sa.Column("data", JSONB, nullable=False),
    sa.Column("traceparent", sa.Text),
    sa.Column("recorded_at", INSTANT, nullable=False),
    sa.Index("webhook_events_oldest", "recorded_at"),
    sa.Index("webhook_events_of_vendor", "vendor_id", "recorded_at"),
)

sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "endpoint_id",
        sa.Uuid,
        sa.ForeignKey("webhook_endpoints.id", name="webhook_deliveries_endpoint", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("event_id", sa.Uuid, sa.ForeignKey("webhook_events.id", name="webhook_deliveries_event"), nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("next_attempt_at", INSTANT),
    sa.Column("response_status", sa.Integer),
    sa.Column("response_excerpt", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("finished_at", INSTANT),
    sa.CheckConstraint("(status = 'pending') = (finished_at IS NULL)", name="webhook_deliveries_end_of_others"),
    sa.CheckConstraint(
        "(status = 'pending') = (next_attempt_at IS NOT NULL)", name="webhook_deliveries_next_of_pending"
    ),
    known("webhook_deliveries", "status", DeliveryStatus),
    sa.Index(
        "webhook_deliveries_pending_once",
        "event_id",
        "endpoint_id",
        unique=True,
        postgresql_where=sa.text("status = 'pending'"),
    ),
    sa.Index(
        "webhook_deliveries_queue", "endpoint_id", "next_attempt_at", postgresql_where=sa.text("status = 'pending'")
    ),
    sa.Index("webhook_deliveries_newest", "endpoint_id", sa.text("created_at DESC"), sa.text("id DESC")),
    sa.Index("webhook_deliveries_of_event", "event_id"),
)
