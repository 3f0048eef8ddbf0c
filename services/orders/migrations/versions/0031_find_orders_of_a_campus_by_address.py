"""Find the orders of a campus by the buyer's address."""

from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.execute(
        """
CREATE POLICY buyer_addresses_of_the_campus_admins_campus ON buyer_addresses FOR SELECT
    USING (
        (SELECT app_may('campus_orders:read'))
        AND EXISTS (
            SELECT FROM orders
            WHERE orders.buyer_id = buyer_addresses.user_id AND orders.campus_id = (SELECT app_campus_id())
        )
    )
"""
    )


def downgrade() -> None:
    op.execute("DROP POLICY buyer_addresses_of_the_campus_admins_campus ON buyer_addresses")
