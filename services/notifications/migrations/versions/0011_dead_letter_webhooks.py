"""Dead webhooks of the messaging app (contract section 7.8). Read and written by the service only: payloads are messages
of customers.
"""

from typing import Final

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    """
    CREATE TABLE dead_letter_webhooks (
        id uuid CONSTRAINT dead_letter_webhooks_pkey PRIMARY KEY,
        event_id text NOT NULL,
        event_type text NOT NULL,
        provider text NOT NULL,
        payload jsonb NOT NULL,
        error text NOT NULL,
        attempts integer NOT NULL,
        failed_at timestamptz NOT NULL DEFAULT now(),
        replayed_at timestamptz,
        CONSTRAINT dead_letter_webhooks_provider_known CHECK (provider = 'messaging_app')
    )
    """,
    "CREATE INDEX dead_letter_webhooks_newest ON dead_letter_webhooks (failed_at, id)",
    "CREATE INDEX dead_letter_webhooks_of_event ON dead_letter_webhooks (event_id)",
    "ALTER TABLE dead_letter_webhooks ENABLE ROW LEVEL SECURITY",
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE dead_letter_webhooks")
