"""What is too old to be needed leaves: the log of attempts by months, the rest by jobs that find it by an index.

Revision ID: 0008
"""

from alembic import op

from common.migrations.functions import grant_api_v1
from common.migrations.monthly_partitions import close_partition_v1, turn_months_v1

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_LOG = "notification_delivery_logs"
_EARLIER = f"{_LOG}_earlier"
_INDEXES = ("newest", "of_delivery", "of_notification", "told_of")
_POLICY = (
    "CREATE POLICY notification_delivery_logs_for_staff ON notification_delivery_logs FOR SELECT "
    "USING (app_may('delivery_logs:read') OR app_may('notifications:resend'))"
)
_INDEXED = (
    f"CREATE INDEX {_LOG}_newest ON {_LOG} (attempted_at DESC, id DESC)",
    f"CREATE INDEX {_LOG}_of_delivery ON {_LOG} (delivery_id)",
    f"CREATE INDEX {_LOG}_of_notification ON {_LOG} (notification_id)",
    f"CREATE INDEX {_LOG}_told_of ON {_LOG} (channel, provider_message_id) WHERE provider_message_id IS NOT NULL",
)
_FOREIGN_KEY = f"ALTER TABLE {_LOG} ADD CONSTRAINT {_LOG}_delivery FOREIGN KEY (delivery_id) REFERENCES notification_deliveries (id)"
# The log as it is becomes its own first partition, up to the end of the newest month that it holds: no row is copied. An
# attempt's id is made here and guards nothing, so that the key may hold the time as well.
_PARTITIONED = (
    f"ALTER TABLE {_LOG} RENAME TO {_EARLIER}",
    f"DROP POLICY {_LOG}_for_staff ON {_EARLIER}",
    f"ALTER TABLE {_EARLIER} DROP CONSTRAINT {_LOG}_pkey",
    f"ALTER TABLE {_EARLIER} ADD CONSTRAINT {_EARLIER}_pkey PRIMARY KEY (id, attempted_at)",
    *(f"ALTER INDEX {_LOG}_{name} RENAME TO {_EARLIER}_{name}" for name in _INDEXES),
    f"CREATE TABLE {_LOG} (LIKE {_EARLIER} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (attempted_at)",
    f"ALTER TABLE {_LOG} ADD CONSTRAINT {_LOG}_pkey PRIMARY KEY (id, attempted_at)",
    _FOREIGN_KEY,
    *_INDEXED,
    f"""
    DO $$
    DECLARE ends timestamptz;
    BEGIN
        SELECT (date_trunc('month', greatest(now(), max(attempted_at)) AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'
        INTO ends FROM {_EARLIER};
        EXECUTE format('ALTER TABLE {_LOG} ATTACH PARTITION {_EARLIER} FOR VALUES FROM (MINVALUE) TO (%L)', ends);
    END $$
    """,
)
# By these the jobs find what is old.
_OLDEST = (
    "CREATE INDEX notification_deliveries_oldest ON notification_deliveries (created_at)",
    "CREATE INDEX notifications_oldest ON notifications (created_at)",
    "CREATE INDEX alerts_closed ON alerts (closed_at) WHERE closed_at IS NOT NULL",
    "CREATE INDEX processed_webhook_events_oldest ON processed_webhook_events (processed_at)",
    "CREATE INDEX messaging_items_statuses ON messaging_items (received_at) WHERE kind = 'status'",
)
# A message of a customer is known for as long as what they wrote: the body in which it came may leave before it.
_ITEMS_STAY = (
    "ALTER TABLE messaging_items DROP CONSTRAINT messaging_items_webhook",
    "ALTER TABLE messaging_items ALTER COLUMN webhook_id DROP NOT NULL",
    "ALTER TABLE messaging_items ADD CONSTRAINT messaging_items_webhook "
    "FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id) ON DELETE SET NULL",
)


def upgrade() -> None:
    for statement in _PARTITIONED:
        op.execute(statement)
    close_partition_v1("notifications", _EARLIER)
    turn_months_v1("notifications", _LOG, "attempted_at", beside="notification_deliveries")
    op.execute(f"SELECT {_LOG}_turn_months(now() + interval '62 days', '-infinity')")
    grant_api_v1("notifications", _LOG, "SELECT")
    op.execute(_POLICY)
    for statement in (*_OLDEST, *_ITEMS_STAY):
        op.execute(statement)


def downgrade() -> None:
    op.execute(
        "DROP INDEX notification_deliveries_oldest, notifications_oldest, alerts_closed, processed_webhook_events_oldest, "
        "messaging_items_statuses"
    )
    op.execute("DELETE FROM messaging_items WHERE webhook_id IS NULL")
    op.execute("ALTER TABLE messaging_items DROP CONSTRAINT messaging_items_webhook")
    op.execute("ALTER TABLE messaging_items ALTER COLUMN webhook_id SET NOT NULL")
    op.execute(
        "ALTER TABLE messaging_items ADD CONSTRAINT messaging_items_webhook "
        "FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id)"
    )
    op.execute(f"CREATE TABLE {_LOG}_whole (LIKE {_LOG} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
    op.execute(f"INSERT INTO {_LOG}_whole SELECT * FROM {_LOG}")
    op.execute(f"DROP FUNCTION {_LOG}_turn_months")
    op.execute(f"DROP TABLE {_LOG}")
    op.execute(f"ALTER TABLE {_LOG}_whole RENAME TO {_LOG}")
    op.execute(f"ALTER TABLE {_LOG} ADD CONSTRAINT {_LOG}_pkey PRIMARY KEY (id)")
    op.execute(_FOREIGN_KEY)
    for statement in _INDEXED:
        op.execute(statement)
    grant_api_v1("notifications", _LOG, "SELECT")
    op.execute(_POLICY)
