"""The alerts of one key, open and closed, are found by it.

Revision ID: 0007
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX alerts_of_key ON alerts (dedup_key, closed_at)")


def downgrade() -> None:
    op.execute("DROP INDEX alerts_of_key")
