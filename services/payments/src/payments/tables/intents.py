"""Buyers, orders and payment intents."""

import sqlalchemy as sa

from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

# Projected from identity: the gateway needs an address for the receipt.
sa.Table(
    "buyers",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    required("email", sa.Text),
    required("heard_at", INSTANT),
)

# Payments' own view of an order. Escrow is made from nothing else.
sa.Table(
    "payable_orders",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("buyer_id", sa.Uuid),
    required("vendor_id", sa.Uuid),
    required("total_minor", sa.BigInteger),
    required("commission_minor", sa.BigInteger),
    required("delivery_fee_minor", sa.BigInteger),
    required("currency", CURRENCY),
    required("status", sa.Text),
    required("payment_due_at", INSTANT),
    required("heard_at", INSTANT),
    sa.Column("number", sa.Text),
    # Of an order that was checked out with others; the purchase's event may arrive later.
    sa.Column("purchase_id", sa.Uuid),
    sa.CheckConstraint(
        "commission_minor >= 0 AND delivery_fee_minor >= 0 AND commission_minor + delivery_fee_minor <= total_minor",
        name="payable_orders_parts_within_total",
    ),
    sa.CheckConstraint(
        "status IN ('Processing', 'cancelled', 'expired', 'paid_escrow')", name="payable_orders_status_known"
    ),
    sa.CheckConstraint("total_minor > 0", name="payable_orders_total_above_zero"),
    sa.Index("payable_orders_of_buyer", "buyer_id"),
    sa.Index("payable_orders_of_vendor", "vendor_id"),
)

# Projected from orders: the orders that one payment is for. The events of purchase and orders arrive in any order.
sa.Table(
    "purchases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("buyer_id", sa.Uuid),
    required("number", sa.Text),
    required("heard_at", INSTANT),
    sa.Index("purchases_of_buyer", "buyer_id"),
)

# The orders of a purchase, in its order.
sa.Table(
    "purchase_orders",
    metadata,
    sa.Column("purchase_id", sa.Uuid, sa.ForeignKey("purchases.id", name="purchase_orders_purchase"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    required("order_id", sa.Uuid),
    required("buyer_id", sa.Uuid),
    # An order is part of one purchase.
    sa.UniqueConstraint("order_id", name="purchase_orders_order_once"),
    sa.CheckConstraint("position >= 0", name="purchase_orders_position_from_zero"),
)

# `order_id`: the first order that the intent asks for. `query_at`: when the gateway is queried about an attempt whose
# outcome has not arrived.
sa.Table(
    "payment_intents",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("order_id", sa.Uuid, sa.ForeignKey("payable_orders.id", name="payment_intents_order")),
    required("buyer_id", sa.Uuid),
    required("reference", sa.Text),
    required("amount_minor", sa.BigInteger),
    required("currency", CURRENCY),
    required("status", sa.Text),
    sa.Column("channel", sa.Text),
    sa.Column("callback_url", sa.Text),
    sa.Column("authorization_url", sa.Text),
    sa.Column("access_code", sa.Text),
    sa.Column("opening_until", INSTANT),
    required("expires_at", INSTANT),
    required("created_at", INSTANT),
    sa.Column("paid_at", INSTANT),
    sa.Column("failure_reason", sa.Text),
    sa.Column("failed_at", INSTANT),
    sa.Column("query_at", INSTANT),
    required("queries", sa.Integer, server_default=sa.text("0")),
    required("gateway", sa.Text, server_default=sa.text("'paystack'")),
    sa.Column("purchase_id", sa.Uuid),
    # The account of a payment by bank transfer.
    sa.Column("transfer_bank_name", sa.Text),
    sa.Column("transfer_account_number", sa.Text),
    sa.Column("transfer_account_name", sa.Text),
    sa.Column("transfer_amount_minor", sa.BigInteger),
    sa.Column("transfer_expires_at", INSTANT),
    # The quarantined charges of the payment, in naira.
    sa.Column("received_minor", sa.BigInteger),
    # The part of the amount that the buyer's balance pays; the gateway is asked for the rest.
    required("balance_minor", sa.BigInteger, server_default=sa.text("0")),
    sa.UniqueConstraint("reference", name="payment_intents_reference_once"),
    sa.CheckConstraint("status <> 'failed' OR failure_reason IS NOT NULL", name="payment_intents_failure_has_words"),
    sa.CheckConstraint("status <> 'pending' OR authorization_url IS NOT NULL", name="payment_intents_open_has_address"),
    sa.CheckConstraint(
        (
            "num_nonnulls(transfer_bank_name, transfer_account_number, transfer_amount_minor, transfer_expires_at) "
            "IN (0, 4)"
        ),
        name="payment_intents_account_whole",
    ),
    sa.CheckConstraint("received_minor > 0", name="payment_intents_received_above_zero"),
    sa.CheckConstraint("transfer_amount_minor > 0", name="payment_intents_transfer_above_zero"),
    sa.CheckConstraint(
        "status IN ('opening', 'pending', 'paid', 'quarantined', 'overpaid', 'closed', 'failed')",
        name="payment_intents_status_known",
    ),
    # One live intent of an order, also of concurrent requests.
    sa.Index(
        "payment_intents_one_live",
        "order_id",
        unique=True,
        postgresql_where=sa.text("status IN ('opening', 'pending')"),
    ),
    sa.Index("payment_intents_of_buyer", "buyer_id", "created_at"),
    sa.Index("payment_intents_of_order", "order_id"),
    sa.Index("payment_intents_newest", "created_at", "id"),
    sa.Index("payment_intents_of_purchase", "purchase_id", postgresql_where=sa.text("purchase_id IS NOT NULL")),
    sa.Index(
        "payment_intents_queried",
        "query_at",
        postgresql_where=sa.text("query_at IS NOT NULL AND status IN ('pending', 'failed')"),
    ),
)

# The orders of an intent that asks for more than one, in the order of their purchase. Any other asks for its
# `order_id`.
sa.Table(
    "intent_orders",
    metadata,
    sa.Column("intent_id", sa.Uuid, sa.ForeignKey("payment_intents.id", name="intent_orders_intent"), primary_key=True),
    sa.Column(
        "order_id", sa.Uuid, sa.ForeignKey("purchase_orders.order_id", name="intent_orders_order"), primary_key=True
    ),
    required("position", sa.Integer),
    required("amount_minor", sa.BigInteger),
    required("buyer_id", sa.Uuid),
    sa.CheckConstraint("amount_minor > 0", name="intent_orders_amount_above_zero"),
    sa.Index("intent_orders_of_order", "order_id"),
)

# Every reference that was recorded before a call: a payment by any of them finds its order.
sa.Table(
    "payment_references",
    metadata,
    sa.Column("reference", sa.Text, primary_key=True),
    required("intent_id", sa.Uuid, sa.ForeignKey("payment_intents.id", name="payment_references_intent")),
    required("buyer_id", sa.Uuid),
    required("settlement", sa.Text),
    required("created_at", INSTANT),
    required("gateway", sa.Text, server_default=sa.text("'paystack'")),
    sa.Index("payment_references_of_intent", "intent_id"),
)

# The caller's key stays bound to its effect for good (contract section 3).
sa.Table(
    "payment_intent_keys",
    metadata,
    sa.Column("caller_id", sa.Uuid, primary_key=True),
    sa.Column("idempotency_key", sa.Uuid, primary_key=True),
    required("fingerprint", sa.LargeBinary),
    required("intent_id", sa.Uuid, sa.ForeignKey("payment_intents.id", name="payment_intent_keys_intent")),
    required("created_at", INSTANT),
)
