"""Open alerts that the service clears by itself: of a key that a gateway rejects.

Only an addition: a new table.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE TABLE standing_alerts (dedup_key text PRIMARY KEY, raised_at timestamptz NOT NULL)")
    op.execute("GRANT SELECT, INSERT, DELETE ON standing_alerts TO campus_payments_service")


def downgrade() -> None:
    op.execute("DROP TABLE standing_alerts")
