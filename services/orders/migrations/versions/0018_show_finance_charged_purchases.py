"""Show finance the purchases that have a charged order."""

from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.execute(
        "CREATE POLICY purchases_with_a_charge ON purchases FOR SELECT USING ((SELECT app_may('charged_orders:read')) "
        "AND EXISTS (SELECT FROM orders WHERE orders.purchase_id = purchases.id))"
    )


def downgrade() -> None:
    op.execute("DROP POLICY purchases_with_a_charge ON purchases")
