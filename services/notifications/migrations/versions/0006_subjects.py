"""The subject of each notification. Null: recorded by an earlier version."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE notifications ADD COLUMN subject jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE notifications DROP COLUMN subject")
