"""Charges, escrow and releases."""

import sqlalchemy as sa

from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

sa.Table(
    "charges",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("identity", sa.Text),
    required("reference", sa.Text),
    sa.Column("gateway_id", sa.Text),
    required("webhook_id", sa.Text),
    sa.Column("order_id", sa.Uuid),
    required("amount_minor", sa.BigInteger),
    required("currency", CURRENCY),
    sa.Column("channel", sa.Text),
    required("verdict", sa.Text),
    required("settled_at", INSTANT),
    # NULL for charges that were settled before the bound existed.
    sa.Column("surcharge_minor", sa.BigInteger),
    sa.Column("surcharge_max_minor", sa.BigInteger),
    required("gateway", sa.Text, server_default=sa.text("'paystack'")),
    sa.UniqueConstraint("identity", name="charges_identity_once"),
    sa.Index("charges_of_reference", "reference"),
    sa.Index("charges_of_gateway", "gateway_id"),
    sa.Index("charges_order_covered_once", "order_id", unique=True, postgresql_where=sa.text("verdict = 'covered'")),
    sa.Index("charges_settled", "settled_at", "id"),
)
sa.Table(
    "escrows",
    metadata,
    sa.Column("order_id", sa.Uuid, primary_key=True),
    required("buyer_id", sa.Uuid),
    required("vendor_id", sa.Uuid),
    required("charge_id", sa.Uuid),
    required("held_minor", sa.BigInteger),
    required("locked_vendor_minor", sa.BigInteger),
    required("locked_commission_minor", sa.BigInteger),
    required("locked_delivery_fee_minor", sa.BigInteger),
    required("released_vendor_minor", sa.BigInteger),
    required("released_commission_minor", sa.BigInteger),
    required("released_delivery_fee_minor", sa.BigInteger),
    required("refunded_minor", sa.BigInteger),
    sa.Column("disputed_at", INSTANT),
    required("dispute_sequence", sa.BigInteger),
    required("held_at", INSTANT),
    required("charged_back_minor", sa.BigInteger, server_default=sa.text("0")),
    sa.ForeignKeyConstraint(["order_id"], ["payable_orders.id"], name="escrows_order"),
    sa.ForeignKeyConstraint(["charge_id"], ["charges.id"], name="escrows_charge"),
    sa.Index("escrows_held", "held_at", "order_id"),
)
sa.Table(
    "releases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("order_id", sa.Uuid),
    required("gross_minor", sa.BigInteger),
    required("commission_minor", sa.BigInteger),
    required("delivery_fee_minor", sa.BigInteger),
    required("net_minor", sa.BigInteger),
    required("cause", sa.Text),
    sa.Column("released_by", sa.Uuid),
    required("released_at", INSTANT),
    sa.ForeignKeyConstraint(["order_id"], ["escrows.order_id"], name="releases_order"),
    sa.Index("releases_of_order", "order_id"),
)
