"""An order whose payment is in quarantine is remembered, so that nobody is told that they did not pay.

Revision ID: 0014
"""

from alembic import op

revision = "0014"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE order_summaries ADD COLUMN payment_under_review boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    op.execute("ALTER TABLE order_summaries DROP COLUMN payment_under_review")
