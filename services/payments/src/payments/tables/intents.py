"""Buyers, orders and payment intents."""

import sqlalchemy as sa

from payments.tables.metadata import CURRENCY, INSTANT, metadata, required

sa.Table(
    "buyers",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    required("email", sa.Text),
    required("heard_at", INSTANT),
)
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
    sa.Index("payable_orders_of_buyer", "buyer_id"),
    sa.Index("payable_orders_of_vendor", "vendor_id"),
)
sa.Table(
    "payment_intents",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("order_id", sa.Uuid),
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
    sa.ForeignKeyConstraint(["order_id"], ["payable_orders.id"], name="payment_intents_order"),
    sa.UniqueConstraint("reference", name="payment_intents_reference_once"),
    sa.Index(
        "payment_intents_one_live",
        "order_id",
        unique=True,
        postgresql_where=sa.text("status IN ('opening', 'pending')"),
    ),
    sa.Index("payment_intents_of_buyer", "buyer_id", "created_at"),
    sa.Index("payment_intents_of_order", "order_id"),
    sa.Index("payment_intents_newest", "created_at", "id"),
    sa.Index(
        "payment_intents_queried",
        "query_at",
        postgresql_where=sa.text("query_at IS NOT NULL AND status IN ('pending', 'failed')"),
    ),
)
sa.Table(
    "payment_references",
    metadata,
    sa.Column("reference", sa.Text, primary_key=True),
    required("intent_id", sa.Uuid),
    required("buyer_id", sa.Uuid),
    required("settlement", sa.Text),
    required("created_at", INSTANT),
    required("gateway", sa.Text, server_default=sa.text("'paystack'")),
    sa.ForeignKeyConstraint(["intent_id"], ["payment_intents.id"], name="payment_references_intent"),
    sa.Index("payment_references_of_intent", "intent_id"),
)
sa.Table(
    "payment_intent_keys",
    metadata,
    sa.Column("caller_id", sa.Uuid, primary_key=True),
    sa.Column("idempotency_key", sa.Uuid, primary_key=True),
    required("fingerprint", sa.LargeBinary),
    required("intent_id", sa.Uuid),
    required("created_at", INSTANT),
    sa.ForeignKeyConstraint(["intent_id"], ["payment_intents.id"], name="payment_intent_keys_intent"),
)
