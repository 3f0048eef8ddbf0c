"""Pay from the balance of a buyer: holds, the part of each order, and refunds to it."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_REFUSE_ABOVE_CHARGE = """
CREATE OR REPLACE FUNCTION escrows_refuse_above_charge() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF (SELECT sum({held}) FROM escrows WHERE charge_id = NEW.charge_id)
        > (SELECT amount_minor - coalesce(surcharge_minor, 0) FROM charges WHERE id = NEW.charge_id) THEN
        RAISE EXCEPTION 'the escrows of charge % exceed what it took', NEW.charge_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$
"""
_PARTS = "least(amount_minor, balance_minor) >= 0 AND amount_minor + balance_minor > 0"
_ESCROW_COLUMNS = ("balance_minor", "rewards_minor", "balance_refunded_minor", "rewards_refunded_minor")


def upgrade() -> None:
    zero = {"nullable": False, "server_default": sa.text("0")}
    op.add_column("payment_intents", sa.Column("balance_minor", sa.BigInteger(), **zero))
    op.create_table(
        "balance_holds",
        sa.Column("intent_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("rewards_minor", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("hold_count", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint("status IN ('held', 'spent', 'returned')", name="balance_holds_status_known"),
        sa.CheckConstraint(
            "amount_minor > 0 AND rewards_minor BETWEEN 0 AND amount_minor", name="balance_holds_rewards_within_amount"
        ),
        sa.ForeignKeyConstraint(["intent_id"], ["payment_intents.id"], name="balance_holds_intent"),
        sa.ForeignKeyConstraint(["user_id"], ["buyer_balances.user_id"], name="balance_holds_balance"),
        sa.PrimaryKeyConstraint("intent_id"),
    )
    op.create_index(
        "balance_holds_of_user",
        "balance_holds",
        ["user_id"],
        unique=False,
        postgresql_where=sa.text("status = 'held'"),
        if_not_exists=True,
    )
    op.execute("ALTER TABLE balance_holds ENABLE ROW LEVEL SECURITY")
    op.execute("REVOKE DELETE ON balance_holds FROM campus_payments_service")
    for name in _ESCROW_COLUMNS:
        op.add_column("escrows", sa.Column(name, sa.BigInteger(), **zero))
    op.alter_column("escrows", "charge_id", nullable=True)
    op.execute("GRANT UPDATE (balance_refunded_minor, rewards_refunded_minor) ON escrows TO campus_payments_service")
    op.execute(_REFUSE_ABOVE_CHARGE.format(held="held_minor - balance_minor"))
    op.add_column("refunds", sa.Column("balance_minor", sa.BigInteger(), **zero))
    op.alter_column("refunds", "charge_id", nullable=True)
    op.execute("GRANT SELECT (balance_minor) ON refunds TO campus_payments_api")
    op.execute("GRANT UPDATE (balance_minor) ON refunds TO campus_payments_service")
    op.execute("ALTER TABLE refunds DROP CONSTRAINT refunds_amount_above_zero")
    op.execute(f"ALTER TABLE refunds ADD CONSTRAINT refunds_parts_above_zero CHECK ({_PARTS}) NOT VALID")
    # Every row has met the stricter constraint until now.
    op.execute("ALTER TABLE refunds VALIDATE CONSTRAINT refunds_parts_above_zero")


def downgrade() -> None:
    op.execute("ALTER TABLE refunds DROP CONSTRAINT refunds_parts_above_zero")
    op.execute("ALTER TABLE refunds ADD CONSTRAINT refunds_amount_above_zero CHECK (amount_minor > 0) NOT VALID")
    op.execute("ALTER TABLE refunds VALIDATE CONSTRAINT refunds_amount_above_zero")
    op.alter_column("refunds", "charge_id", nullable=False)
    op.drop_column("refunds", "balance_minor")
    op.execute(_REFUSE_ABOVE_CHARGE.format(held="held_minor"))
    op.alter_column("escrows", "charge_id", nullable=False)
    for name in _ESCROW_COLUMNS:
        op.drop_column("escrows", name)
    op.drop_column("payment_intents", "balance_minor")
    op.drop_index("balance_holds_of_user", table_name="balance_holds")
    op.drop_table("balance_holds")
