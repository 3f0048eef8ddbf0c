"""What is under way of a vendor is found by the vendor, before its owner is erased.

Revision ID: 0008
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX payable_orders_of_vendor ON payable_orders (vendor_id)")


def downgrade() -> None:
    op.execute("DROP INDEX payable_orders_of_vendor")
