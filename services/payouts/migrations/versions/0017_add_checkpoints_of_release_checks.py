"""Add checkpoints of release checks."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "release_checkpoints",
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("last_line", sa.BigInteger(), nullable=False),
        sa.Column("last_received", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("received_minor", sa.BigInteger(), nullable=False),
        sa.Column("paid_minor", sa.BigInteger(), nullable=False),
        sa.Column("authenticator", sa.Text(), nullable=False),
        sa.Column("saved_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint("last_received BETWEEN 0 AND last_line", name="release_checkpoints_received_by_last_line"),
        sa.CheckConstraint("sequence >= 1", name="release_checkpoints_name_a_statement"),
        sa.PrimaryKeyConstraint("vendor_id"),
    )
    op.create_index(
        "payout_requests_pending_of_vendor",
        "payout_requests",
        ["vendor_id"],
        unique=False,
        postgresql_where=sa.text("status = 'pending'"),
        if_not_exists=True,
    )
    op.create_index(
        "wallet_lines_of_payout",
        "wallet_lines",
        ["payout_id"],
        unique=False,
        postgresql_where=sa.text("payout_id IS NOT NULL"),
        if_not_exists=True,
    )


def downgrade() -> None:
    op.drop_index(
        "wallet_lines_of_payout", table_name="wallet_lines", postgresql_where=sa.text("payout_id IS NOT NULL")
    )
    op.drop_index(
        "payout_requests_pending_of_vendor",
        table_name="payout_requests",
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.drop_table("release_checkpoints")
