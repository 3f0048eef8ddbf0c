"""What is too old to be needed leaves by jobs. Sessions are looked through from their old end.

Revision ID: 0008
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX sessions_oldest ON sessions (signed_in_at)")


def downgrade() -> None:
    op.execute("DROP INDEX sessions_oldest")
