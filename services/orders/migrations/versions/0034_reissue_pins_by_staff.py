"""Reissue pins by staff."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.create_table(
        "pin_reissues",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("order_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("prepared_by", sa.Uuid(), nullable=False),
        sa.Column("prepared_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("rejection", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint("decided_by <> prepared_by", name="pin_reissues_by_two"),
        sa.CheckConstraint(
            "(status IN ('prepared', 'expired')) = (decided_by IS NULL) "
            "AND (decided_by IS NULL) = (decided_at IS NULL)",
            name="pin_reissues_decided_once",
        ),
        sa.CheckConstraint(
            "status IN ('prepared', 'approved', 'rejected', 'expired')", name="pin_reissues_status_known"
        ),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"], name="pin_reissues_order"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "pin_reissues_decided_by",
        "pin_reissues",
        ["decided_by"],
        if_not_exists=True,
        postgresql_where=sa.text("decided_by IS NOT NULL"),
    )
    op.create_index("pin_reissues_newest", "pin_reissues", ["prepared_at", "id"], if_not_exists=True)
    op.create_index("pin_reissues_of_order", "pin_reissues", ["order_id"], if_not_exists=True)
    op.create_index(
        "pin_reissues_one_prepared",
        "pin_reissues",
        ["order_id"],
        unique=True,
        if_not_exists=True,
        postgresql_where=sa.text("status = 'prepared'"),
    )
    op.create_index("pin_reissues_prepared_by", "pin_reissues", ["prepared_by"], if_not_exists=True)
    op.execute("ALTER TABLE pin_reissues ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON pin_reissues TO campus_orders_api")
    op.execute("REVOKE UPDATE, DELETE ON pin_reissues FROM campus_orders_service")
    op.execute(
        "GRANT UPDATE (reason, status, decided_by, decided_at, rejection) ON pin_reissues TO campus_orders_service"
    )
    op.execute("""
        CREATE POLICY pin_reissues_of_staff ON pin_reissues FOR SELECT
            USING (app_may('pin_reissues:prepare') OR app_may('pin_reissues:approve') OR app_may('orders:read'))
    """)
    op.execute("""
        ALTER TABLE delivery_pins ADD CONSTRAINT delivery_pins_issue_1_to_10
            CHECK (issue BETWEEN 1 AND 10) NOT VALID
    """)
    op.execute("ALTER TABLE delivery_pins DROP CONSTRAINT delivery_pins_issue_1_to_4")


def downgrade() -> None:
    op.execute("ALTER TABLE delivery_pins ADD CONSTRAINT delivery_pins_issue_1_to_4 CHECK (issue BETWEEN 1 AND 4)")
    op.execute("ALTER TABLE delivery_pins DROP CONSTRAINT delivery_pins_issue_1_to_10")
    op.drop_table("pin_reissues")
