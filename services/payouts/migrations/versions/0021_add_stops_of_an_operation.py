"""Add stops of an operation."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "operation_stops",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("stopped_by", sa.Uuid(), nullable=False),
        sa.Column("stopped_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("lifted_by", sa.Uuid(), nullable=True),
        sa.Column("lifted_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("lift_reason", sa.Text(), nullable=True),
        sa.CheckConstraint("expires_at > stopped_at", name="operation_stops_expires_later"),
        sa.CheckConstraint(
            "num_nonnulls(lifted_by, lifted_at, lift_reason) IN (0, 3)", name="operation_stops_lifted_by"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("operation_stops_newest", "operation_stops", ["stopped_at"], unique=False, if_not_exists=True)
    op.execute("ALTER TABLE operation_stops ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT (message, expires_at, lifted_at) ON operation_stops TO campus_payouts_api")
    op.execute("REVOKE ALL ON operation_stops FROM campus_payouts_service")
    op.execute(
        "GRANT SELECT, INSERT, UPDATE (lifted_by, lifted_at, lift_reason) ON operation_stops TO campus_payouts_service"
    )
    op.execute("CREATE POLICY operation_stops_known ON operation_stops FOR SELECT USING (true)")


def downgrade() -> None:
    op.drop_index("operation_stops_newest", table_name="operation_stops")
    op.drop_table("operation_stops")
