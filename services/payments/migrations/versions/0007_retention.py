"""What is too old to be needed leaves by jobs, which find it by these.

Revision ID: 0007
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Without the outcome: a webhook that is done changes its row only, and no index.
    op.execute("CREATE INDEX processed_webhook_events_oldest ON processed_webhook_events (processed_at)")
    op.execute("CREATE INDEX dead_letter_webhooks_of_webhook ON dead_letter_webhooks (webhook_id)")


def downgrade() -> None:
    op.execute("DROP INDEX processed_webhook_events_oldest, dead_letter_webhooks_of_webhook")
