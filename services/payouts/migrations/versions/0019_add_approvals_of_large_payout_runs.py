"""Add approvals of large payout runs."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "dispatch_approvals",
        sa.Column("batch_id", sa.Uuid(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("prepared_by", sa.Uuid(), nullable=False),
        sa.Column("prepared_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("rejection", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)",
            name="dispatch_approvals_decided_says_who",
        ),
        sa.CheckConstraint(
            "(status = 'rejected') = (rejection IS NOT NULL)", name="dispatch_approvals_rejected_says_why"
        ),
        sa.CheckConstraint("hash ~ '^[0-9a-f]{64}$'", name="dispatch_approvals_hash_shape"),
        sa.CheckConstraint(
            "status IN ('prepared', 'approved', 'rejected', 'overtaken')", name="dispatch_approvals_status_known"
        ),
        sa.CheckConstraint("decided_by <> prepared_by", name="dispatch_approvals_decided_by_another"),
        sa.ForeignKeyConstraint(["batch_id"], ["dispatch_batches.id"], name="dispatch_approvals_batch"),
        sa.PrimaryKeyConstraint("batch_id"),
    )
    op.execute("ALTER TABLE dispatch_approvals ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON dispatch_approvals TO campus_payouts_api")
    op.execute("REVOKE ALL ON dispatch_approvals FROM campus_payouts_service")
    op.execute(
        "GRANT SELECT, INSERT, UPDATE (status, decided_by, decided_at, rejection) ON dispatch_approvals "
        "TO campus_payouts_service"
    )
    op.execute(
        "CREATE POLICY dispatch_approvals_select ON dispatch_approvals FOR SELECT TO campus_payouts_api "
        "USING (app_may('payouts:read'))"
    )


def downgrade() -> None:
    op.drop_table("dispatch_approvals")
