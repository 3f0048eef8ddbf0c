"""The number of each payout for people (contract section 1.7)."""

from alembic import op

from common.migrations.functions import number_rows_v1

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    number_rows_v1("payouts", "payout_requests", "payout", "PO")


def downgrade() -> None:
    op.execute("ALTER TABLE payout_requests DROP COLUMN number")
    op.execute("DROP FUNCTION new_payout_number")
