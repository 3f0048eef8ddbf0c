"""Contacts and what is told: notifications, their deliveries, the log of attempts, alerts."""

from alembic import op

from common.migrations.functions import create_messaging_v1, grant_api_v1, grant_roles_v1

revision = "0001"
down_revision = None

_STATEMENTS = (
    # Heard from identity; `sequence` is the publisher's, so that late news never overwrites newer.
    """
    CREATE TABLE contacts (
        user_id uuid PRIMARY KEY,
        email text NOT NULL,
        phone text,
        full_name text,
        sequence bigint NOT NULL
    )
    """,
    """
    CREATE TABLE vendors (
        vendor_id uuid PRIMARY KEY,
        owner_user_id uuid NOT NULL,
        business_name text NOT NULL,
        sequence bigint NOT NULL
    )
    """,
    """
    CREATE TABLE order_summaries (
        order_id uuid PRIMARY KEY,
        vendor_id uuid NOT NULL,
        total_minor bigint NOT NULL,
        delivery_fee_minor bigint NOT NULL,
        items jsonb NOT NULL
    )
    """,
    # What a person was told, as the app shows it; without a title it is not shown (a one-time code).
    """
    CREATE TABLE notifications (
        id uuid PRIMARY KEY,
        user_id uuid,
        template text NOT NULL,
        title text,
        body text,
        created_at timestamptz NOT NULL,
        read_at timestamptz
    )
    """,
    "CREATE INDEX notifications_feed ON notifications (user_id, created_at DESC, id DESC) WHERE title IS NOT NULL",
    # One message by one channel. `payload` holds no secret; `sealed` holds the secrets as they travelled.
    """
    CREATE TABLE notification_deliveries (
        id uuid PRIMARY KEY,
        notification_id uuid NOT NULL,
        channel text NOT NULL,
        recipient text NOT NULL,
        template text NOT NULL,
        payload jsonb NOT NULL,
        sealed jsonb NOT NULL,
        status text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        claim_id uuid,
        claimed_at timestamptz,
        provider_message_id text,
        created_at timestamptz NOT NULL,
        CONSTRAINT notification_deliveries_notification FOREIGN KEY (notification_id) REFERENCES notifications (id),
        CONSTRAINT notification_deliveries_once UNIQUE (notification_id, channel, recipient),
        CONSTRAINT notification_deliveries_channel_known CHECK (channel IN ('push', 'messaging', 'sms', 'email')),
        CONSTRAINT notification_deliveries_status_known
            CHECK (status IN ('queued', 'sent', 'delivered', 'read', 'failed', 'bounced')),
        CONSTRAINT notification_deliveries_claim_whole CHECK ((claim_id IS NULL) = (claimed_at IS NULL))
    )
    """,
    "CREATE INDEX notification_deliveries_claimed ON notification_deliveries (claimed_at) WHERE claimed_at IS NOT NULL",
    # One row for each attempt: `sending` while the provider is asked, `unknown` when the worker died before it could tell.
    """
    CREATE TABLE notification_delivery_logs (
        id uuid PRIMARY KEY,
        delivery_id uuid NOT NULL,
        notification_id uuid NOT NULL,
        user_id uuid,
        channel text NOT NULL,
        template text NOT NULL,
        recipient text NOT NULL,
        status text NOT NULL,
        provider text,
        provider_message_id text,
        error text,
        attempted_at timestamptz NOT NULL,
        CONSTRAINT notification_delivery_logs_delivery
            FOREIGN KEY (delivery_id) REFERENCES notification_deliveries (id),
        CONSTRAINT notification_delivery_logs_status_known
            CHECK (status IN ('sending', 'unknown', 'sent', 'delivered', 'read', 'failed', 'bounced'))
    )
    """,
    "CREATE INDEX notification_delivery_logs_newest ON notification_delivery_logs (attempted_at DESC, id DESC)",
    "CREATE INDEX notification_delivery_logs_of_delivery ON notification_delivery_logs (delivery_id)",
    "CREATE INDEX notification_delivery_logs_of_notification ON notification_delivery_logs (notification_id)",
    """
    CREATE TABLE alerts (
        id uuid PRIMARY KEY,
        severity text NOT NULL,
        title text NOT NULL,
        detail text NOT NULL,
        subject text,
        runbook text NOT NULL,
        dedup_key text NOT NULL,
        source text NOT NULL,
        repetitions integer NOT NULL DEFAULT 0,
        raised_at timestamptz NOT NULL,
        last_raised_at timestamptz NOT NULL,
        paged_at timestamptz,
        page_error text,
        closed_at timestamptz,
        CONSTRAINT alerts_severity_known CHECK (severity IN ('SEV-1', 'SEV-2', 'SEV-3'))
    )
    """,
    # Repetitions of an open alert are the same alert.
    "CREATE UNIQUE INDEX alerts_open_once ON alerts (dedup_key) WHERE closed_at IS NULL",
    "CREATE INDEX alerts_newest ON alerts (raised_at DESC, id DESC)",
)


def upgrade() -> None:
    grant_roles_v1("notifications")
    create_messaging_v1("notifications")
    for statement in _STATEMENTS:
        op.execute(statement)
    _protect()


def downgrade() -> None:
    raise NotImplementedError("a first migration is undone by dropping the database")


def _protect() -> None:
    """Callers see their own feed; staff see the log of attempts and the alerts. The other tables are nobody's but the service's."""
    grant_api_v1("notifications", "notifications", "SELECT, UPDATE (read_at)")
    op.execute("CREATE POLICY notifications_of_their_user ON notifications USING (user_id = app_user_id())")
    grant_api_v1("notifications", "notification_delivery_logs", "SELECT")
    op.execute(
        "CREATE POLICY notification_delivery_logs_for_staff ON notification_delivery_logs FOR SELECT "
        "USING (app_may('delivery_logs:read') OR app_may('notifications:resend'))"
    )
    grant_api_v1("notifications", "alerts", "SELECT")
    op.execute("CREATE POLICY alerts_for_staff ON alerts FOR SELECT USING (app_may('alerts:read'))")
