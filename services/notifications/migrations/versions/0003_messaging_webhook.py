"""What the messaging app sends us: the bodies as they came, and each message and status in them once.

Revision ID: 0003
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_STATEMENTS = (
    # The specification's deduplication table, with the outcome and the bytes as they came. The app gives a body no id: its key is
    # the SHA-256 of the bytes.
    """
    CREATE TABLE processed_webhook_events (
        id text PRIMARY KEY,
        provider text NOT NULL,
        event_type text NOT NULL,
        payload jsonb NOT NULL,
        raw bytea NOT NULL,
        outcome text NOT NULL,
        processed_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT processed_webhook_events_outcome_known CHECK (outcome IN ('queued', 'done', 'ignored', 'dead'))
    )
    """,
    # One message, or one status of a message, whatever bodies it came in. `content` is emptied when it has had its effect.
    """
    CREATE TABLE messaging_items (
        id text PRIMARY KEY,
        webhook_id text NOT NULL,
        kind text NOT NULL,
        content jsonb NOT NULL,
        outcome text NOT NULL,
        ticket_id uuid,
        received_at timestamptz NOT NULL,
        CONSTRAINT messaging_items_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id),
        CONSTRAINT messaging_items_kind_known CHECK (kind IN ('message', 'status')),
        CONSTRAINT messaging_items_outcome_known CHECK (outcome IN ('queued', 'done', 'ignored', 'dead'))
    )
    """,
    "CREATE INDEX messaging_items_of_webhook ON messaging_items (webhook_id)",
    "CREATE INDEX messaging_items_of_ticket ON messaging_items (ticket_id) WHERE ticket_id IS NOT NULL",
    # Whose telephone a message came from.
    "CREATE INDEX contacts_of_phone ON contacts (phone) WHERE phone IS NOT NULL",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
    for table in ("processed_webhook_events", "messaging_items"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


def downgrade() -> None:
    op.execute("DROP INDEX contacts_of_phone")
    op.execute("DROP TABLE messaging_items, processed_webhook_events")
