"""The idempotency key of a payout request, which a repeated request finds.

Requests of earlier releases and of schedules have none.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE payout_requests ADD COLUMN idempotency_key uuid")
    # Where the table is large, create the index with CONCURRENTLY before the release: then this finds it.
    op.execute(
        "CREATE UNIQUE INDEX IF NOT EXISTS payout_requests_key_once ON payout_requests (requested_by, idempotency_key) "
        "WHERE idempotency_key IS NOT NULL"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE payout_requests DROP COLUMN idempotency_key")
