"""Outgoing webhooks: endpoints, the events for them, and their deliveries (decision 63)."""

from typing import Final

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    """
    CREATE TABLE webhook_endpoints (
        id uuid PRIMARY KEY,
        vendor_id uuid,
        url text NOT NULL,
        event_types text[] NOT NULL,
        description text NOT NULL,
        status text NOT NULL,
        disabled_reason text,
        failing_since timestamptz,
        secret_sealed text NOT NULL,
        previous_secret_sealed text,
        previous_secret_until timestamptz,
        created_by uuid NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT webhook_endpoints_status_known CHECK (status IN ('enabled', 'disabled')),
        CONSTRAINT webhook_endpoints_reason_of_disabled CHECK (
            (status = 'disabled') = (disabled_reason IS NOT NULL)
            AND disabled_reason IN ('owner', 'gone', 'failing')
        ),
        CONSTRAINT webhook_endpoints_previous_whole
            CHECK ((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL))
    )
    """,
    "CREATE INDEX webhook_endpoints_of_vendor ON webhook_endpoints (vendor_id)",
    "CREATE INDEX webhook_endpoints_newest ON webhook_endpoints (created_at DESC, id DESC)",
    "ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_endpoints TO campus_notifications_api",
    """
    CREATE POLICY webhook_endpoints_of_their_owner ON webhook_endpoints
    USING (app_may('webhooks:manage') OR (app_may('webhooks:own') AND vendor_id = app_vendor_id()))
    """,
    """
    CREATE TABLE webhook_events (
        id uuid PRIMARY KEY,
        type text NOT NULL,
        vendor_id uuid,
        occurred_at timestamptz NOT NULL,
        data jsonb NOT NULL,
        recorded_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX webhook_events_oldest ON webhook_events (recorded_at)",
    "CREATE INDEX webhook_events_of_vendor ON webhook_events (vendor_id, recorded_at)",
    "ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON webhook_events TO campus_notifications_api",
    """
    CREATE POLICY webhook_events_of_their_owner ON webhook_events
    USING (app_may('webhooks:manage') OR (app_may('webhooks:own') AND vendor_id = app_vendor_id()))
    """,
    """
    CREATE TABLE webhook_deliveries (
        id uuid PRIMARY KEY,
        endpoint_id uuid NOT NULL,
        event_id uuid NOT NULL,
        status text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz,
        response_status integer,
        response_excerpt text,
        error text,
        created_at timestamptz NOT NULL,
        finished_at timestamptz,
        CONSTRAINT webhook_deliveries_endpoint
            FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        CONSTRAINT webhook_deliveries_event FOREIGN KEY (event_id) REFERENCES webhook_events (id),
        CONSTRAINT webhook_deliveries_status_known CHECK (status IN ('pending', 'delivered', 'failed')),
        CONSTRAINT webhook_deliveries_next_of_pending CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
        CONSTRAINT webhook_deliveries_end_of_others CHECK ((status = 'pending') = (finished_at IS NULL))
    )
    """,
    """
    CREATE UNIQUE INDEX webhook_deliveries_pending_once ON webhook_deliveries (event_id, endpoint_id)
    WHERE status = 'pending'
    """,
    """
    CREATE INDEX webhook_deliveries_queue ON webhook_deliveries (endpoint_id, next_attempt_at)
    WHERE status = 'pending'
    """,
    "CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (endpoint_id, created_at DESC, id DESC)",
    "CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event_id)",
    "ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO campus_notifications_api",
    """
    CREATE POLICY webhook_deliveries_of_their_owner ON webhook_deliveries
    USING (EXISTS (SELECT FROM webhook_endpoints WHERE webhook_endpoints.id = endpoint_id))
    WITH CHECK (
        EXISTS (
            SELECT FROM webhook_endpoints AS endpoint JOIN webhook_events AS event ON event.id = event_id
            WHERE endpoint.id = endpoint_id AND (endpoint.vendor_id IS NULL OR endpoint.vendor_id = event.vendor_id)
        )
    )
    """,
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for table in ("webhook_deliveries", "webhook_events", "webhook_endpoints"):
        op.execute(f"DROP TABLE {table}")
