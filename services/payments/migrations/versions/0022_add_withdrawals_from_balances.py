"""Add the withdrawals of refunded money from balances, their decisions, and the quarantined accounts they refuse."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_RIGHTS = (
    "ALTER TABLE withdrawals ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON withdrawals TO campus_payments_api",
    "REVOKE UPDATE, DELETE ON withdrawals FROM campus_payments_service",
    "GRANT UPDATE (rewards_minor, loss_minor, round, status, recipient_code, account_last4, bank_code, account_name, "
    "failure, submitted_at, paid_at, ended_at, due_at, poll_count, transfer_fee_minor) ON withdrawals "
    "TO campus_payments_service",
    "CREATE POLICY withdrawals_visible ON withdrawals FOR SELECT USING (user_id = app_user_id() "
    "OR app_may('ledger:read') OR app_may('refunds:prepare') OR app_may('refunds:approve'))",
    "ALTER TABLE withdrawal_decisions ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON withdrawal_decisions TO campus_payments_api",
    "REVOKE UPDATE, DELETE ON withdrawal_decisions FROM campus_payments_service",
    "GRANT UPDATE (reason, status, decided_by, decided_at, rejection) ON withdrawal_decisions "
    "TO campus_payments_service",
    "CREATE POLICY withdrawal_decisions_visible ON withdrawal_decisions FOR SELECT USING (app_may('ledger:read') "
    "OR app_may('refunds:prepare') OR app_may('refunds:approve'))",
    "ALTER TABLE quarantined_accounts ENABLE ROW LEVEL SECURITY",
)


def upgrade() -> None:
    zero = {"nullable": False, "server_default": sa.text("0")}
    op.create_table(
        "withdrawals",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("rewards_minor", sa.BigInteger(), **zero),
        sa.Column("loss_minor", sa.BigInteger(), **zero),
        sa.Column("round", sa.Integer(), nullable=False, server_default=sa.text("1")),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("gateway", sa.Text(), nullable=False),
        sa.Column("recipient_code", sa.Text(), nullable=False),
        sa.Column("account_last4", sa.Text(), nullable=False),
        sa.Column("bank_code", sa.Text(), nullable=False),
        sa.Column("account_name", sa.Text(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("submitted_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("paid_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("ended_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("due_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("poll_count", sa.Integer(), **zero),
        sa.Column("transfer_fee_minor", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('waiting', 'prepared', 'pending', 'submitting', 'submitted', 'paid', 'failed', 'rejected')",
            name="withdrawals_status_known",
        ),
        sa.CheckConstraint(
            "amount_minor > 0 AND least(rewards_minor, loss_minor) >= 0 AND rewards_minor + loss_minor <= amount_minor",
            name="withdrawals_parts_within_amount",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["buyer_balances.user_id"], name="withdrawals_balance"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("withdrawals_of_user", "withdrawals", ["user_id", "created_at", "id"])
    op.create_index("withdrawals_newest", "withdrawals", ["created_at", "id"])
    op.create_index("withdrawals_due", "withdrawals", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL"))
    op.create_index(
        "withdrawals_undecided",
        "withdrawals",
        ["created_at", "id"],
        postgresql_where=sa.text("status IN ('waiting', 'prepared')"),
    )
    op.create_table(
        "withdrawal_decisions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("withdrawal_id", sa.Uuid(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("prepared_by", sa.Uuid(), nullable=False),
        sa.Column("prepared_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("rejection", sa.Text(), nullable=True),
        sa.CheckConstraint("decided_by <> prepared_by", name="withdrawal_decisions_by_two"),
        sa.CheckConstraint(
            "(status = 'prepared') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)",
            name="withdrawal_decisions_decided_once",
        ),
        sa.CheckConstraint("outcome IN ('pay', 'return')", name="withdrawal_decisions_outcome_known"),
        sa.CheckConstraint("status IN ('prepared', 'approved', 'rejected')", name="withdrawal_decisions_status_known"),
        sa.ForeignKeyConstraint(["withdrawal_id"], ["withdrawals.id"], name="withdrawal_decisions_withdrawal"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "withdrawal_decisions_one_stands",
        "withdrawal_decisions",
        ["withdrawal_id"],
        unique=True,
        postgresql_where=sa.text("status <> 'rejected'"),
    )
    op.create_index("withdrawal_decisions_of_withdrawal", "withdrawal_decisions", ["withdrawal_id", "prepared_at"])
    op.create_table(
        "quarantined_accounts",
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("bank_code", sa.Text(), nullable=False),
        sa.Column("account_last4", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("vendor_id", "bank_code", "account_last4"),
    )
    op.create_index("quarantined_accounts_of_number", "quarantined_accounts", ["bank_code", "account_last4"])
    for statement in _RIGHTS:
        op.execute(statement)


def downgrade() -> None:
    for table in ("quarantined_accounts", "withdrawal_decisions", "withdrawals"):
        op.drop_table(table)
