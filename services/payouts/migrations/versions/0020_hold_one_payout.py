"""Hold one payout."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "payout_holds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("payout_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("held_by", sa.Uuid(), nullable=False),
        sa.Column("held_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("released_by", sa.Uuid(), nullable=True),
        sa.Column("released_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("release_reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "num_nonnulls(released_by, released_at, release_reason) = CASE status WHEN 'released' THEN 3 ELSE 0 END",
            name="payout_holds_release_says_who",
        ),
        sa.CheckConstraint("status IN ('held', 'released')", name="payout_holds_status_known"),
        sa.ForeignKeyConstraint(["payout_id"], ["payout_requests.id"], name="payout_holds_payout"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "payout_holds_of_payout", "payout_holds", ["payout_id", "held_at"], unique=False, if_not_exists=True
    )
    op.create_index(
        "payout_holds_one_live",
        "payout_holds",
        ["payout_id"],
        unique=True,
        postgresql_where=sa.text("status = 'held'"),
        if_not_exists=True,
    )
    op.execute("ALTER TABLE payout_holds ENABLE ROW LEVEL SECURITY")
    op.execute("GRANT SELECT ON payout_holds TO campus_payouts_api")
    op.execute("REVOKE ALL ON payout_holds FROM campus_payouts_service")
    op.execute(
        "GRANT SELECT, INSERT, UPDATE (status, released_by, released_at, release_reason) ON payout_holds "
        "TO campus_payouts_service"
    )
    op.execute(
        "CREATE POLICY payout_holds_select ON payout_holds FOR SELECT TO campus_payouts_api "
        "USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'))"
    )


def downgrade() -> None:
    op.drop_index("payout_holds_one_live", table_name="payout_holds", postgresql_where=sa.text("status = 'held'"))
    op.drop_index("payout_holds_of_payout", table_name="payout_holds")
    op.drop_table("payout_holds")
