"""Show finance the orders with a charge, paid or quarantined (contract section 6.7)."""

from typing import Final

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    "ALTER TABLE orders ADD COLUMN charge_quarantined_at timestamptz",
    # Payments reports an escrow with its first charge.
    """
    CREATE POLICY orders_with_a_charge ON orders FOR SELECT
    USING ((SELECT app_may('charged_orders:read')) AND (escrow_sequence > 0 OR charge_quarantined_at IS NOT NULL))
    """,
    """
    CREATE POLICY order_items_with_a_charge ON order_items FOR SELECT
    USING ((SELECT app_may('charged_orders:read')) AND EXISTS (SELECT FROM orders WHERE orders.id = order_items.order_id))
    """,
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP POLICY order_items_with_a_charge ON order_items")
    op.execute("DROP POLICY orders_with_a_charge ON orders")
    op.execute("ALTER TABLE orders DROP COLUMN charge_quarantined_at")
