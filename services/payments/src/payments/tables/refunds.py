"""Refunds, quarantined charges and their decisions."""

import sqlalchemy as sa

from common.database.tables import decided_by_two, known
from common.primitives.decisions import OvertakableStatus, StaffDecisionStatus
from payments.domain.quarantine import Outcome
from payments.domain.refunds import RefundAction, RefundKind
from payments.domain.transitions import QuarantinedChargeStatus, RefundStatus
from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

# `attempt_id` is the gateway's name of the present attempt; `recipient_code` is set when it goes to a bank account.
sa.Table(
    "refunds",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("kind", sa.Text),
    # Null when the balance alone paid the order.
    sa.Column("charge_id", sa.Uuid, sa.ForeignKey("charges.id", name="refunds_charge")),
    sa.Column("order_id", sa.Uuid),
    sa.Column("buyer_id", sa.Uuid),
    required("amount_minor", sa.BigInteger),
    required("currency", CURRENCY),
    required("status", sa.Text),
    required("reason", sa.Text),
    sa.Column("gateway_refund_id", sa.Text),
    sa.Column("failure", sa.Text),
    sa.Column("submitted_at", INSTANT),
    # The name of `poll_count` in the previous version. Drop it in the next release (decision 109).
    required("questions", sa.Integer, server_default=sa.text("0")),
    sa.Column("due_at", INSTANT),
    required("created_at", INSTANT),
    sa.Column("settled_at", INSTANT),
    required("attempt_id", sa.Uuid),
    sa.Column("recipient_code", sa.Text),
    # The gateway waits for an account of the payer since then; the recipient is the account that was approved.
    sa.Column("needs_account_at", INSTANT),
    sa.Column("retry_recipient_code", sa.Text),
    # The gateway's fee of the transfer of this attempt, as posted; null while the gateway has reported none.
    sa.Column("transfer_fee_minor", sa.BigInteger),
    required("poll_count", sa.Integer, server_default=sa.text("0")),
    # The part that the buyer's balance received at once; `amount_minor` is the gateway's part.
    required("balance_minor", sa.BigInteger, server_default=sa.text("0")),
    sa.UniqueConstraint("attempt_id", name="refunds_attempt_once"),
    sa.CheckConstraint(
        "least(amount_minor, balance_minor) >= 0 AND amount_minor + balance_minor > 0", name="refunds_parts_above_zero"
    ),
    known("refunds", "kind", RefundKind),
    known("refunds", "status", RefundStatus),
    sa.Index("refunds_of_gateway", "gateway_refund_id"),
    sa.Index("refunds_of_order", "order_id"),
    sa.Index("refunds_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
    sa.Index("refunds_newest", "created_at", "id"),
    # Refunds of a disputed charge are held.
    sa.Index("refunds_of_charge", "charge_id"),
    sa.Index("refunds_settled", "settled_at", "id", postgresql_where=sa.text("status = 'settled'")),
    # Buyers see their own refunds; decisions about them are for finance.
    sa.Index("refunds_of_buyer", "buyer_id", "created_at"),
    sa.Index("refunds_failed", "created_at", "id", postgresql_where=sa.text("status = 'failed'")),
)

# Amounts that the platform gives the buyers of orders (decision 205).
sa.Table(
    "goodwill_refunds",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("order_id", sa.Uuid),
    required("buyer_id", sa.Uuid),
    required("amount_minor", sa.BigInteger),
    *decided_by_two("goodwill_refunds"),
    sa.CheckConstraint("amount_minor > 0", name="goodwill_refunds_amount_above_zero"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)",
        name="goodwill_refunds_decided_once",
    ),
    known("goodwill_refunds", "status", StaffDecisionStatus),
    sa.Index("goodwill_refunds_one_prepared", "order_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index("goodwill_refunds_of_order", "order_id"),
    sa.Index("goodwill_refunds_of_buyer", "buyer_id"),
    sa.Index("goodwill_refunds_newest", "prepared_at", "id"),
    sa.Index("goodwill_refunds_prepared_by", "prepared_by"),
    sa.Index("goodwill_refunds_decided_by", "decided_by", postgresql_where=sa.text("decided_by IS NOT NULL")),
)

sa.Table(
    "quarantined_charges",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("charge_id", sa.Uuid, sa.ForeignKey("charges.id", name="quarantined_charges_charge")),
    required("reference", sa.Text),
    sa.Column("order_id", sa.Uuid),
    required("amount_minor", sa.BigInteger),
    required("currency", CURRENCY),
    required("reason", sa.Text),
    required("status", sa.Text),
    required("created_at", INSTANT),
    sa.Column("refund_id", sa.Uuid),
    sa.UniqueConstraint("charge_id", name="quarantined_charges_charge_once"),
    known("quarantined_charges", "status", QuarantinedChargeStatus),
    sa.Index("quarantined_charges_newest", "created_at", "id"),
    sa.Index("quarantined_charges_undecided", "created_at", "id", postgresql_where=sa.text("status = 'quarantined'")),
)

# Every prepared decision and who answered it. Maker and checker are two user ids.
sa.Table(
    "quarantine_decisions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required(
        "quarantined_charge_id", sa.Uuid, sa.ForeignKey("quarantined_charges.id", name="quarantine_decisions_charge")
    ),
    required("outcome", sa.Text),
    *decided_by_two("quarantine_decisions"),
    sa.CheckConstraint(
        "(status = 'prepared') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)",
        name="quarantine_decisions_decided_by_somebody",
    ),
    known("quarantine_decisions", "outcome", Outcome),
    known("quarantine_decisions", "status", StaffDecisionStatus),
    # One decision of a charge waits or holds; rejected ones stay as history.
    sa.Index(
        "quarantine_decisions_one_stands",
        "quarantined_charge_id",
        unique=True,
        postgresql_where=sa.text("status <> 'rejected'"),
    ),
    sa.Index("quarantine_decisions_of_charge", "quarantined_charge_id", "prepared_at"),
)

