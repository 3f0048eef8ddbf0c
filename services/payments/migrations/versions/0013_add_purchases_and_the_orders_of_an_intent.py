"""Add purchases and the orders of an intent."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


_RIGHTS = (
    "ALTER TABLE purchases ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON purchases TO campus_payments_api",
    "REVOKE UPDATE, DELETE ON purchases FROM campus_payments_service",
    """CREATE POLICY purchases_visible ON purchases FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'))""",
    "ALTER TABLE purchase_orders ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON purchase_orders TO campus_payments_api",
    "REVOKE UPDATE, DELETE ON purchase_orders FROM campus_payments_service",
    """CREATE POLICY purchase_orders_visible ON purchase_orders FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'))""",
    "ALTER TABLE intent_orders ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT ON intent_orders TO campus_payments_api",
    "REVOKE UPDATE, DELETE ON intent_orders FROM campus_payments_service",
    """CREATE POLICY intent_orders_visible ON intent_orders FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'))""",
    "CREATE POLICY intent_orders_written ON intent_orders FOR INSERT WITH CHECK (buyer_id = app_user_id())",
)


def upgrade() -> None:
    op.add_column("payment_intents", sa.Column("purchase_id", sa.Uuid(), nullable=True))
    op.create_table(
        "purchases",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Text(), nullable=False),
        sa.Column("heard_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("purchases_of_buyer", "purchases", ["buyer_id"], unique=False, if_not_exists=True)
    op.create_table(
        "purchase_orders",
        sa.Column("purchase_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.Uuid(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("position >= 0", name="purchase_orders_position_from_zero"),
        sa.ForeignKeyConstraint(["purchase_id"], ["purchases.id"], name="purchase_orders_purchase"),
        sa.PrimaryKeyConstraint("purchase_id", "position"),
        sa.UniqueConstraint("order_id", name="purchase_orders_order_once"),
    )
    op.create_table(
        "intent_orders",
        sa.Column("intent_id", sa.Uuid(), nullable=False),
        sa.Column("order_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("amount_minor > 0", name="intent_orders_amount_above_zero"),
        sa.ForeignKeyConstraint(["intent_id"], ["payment_intents.id"], name="intent_orders_intent"),
        sa.ForeignKeyConstraint(["order_id"], ["purchase_orders.order_id"], name="intent_orders_order"),
        sa.PrimaryKeyConstraint("intent_id", "order_id"),
    )
    op.create_index("intent_orders_of_order", "intent_orders", ["order_id"], unique=False, if_not_exists=True)
    op.add_column("payable_orders", sa.Column("purchase_id", sa.Uuid(), nullable=True))
    op.create_index(
        "payment_intents_of_purchase",
        "payment_intents",
        ["purchase_id"],
        unique=False,
        postgresql_where=sa.text("purchase_id IS NOT NULL"),
        if_not_exists=True,
    )
    op.create_index("escrows_of_charge", "escrows", ["charge_id"], unique=False, if_not_exists=True)
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_index("escrows_of_charge", table_name="escrows")
    op.drop_index("payment_intents_of_purchase", table_name="payment_intents")
    op.drop_column("payment_intents", "purchase_id")
    op.drop_column("payable_orders", "purchase_id")
    op.drop_index("intent_orders_of_order", table_name="intent_orders")
    op.drop_table("intent_orders")
    op.drop_table("purchase_orders")
    op.drop_index("purchases_of_buyer", table_name="purchases")
    op.drop_table("purchases")
