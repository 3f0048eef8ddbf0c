"""Add the balances of buyers. The worker moves the rewards of earlier versions to them (decision 143)."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


_RIGHTS = (
    "ALTER TABLE buyer_balances ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON buyer_balances TO campus_payments_api",
    "REVOKE DELETE ON buyer_balances FROM campus_payments_service",
    "CREATE POLICY buyer_balances_own ON buyer_balances FOR SELECT USING (user_id = app_user_id())",
    "ALTER TABLE balance_lines ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON balance_lines TO campus_payments_api",
    "REVOKE UPDATE, DELETE ON balance_lines FROM campus_payments_service",
    "CREATE POLICY balance_lines_own ON balance_lines FOR SELECT USING (user_id = app_user_id())",
)


def upgrade() -> None:
    op.create_table(
        "buyer_balances",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("rewards_minor", sa.BigInteger(), nullable=False),
        sa.Column("refunds_minor", sa.BigInteger(), nullable=False),
        sa.Column("held_minor", sa.BigInteger(), nullable=False),
        sa.Column("line_count", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "least(rewards_minor, refunds_minor, held_minor) >= 0", name="buyer_balances_never_negative"
        ),
        sa.PrimaryKeyConstraint("user_id"),
    )
    op.create_table(
        "balance_lines",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("order_id", sa.Uuid(), nullable=True),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("rewards_minor", sa.BigInteger(), nullable=False),
        sa.Column("balance_minor", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint(
            "kind IN ('reward', 'refund', 'spent', 'returned', 'withdrawn')", name="balance_lines_kind_known"
        ),
        sa.CheckConstraint(
            "amount_minor <> 0 AND (amount_minor < 0) = (kind IN ('spent', 'withdrawn'))",
            name="balance_lines_sign_of_kind",
        ),
        sa.CheckConstraint("balance_minor >= 0", name="balance_lines_balance_never_negative"),
        sa.ForeignKeyConstraint(["user_id"], ["buyer_balances.user_id"], name="balance_lines_balance"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "sequence", name="balance_lines_sequence_once"),
    )
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("balance_lines")
    op.drop_table("buyer_balances")
