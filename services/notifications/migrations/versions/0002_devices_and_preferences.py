"""Devices, preferences, and how far a message got.

Revision ID: 0002
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_STATEMENTS = (
    # Where a push goes: a native token, or a browser's subscription with the keys of its encryption (RFC 8291). An address
    # belongs to whoever registered it last.
    """
    CREATE TABLE user_devices (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        kind text NOT NULL,
        address text NOT NULL,
        public_key text,
        auth_secret text,
        created_at timestamptz NOT NULL,
        registered_at timestamptz NOT NULL,
        CONSTRAINT user_devices_address UNIQUE (address),
        CONSTRAINT user_devices_kind_known CHECK (kind IN ('web', 'android', 'ios')),
        CONSTRAINT user_devices_keys_of_web
            CHECK ((kind = 'web') = (public_key IS NOT NULL) AND (kind = 'web') = (auth_secret IS NOT NULL))
    )
    """,
    "CREATE INDEX user_devices_of_user ON user_devices (user_id, created_at)",
    # What a user said; without a row, or without a channel in `channels`, they said nothing.
    """
    CREATE TABLE notification_preferences (
        user_id uuid PRIMARY KEY,
        channels jsonb NOT NULL,
        quiet_from time,
        quiet_to time,
        timezone text NOT NULL,
        locale text NOT NULL,
        revision integer NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT notification_preferences_quiet_whole CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
    )
    """,
    # A PIN on its way: `due_at` is when the next channel is tried, NULL when nothing more is to be done. A PIN is over when it
    # was used or replaced; one that somebody else had delivered (deliver-notification) is of no order.
    """
    CREATE TABLE pin_watches (
        notification_id uuid PRIMARY KEY,
        order_id uuid,
        issue integer NOT NULL,
        channel text NOT NULL,
        due_at timestamptz,
        is_over boolean NOT NULL DEFAULT false
    )
    """,
    "CREATE INDEX pin_watches_due ON pin_watches (due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX pin_watches_of_order ON pin_watches (order_id)",
    # Who asked for a message to be sent again.
    """
    CREATE TABLE notification_resends (
        id uuid PRIMARY KEY,
        delivery_id uuid NOT NULL,
        log_id uuid NOT NULL,
        asked_by uuid NOT NULL,
        idempotency_key text,
        asked_at timestamptz NOT NULL,
        CONSTRAINT notification_resends_delivery FOREIGN KEY (delivery_id) REFERENCES notification_deliveries (id),
        CONSTRAINT notification_resends_once UNIQUE (asked_by, idempotency_key)
    )
    """,
    "CREATE INDEX notification_resends_of_delivery ON notification_resends (delivery_id)",
    # Not before: quiet hours, or a provider that rests.
    "ALTER TABLE notification_deliveries ADD COLUMN due_at timestamptz",
    "CREATE INDEX notification_deliveries_due ON notification_deliveries (due_at) WHERE due_at IS NOT NULL",
    # When the provider last told of the attempt, in its own time.
    "ALTER TABLE notification_delivery_logs ADD COLUMN told_at timestamptz",
    # A provider tells of a message by its own id of it.
    "CREATE INDEX notification_delivery_logs_told_of ON notification_delivery_logs (channel, provider_message_id) "
    "WHERE provider_message_id IS NOT NULL",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
    grant_api_v1("notifications", "user_devices", "SELECT, DELETE")
    op.execute("CREATE POLICY user_devices_of_their_user ON user_devices USING (user_id = app_user_id())")
    grant_api_v1("notifications", "notification_preferences", "SELECT, INSERT, UPDATE")
    op.execute(
        "CREATE POLICY notification_preferences_of_their_user ON notification_preferences USING (user_id = app_user_id())"
    )
    for table in ("pin_watches", "notification_resends"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.execute("DROP INDEX notification_delivery_logs_told_of")
    op.execute("ALTER TABLE notification_delivery_logs DROP COLUMN told_at")
    op.execute("DROP INDEX notification_deliveries_due")
    op.execute("ALTER TABLE notification_deliveries DROP COLUMN due_at")
    op.execute("DROP TABLE notification_resends, pin_watches, notification_preferences, user_devices")