# The gateway alone keeps the full account number: here are its code, and what two people must see of it.
sa.Table(
    "refund_decisions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("refund_id", sa.Uuid, sa.ForeignKey("refunds.id", name="refund_decisions_refund")),
    required("action", sa.Text),
    *decided_by_two("refund_decisions"),
    sa.Column("recipient_code", sa.Text),
    sa.Column("account_last4", sa.Text),
    sa.Column("bank_code", sa.Text),
    sa.Column("account_name", sa.Text),
    sa.Column("name_at_bank", sa.Text),
    known("refund_decisions", "action", RefundAction),
    sa.CheckConstraint(
        "(status IN ('prepared', 'overtaken')) = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)",
        name="refund_decisions_decided_by_somebody",
    ),
    sa.CheckConstraint(
        "(action = 'other_destination') = (num_nulls(recipient_code, account_last4, bank_code, account_name) = 0)",
        name="refund_decisions_destination_when_other",
    ),
    known("refund_decisions", "status", OvertakableStatus),
    sa.Index("refund_decisions_one_waits", "refund_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index("refund_decisions_of_refund", "refund_id", "prepared_at"),
)

# Attempts that failed before the present one. No other is made until the gateway confirms that one as dead.
sa.Table(
    "failed_refund_attempts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("refund_id", sa.Uuid, sa.ForeignKey("refunds.id", name="failed_refund_attempts_refund")),
    sa.Column("gateway_refund_id", sa.Text),
    sa.Column("recipient_code", sa.Text),
    sa.Column("failure", sa.Text),
    required("replaced_at", INSTANT),
    sa.Column("confirmed_at", INSTANT),
    sa.Column("transfer_fee_minor", sa.BigInteger),
    sa.Index("failed_refund_attempts_of_refund", "refund_id"),
    sa.Index("failed_refund_attempts_of_gateway", "gateway_refund_id"),
)
