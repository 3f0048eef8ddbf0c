"""Webhooks of the payment gateway."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from payments.tables.metadata import INSTANT, metadata, required

# The specification's deduplication table, with the outcome and the received bytes.
sa.Table(
    "processed_webhook_events",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    required("provider", sa.Text),
    required("event_type", sa.Text),
    required("payload", JSONB),
    required("raw", sa.LargeBinary),
    required("outcome", sa.Text),
    required("processed_at", INSTANT, server_default=sa.text("now()")),
    required("gateway", sa.Text, server_default=sa.text("'paystack'")),
    sa.CheckConstraint(
        "outcome IN ('queued', 'done', 'ignored', 'dead')", name="processed_webhook_events_outcome_known"
    ),
    # Without the outcome: a finished webhook changes its row only, and no index.
    sa.Index("processed_webhook_events_oldest", "processed_at"),
)

sa.Table(
    "dead_letter_webhooks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("webhook_id", sa.Text, sa.ForeignKey("processed_webhook_events.id", name="dead_letter_webhooks_webhook")),
    required("event_type", sa.Text),
    required("error", sa.Text),
    required("attempts", sa.Integer),
    required("failed_at", INSTANT, server_default=sa.text("now()")),
    sa.Column("replayed_at", INSTANT),
    required("provider", sa.Text, server_default=sa.text("'paystack'")),
    sa.Column("payload", JSONB),
    sa.Column("closed_at", INSTANT),
    sa.CheckConstraint("provider IN ('paystack', 'flutterwave')", name="dead_letter_webhooks_provider_known"),
    sa.CheckConstraint("num_nulls(replayed_at, closed_at) > 0", name="dead_letter_webhooks_resolved_once"),
    sa.Index("dead_letter_webhooks_newest", "failed_at", "id"),
    sa.Index("dead_letter_webhooks_of_webhook", "webhook_id"),
)

# A known key that arrived with other content. `due_at`: when the gateway is queried for the present state.
sa.Table(
    "revised_webhooks",
    metadata,
    sa.Column(
        "webhook_id",
        sa.Text,
        sa.ForeignKey("processed_webhook_events.id", name="revised_webhooks_webhook"),
        primary_key=True,
    ),
    required("revisions", sa.BigInteger),
    required("kept", sa.Integer),
    required("revised_at", INSTANT),
    sa.Column("due_at", INSTANT),
    sa.Column("queried_at", INSTANT),
    required("queries", sa.Integer, server_default=sa.text("0")),
    sa.Column("answered_at", INSTANT),
    sa.CheckConstraint("kept BETWEEN 0 AND least(revisions, 10)", name="revised_webhooks_kept_is_bounded"),
    sa.Index("revised_webhooks_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
)

# Their bytes, each content once; removed with their webhook.
sa.Table(
    "webhook_revisions",
    metadata,
    sa.Column(
        "webhook_id",
        sa.Text,
        sa.ForeignKey("processed_webhook_events.id", name="webhook_revisions_webhook"),
        primary_key=True,
    ),
    sa.Column("content_hash", sa.LargeBinary, primary_key=True),
    required("raw", sa.LargeBinary),
    required("received_at", INSTANT),
)
