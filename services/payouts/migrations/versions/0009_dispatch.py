"""A batch tells how many payouts it left waiting.

Revision ID: 0009
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE dispatch_batches ADD COLUMN remaining integer NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE dispatch_batches DROP COLUMN remaining")
