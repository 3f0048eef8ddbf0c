"""What is too old to be needed leaves by jobs: the delivery PINs of orders whose money is where it belongs.

Revision ID: 0008
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX delivery_pins_oldest ON delivery_pins (issued_at)")


def downgrade() -> None:
    op.execute("DROP INDEX delivery_pins_oldest")
