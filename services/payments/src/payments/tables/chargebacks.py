"""Chargebacks."""

import sqlalchemy as sa

from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

sa.Table(
    "chargebacks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("identity", sa.Text),
    required("charge_id", sa.Uuid),
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
    sa.ForeignKeyConstraint(["charge_id"], ["charges.id"], name="chargebacks_charge"),
    sa.UniqueConstraint("identity", name="chargebacks_identity_once"),
    sa.Index("chargebacks_of_charge", "charge_id"),
    sa.Index("chargebacks_of_order", "order_id"),
    sa.Index("chargebacks_newest", "opened_at", "id"),
)
sa.Table(
    "chargeback_refunds",
    metadata,
    sa.Column("chargeback_id", sa.Uuid, primary_key=True),
    sa.Column("refund_id", sa.Uuid, primary_key=True),
    required("amount_minor", sa.BigInteger),
    sa.ForeignKeyConstraint(["chargeback_id"], ["chargebacks.id"], name="chargeback_refunds_chargeback"),
    sa.ForeignKeyConstraint(["refund_id"], ["refunds.id"], name="chargeback_refunds_refund"),
    sa.Index("chargeback_refunds_of_refund", "refund_id"),
)
