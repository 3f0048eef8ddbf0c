"""Chargebacks."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.database.tables import known
from payments.domain.chargeback_responses import Resolution, ResponseKind
from payments.domain.transitions import ChargebackStatus, ResponseStatus
from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

# Each dispute that the gateway reported, once, and where a lost one took its money from. Fees are in the ledger only.
sa.Table(
    "chargebacks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("identity", sa.Text),
    required("charge_id", sa.Uuid, sa.ForeignKey("charges.id", name="chargebacks_charge")),
    sa.Column("order_id", sa.Uuid),
    required("amount_minor", sa.BigInteger),
    required("currency", CURRENCY),
    required("status", sa.Text),
    sa.Column("reason", sa.Text),
    required("locked_vendor_minor", sa.BigInteger, server_default=sa.text("0")),
    required("locked_commission_minor", sa.BigInteger, server_default=sa.text("0")),
    required("locked_delivery_fee_minor", sa.BigInteger, server_default=sa.text("0")),
    required("released_vendor_minor", sa.BigInteger, server_default=sa.text("0")),
    required("released_commission_minor", sa.BigInteger, server_default=sa.text("0")),
    required("released_delivery_fee_minor", sa.BigInteger, server_default=sa.text("0")),
    required("loss_minor", sa.BigInteger, server_default=sa.text("0")),
    required("opened_at", INSTANT),
    sa.Column("decided_at", INSTANT),
    sa.Column("due_at", INSTANT),
    sa.Column("due_alerted_at", INSTANT),
    sa.Column("responded_at", INSTANT),
    # Of a charge that paid several orders, the first has the dispute's identity and dates; the others are parts of it.
    sa.Column("part_of", sa.Uuid, sa.ForeignKey("chargebacks.id", name="chargebacks_part_of")),
    sa.UniqueConstraint("identity", name="chargebacks_identity_once"),
    # A part may be 0: of an order that was refunded, or of some kobo that are disputed.
    sa.CheckConstraint("amount_minor >= 0", name="chargebacks_amount_not_negative"),
    sa.CheckConstraint("(status = 'opened') = (decided_at IS NULL)", name="chargebacks_decided_when_not_open"),
    sa.CheckConstraint(
        "least(locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, "
        "released_vendor_minor, released_commission_minor, released_delivery_fee_minor, loss_minor) >= 0",
        name="chargebacks_never_negative",
    ),
    known("chargebacks", "status", ChargebackStatus),
    sa.Index("chargebacks_of_charge", "charge_id"),
    sa.Index("chargebacks_of_order", "order_id"),
    sa.Index("chargebacks_newest", "opened_at", "id"),
    sa.Index(
        "chargebacks_of_part", "part_of", "order_id", unique=True, postgresql_where=sa.text("part_of IS NOT NULL")
    ),
    sa.Index(
        "chargebacks_due",
        "due_at",
        postgresql_where=sa.text("status = 'opened' AND due_alerted_at IS NULL AND responded_at IS NULL"),
    ),
    sa.Index("chargebacks_open", "opened_at", "id", postgresql_where=sa.text("status = 'opened'")),
)

# What a lost chargeback gave the payer in place of a refund.
sa.Table(
    "chargeback_refunds",
    metadata,
    sa.Column(
        "chargeback_id",
        sa.Uuid,
        sa.ForeignKey("chargebacks.id", name="chargeback_refunds_chargeback"),
        primary_key=True,
    ),
    sa.Column("refund_id", sa.Uuid, sa.ForeignKey("refunds.id", name="chargeback_refunds_refund"), primary_key=True),
    required("amount_minor", sa.BigInteger),
    sa.CheckConstraint("amount_minor > 0", name="chargeback_refunds_amount_above_zero"),
    sa.Index("chargeback_refunds_of_refund", "refund_id"),
)

# What staff sent to the gateway about a dispute. `evidence` and `attachment` are personal data, kept until the gateway
# has them; the rest is the permanent record. `due_at`: when the next attempt is due.
sa.Table(
    "chargeback_responses",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("chargeback_id", sa.Uuid, sa.ForeignKey("chargebacks.id", name="chargeback_responses_chargeback")),
    required("kind", sa.Text),
    sa.Column("resolution", sa.Text),
    sa.Column("message", sa.Text),
    sa.Column("amount_minor", sa.BigInteger),
    sa.Column("evidence", JSONB),
    sa.Column("attachment", sa.LargeBinary),
    required("content_hash", sa.Text),
    required("status", sa.Text, server_default=sa.text("'submitting'")),
    sa.Column("gateway_evidence_id", sa.Text),
    sa.Column("failure", sa.Text),
    required("attempts", sa.Integer, server_default=sa.text("0")),
    sa.Column("due_at", INSTANT),
    required("created_by", sa.Uuid),
    required("created_at", INSTANT),
    sa.Column("finished_at", INSTANT),
    sa.CheckConstraint("amount_minor >= 0", name="chargeback_responses_amount_not_negative"),
    sa.CheckConstraint(
        "(status = 'submitting') = (due_at IS NOT NULL)", name="chargeback_responses_due_while_submitting"
    ),
    sa.CheckConstraint("(status = 'submitting') = (finished_at IS NULL)", name="chargeback_responses_finished_once"),
    known("chargeback_responses", "kind", ResponseKind),
    sa.CheckConstraint(
        "status = 'submitting' OR (evidence IS NULL AND attachment IS NULL)",
        name="chargeback_responses_personal_data_leaves",
    ),
    sa.CheckConstraint(
        "(kind = 'resolution') = (resolution IS NOT NULL AND message IS NOT NULL AND amount_minor IS NOT NULL)",
        name="chargeback_responses_resolution_is_whole",
    ),
    known("chargeback_responses", "resolution", Resolution),
    known("chargeback_responses", "status", ResponseStatus),
    # One response of a dispute is on the way, and one resolution reaches the gateway.
    sa.Index(
        "chargeback_responses_one_submitting",
        "chargeback_id",
        unique=True,
        postgresql_where=sa.text("status = 'submitting'"),
    ),
    sa.Index(
        "chargeback_responses_one_resolution",
        "chargeback_id",
        unique=True,
        postgresql_where=sa.text("kind = 'resolution' AND status IN ('submitting', 'submitted')"),
    ),
    sa.Index("chargeback_responses_of_chargeback", "chargeback_id", "created_at"),
    sa.Index("chargeback_responses_due", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
)
