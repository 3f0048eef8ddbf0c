"""Withdrawals of refunded money from balances to bank accounts, and the decisions about the large ones."""

import sqlalchemy as sa

from common.database.tables import decided_by_two, known
from common.primitives.decisions import StaffDecisionStatus
from payments.domain.transitions import WithdrawalStatus
from payments.domain.withdrawals import WithdrawalOutcome
from payments.tables.metadata import INSTANT, metadata, required

# The gateway alone keeps the full account number. `rewards_minor` and `loss_minor` are parts of the amount, above zero
# only after a payment of a failed withdrawal, whose money was returned before (`round`).
sa.Table(
    "withdrawals",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("user_id", sa.Uuid, sa.ForeignKey("buyer_balances.user_id", name="withdrawals_balance")),
    required("amount_minor", sa.BigInteger),
    required("rewards_minor", sa.BigInteger, server_default=sa.text("0")),
    required("loss_minor", sa.BigInteger, server_default=sa.text("0")),
    required("round", sa.Integer, server_default=sa.text("1")),
    required("status", sa.Text),
    required("gateway", sa.Text),
    required("recipient_code", sa.Text),
    required("account_last4", sa.Text),
    required("bank_code", sa.Text),
    required("account_name", sa.Text),
    sa.Column("failure", sa.Text),
    required("created_at", INSTANT),
    sa.Column("submitted_at", INSTANT),
    sa.Column("paid_at", INSTANT),
    # The first end at the gateway: paid, failed or returned.
    sa.Column("ended_at", INSTANT),
    sa.Column("due_at", INSTANT),
    required("poll_count", sa.Integer, server_default=sa.text("0")),
    sa.Column("transfer_fee_minor", sa.BigInteger),
    known("withdrawals", "status", WithdrawalStatus),
    sa.CheckConstraint(
        "amount_minor > 0 AND least(rewards_minor, loss_minor) >= 0 AND rewards_minor + loss_minor <= amount_minor",
        name="withdrawals_parts_within_amount",
    ),
    sa.Index("withdrawals_of_user", "user_id", "created_at", "id"),
    sa.Index("withdrawals_newest", "created_at", "id"),
    sa.Index("withdrawals_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
    sa.Index(
        "withdrawals_undecided",
        "created_at",
        "id",
        postgresql_where=sa.text("status IN ('waiting', 'prepared')"),
    ),
)

# Every prepared decision and who answered it. Maker and checker are two user ids.
sa.Table(
    "withdrawal_decisions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("withdrawal_id", sa.Uuid, sa.ForeignKey("withdrawals.id", name="withdrawal_decisions_withdrawal")),
    required("outcome", sa.Text),
    *decided_by_two("withdrawal_decisions"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)",
        name="withdrawal_decisions_decided_once",
    ),
    known("withdrawal_decisions", "outcome", WithdrawalOutcome),
    known("withdrawal_decisions", "status", StaffDecisionStatus),
    sa.Index(
        "withdrawal_decisions_one_stands",
        "withdrawal_id",
        unique=True,
        postgresql_where=sa.text("status <> 'rejected'"),
    ),
    sa.Index("withdrawal_decisions_of_withdrawal", "withdrawal_id", "prepared_at"),
)

# Bank accounts to which payouts stopped every payment, by what its event names of them.
sa.Table(
    "quarantined_accounts",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    sa.Column("bank_code", sa.Text, primary_key=True),
    sa.Column("account_last4", sa.Text, primary_key=True),
    sa.Index("quarantined_accounts_of_number", "bank_code", "account_last4"),
)
