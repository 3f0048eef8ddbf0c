"""Charges, escrow and releases."""

import sqlalchemy as sa

from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

# Each charge that the gateway reported, once, with its verdict. The surcharge's bound is recorded: settings may
# change.
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
    sa.CheckConstraint("amount_minor > 0", name="charges_amount_above_zero"),
    sa.CheckConstraint(
        "num_nulls(surcharge_minor, surcharge_max_minor) IN (0, 2) AND surcharge_minor BETWEEN 0 AND "
        "surcharge_max_minor",
        name="charges_surcharge_within_bound",
    ),
    sa.CheckConstraint("verdict IN ('covered', 'second_charge', 'quarantined')", name="charges_verdict_known"),
    sa.Index("charges_of_reference", "reference"),
    # An order is covered once: a second covering charge fails here.
    sa.Index("charges_order_covered_once", "order_id", unique=True, postgresql_where=sa.text("verdict = 'covered'")),
    # A dispute names the transaction by the gateway's id or by our reference.
    sa.Index("charges_of_gateway", "gateway_id"),
    sa.Index("charges_settled", "settled_at", "id"),
)

sa.Table(
    "escrows",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("payable_orders.id", name="escrows_order"), primary_key=True),
    required("buyer_id", sa.Uuid),
    required("vendor_id", sa.Uuid),
    # Null for an order that the balance alone paid.
    sa.Column("charge_id", sa.Uuid, sa.ForeignKey("charges.id", name="escrows_charge")),
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
    # The part that the buyer's balance paid, with its rewards, and what refunds credited to the balance.
    required("balance_minor", sa.BigInteger, server_default=sa.text("0")),
    required("rewards_minor", sa.BigInteger, server_default=sa.text("0")),
    required("balance_refunded_minor", sa.BigInteger, server_default=sa.text("0")),
    required("rewards_refunded_minor", sa.BigInteger, server_default=sa.text("0")),
    sa.CheckConstraint(
        "locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor + released_vendor_minor + "
        "released_commission_minor + released_delivery_fee_minor + refunded_minor + charged_back_minor = "
        "held_minor",
        name="escrows_account_for_all",
    ),
    sa.CheckConstraint("charged_back_minor >= 0", name="escrows_charged_back_never_negative"),
    sa.CheckConstraint(
        "least(locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, "
        "released_vendor_minor, released_commission_minor, released_delivery_fee_minor, refunded_minor) >= 0",
        name="escrows_never_negative",
    ),
    sa.Index("escrows_held", "held_at", "order_id"),
    # One charge pays every order of a purchase.
    sa.Index("escrows_of_charge", "charge_id"),
)

sa.Table(
    "releases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("order_id", sa.Uuid, sa.ForeignKey("escrows.order_id", name="releases_order")),
    required("gross_minor", sa.BigInteger),
    required("commission_minor", sa.BigInteger),
    required("delivery_fee_minor", sa.BigInteger),
    required("net_minor", sa.BigInteger),
    required("cause", sa.Text),
    sa.Column("released_by", sa.Uuid),
    required("released_at", INSTANT),
    sa.CheckConstraint("cause IN ('delivery', 'staff', 'resolution')", name="releases_cause_known"),
    sa.CheckConstraint(
        "commission_minor + delivery_fee_minor + net_minor = gross_minor", name="releases_parts_make_gross"
    ),
    sa.Index("releases_of_order", "order_id"),
)
