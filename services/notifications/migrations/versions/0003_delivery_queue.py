"""The table of deliveries is their queue (decision 49); feeds remember whether they are streamed."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE notification_deliveries ADD COLUMN is_urgent boolean NOT NULL DEFAULT false")
    op.execute("ALTER TABLE notification_deliveries ADD COLUMN traceparent text")
    op.execute(
        """
        CREATE INDEX IF NOT EXISTS notification_deliveries_queue
        ON notification_deliveries (channel, is_urgent DESC, due_at) WHERE due_at IS NOT NULL
        """
    )
    op.execute("ALTER TABLE feeds ADD COLUMN streamed_until timestamptz")


def downgrade() -> None:
    # The work items of the release before are gone: its timer enqueues every delivery that is due.
    op.execute("ALTER TABLE feeds DROP COLUMN streamed_until")
    op.execute("DROP INDEX notification_deliveries_queue")
    op.execute("ALTER TABLE notification_deliveries DROP COLUMN traceparent")
    op.execute("ALTER TABLE notification_deliveries DROP COLUMN is_urgent")
