"""A transfer that the bank pays and returns again is recovered and returned again (contract section 8)."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE INDEX IF NOT EXISTS wallet_lines_recoveries ON wallet_lines (payout_id) "
        "WHERE kind IN ('recovery', 'recovery_returned')"
    )


def downgrade() -> None:
    op.execute("DROP INDEX wallet_lines_recoveries")
