"""Add purchases."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_RIGHTS = (
    "ALTER TABLE purchases ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT ON purchases TO campus_orders_api",
    "REVOKE UPDATE, DELETE ON purchases FROM campus_orders_service",
    "CREATE POLICY purchases_of_their_buyer ON purchases FOR SELECT "
    "USING (buyer_id = (SELECT app_user_id()) OR (SELECT app_may('orders:read')))",
    "CREATE POLICY purchases_placed_by_their_buyer ON purchases FOR INSERT "
    "WITH CHECK (buyer_id = app_user_id() AND app_may('orders:place'))",
)


def upgrade() -> None:
    op.create_table(
        "purchases",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Text(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("idempotency_key", sa.Uuid(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint(
            "number ~ '^CP-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'", name="purchases_number_in_base_32"
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("buyer_id", "idempotency_key", name="purchases_idempotency_key_once_per_buyer"),
        sa.UniqueConstraint("number", name="purchases_number_once"),
    )
    op.create_index("purchases_newest", "purchases", ["created_at", "id"], unique=False, if_not_exists=True)
    op.create_index(
        "purchases_newest_of_buyer", "purchases", ["buyer_id", "created_at", "id"], unique=False, if_not_exists=True
    )
    op.add_column("orders", sa.Column("purchase_id", sa.Uuid(), nullable=True))
    op.create_index(
        "orders_of_purchase",
        "orders",
        ["purchase_id", "id"],
        unique=False,
        postgresql_where=sa.text("purchase_id IS NOT NULL"),
        if_not_exists=True,
    )
    op.create_foreign_key("orders_purchase", "orders", "purchases", ["purchase_id"], ["id"], postgresql_not_valid=True)
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_constraint("orders_purchase", "orders", type_="foreignkey")
    op.drop_index("orders_of_purchase", table_name="orders", postgresql_where=sa.text("purchase_id IS NOT NULL"))
    op.drop_column("orders", "purchase_id")
    op.drop_index("purchases_newest_of_buyer", table_name="purchases")
    op.drop_index("purchases_newest", table_name="purchases")
    op.drop_table("purchases")
