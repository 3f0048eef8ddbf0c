"""Give goodwill refunds."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.create_table(
        "goodwill_refunds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("order_id", sa.Uuid(), nullable=False),
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("prepared_by", sa.Uuid(), nullable=False),
        sa.Column("prepared_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("rejection", sa.Text(), nullable=True),
        sa.CheckConstraint("decided_by <> prepared_by", name="goodwill_refunds_by_two"),
        sa.CheckConstraint("amount_minor > 0", name="goodwill_refunds_amount_above_zero"),
        sa.CheckConstraint(
            "(status = 'prepared') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)",
            name="goodwill_refunds_decided_once",
        ),
        sa.CheckConstraint("status IN ('prepared', 'approved', 'rejected')", name="goodwill_refunds_status_known"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "goodwill_refunds_decided_by",
        "goodwill_refunds",
        ["decided_by"],
        if_not_exists=True,
        postgresql_where=sa.text("decided_by IS NOT NULL"),
    )
    op.create_index("goodwill_refunds_newest", "goodwill_refunds", ["prepared_at", "id"], if_not_exists=True)
    op.create_index("goodwill_refunds_of_buyer", "goodwill_refunds", ["buyer_id"], if_not_exists=True)
    op.create_index("goodwill_refunds_of_order", "goodwill_refunds", ["order_id"], if_not_exists=True)
    op.create_index(
        "goodwill_refunds_one_prepared",
        "goodwill_refunds",
        ["order_id"],
        unique=True,
        if_not_exists=True,
        postgresql_where=sa.text("status = 'prepared'"),
    )
    op.create_index("goodwill_refunds_prepared_by", "goodwill_refunds", ["prepared_by"], if_not_exists=True)
    op.execute("ALTER TABLE goodwill_refunds ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON goodwill_refunds TO campus_payments_api")
    op.execute("REVOKE UPDATE, DELETE ON goodwill_refunds FROM campus_payments_service")
    op.execute(
        "GRANT UPDATE (reason, status, decided_by, decided_at, rejection) ON goodwill_refunds "
        "TO campus_payments_service"
    )
    op.execute("""
        CREATE POLICY goodwill_refunds_visible ON goodwill_refunds FOR SELECT
            USING (app_may('ledger:read') OR app_may('goodwill:prepare') OR app_may('goodwill:approve'))
    """)


def downgrade() -> None:
    op.drop_table("goodwill_refunds")
