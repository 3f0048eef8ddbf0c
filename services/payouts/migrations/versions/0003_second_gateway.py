"""The gateway that takes an attempt; `paystack` for every attempt before."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE payout_transfers ADD COLUMN gateway text NOT NULL DEFAULT 'paystack'")
    # A held attempt, which was never sent, goes to the gateway of the dispatch that selects it again.
    op.execute("GRANT UPDATE (gateway) ON payout_transfers TO campus_payouts_service")


def downgrade() -> None:
    """Fails while an attempt is at the second gateway, which would be taken for the first one's."""
    op.execute("ALTER TABLE payout_transfers ADD CONSTRAINT of_the_first_gateway CHECK (gateway = 'paystack')")
    op.execute("ALTER TABLE payout_transfers DROP COLUMN gateway")
