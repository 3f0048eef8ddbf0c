"""What is too old to be needed leaves by jobs: the periods in which a schedule asked for no payout.

Revision ID: 0010
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX scheduled_payouts_skipped ON scheduled_payouts (decided_at) WHERE outcome = 'skipped'")


def downgrade() -> None:
    op.execute("DROP INDEX scheduled_payouts_skipped")
