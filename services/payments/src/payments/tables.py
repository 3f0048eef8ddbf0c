"""The tables of the payments database, for `alembic check`. What they are for stands in the migrations."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.tables import attach_ledger_tables, attach_messaging_tables

metadata = sa.MetaData()
attach_messaging_tables(metadata)
attach_ledger_tables(metadata)

INSTANT = sa.TIMESTAMP(timezone=True)
CURRENCY = sa.CHAR(3)


def _required(name: str, kind: Any, **arguments: Any) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, **arguments)


sa.Table(
    "buyers",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    _required("email", sa.Text),
    _required("heard_at", INSTANT),
)
sa.Table(
    "payable_orders",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _required("buyer_id", sa.Uuid),
    _required("vendor_id", sa.Uuid),
    _required("total_minor", sa.BigInteger),
    _required("commission_minor", sa.BigInteger),
    _required("delivery_fee_minor", sa.BigInteger),
    _required("currency", CURRENCY),
    _required("status", sa.Text),
    _required("payment_due_at", INSTANT),
    _required("heard_at", INSTANT),
    sa.Index("payable_orders_of_buyer", "buyer_id"),
)
sa.Table(
    "payment_intents",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _required("order_id", sa.Uuid),
    _required("buyer_id", sa.Uuid),
    _required("reference", sa.Text),
    _required("amount_minor", sa.BigInteger),
    _required("currency", CURRENCY),
    _required("status", sa.Text),
    sa.Column("channel", sa.Text),
    sa.Column("callback_url", sa.Text),
    sa.Column("authorization_url", sa.Text),
    sa.Column("access_code", sa.Text),
    sa.Column("opening_until", INSTANT),
    _required("expires_at", INSTANT),
    _required("created_at", INSTANT),
    sa.Column("paid_at", INSTANT),
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
)
sa.Table(
    "payment_references",
    metadata,
    sa.Column("reference", sa.Text, primary_key=True),
    _required("intent_id", sa.Uuid),
    _required("buyer_id", sa.Uuid),
    _required("settlement", sa.Text),
    _required("created_at", INSTANT),
    sa.ForeignKeyConstraint(["intent_id"], ["payment_intents.id"], name="payment_references_intent"),
    sa.Index("payment_references_of_intent", "intent_id"),
)
sa.Table(
    "payment_intent_keys",
    metadata,
    sa.Column("caller_id", sa.Uuid, primary_key=True),
    sa.Column("idempotency_key", sa.Uuid, primary_key=True),
    _required("fingerprint", sa.LargeBinary),
    _required("intent_id", sa.Uuid),
    _required("created_at", INSTANT),
    sa.ForeignKeyConstraint(["intent_id"], ["payment_intents.id"], name="payment_intent_keys_intent"),
)
sa.Table(
    "processed_webhook_events",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _required("provider", sa.Text),
    _required("event_type", sa.Text),
    _required("payload", JSONB),
    _required("raw", sa.LargeBinary),
    _required("outcome", sa.Text),
    _required("processed_at", INSTANT, server_default=sa.text("now()")),
)
sa.Table(
    "dead_letter_webhooks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _required("webhook_id", sa.Text),
    _required("event_type", sa.Text),
    _required("error", sa.Text),
    _required("attempts", sa.Integer),
    _required("failed_at", INSTANT, server_default=sa.text("now()")),
    sa.Column("replayed_at", INSTANT),
    sa.ForeignKeyConstraint(["webhook_id"], ["processed_webhook_events.id"], name="dead_letter_webhooks_webhook"),
    sa.Index("dead_letter_webhooks_newest", "failed_at", "id"),
)
sa.Table(
    "charges",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _required("identity", sa.Text),
    _required("reference", sa.Text),
    sa.Column("gateway_id", sa.Text),
    _required("webhook_id", sa.Text),
    sa.Column("order_id", sa.Uuid),
    _required("amount_minor", sa.BigInteger),
    _required("currency", CURRENCY),
    sa.Column("channel", sa.Text),
    _required("verdict", sa.Text),
    _required("settled_at", INSTANT),
    sa.UniqueConstraint("identity", name="charges_identity_once"),
    sa.Index("charges_of_reference", "reference"),
    sa.Index("charges_order_covered_once", "order_id", unique=True, postgresql_where=sa.text("verdict = 'covered'")),
)
sa.Table(
    "escrows",
    metadata,
    sa.Column("order_id", sa.Uuid, primary_key=True),
    _required("buyer_id", sa.Uuid),
    _required("vendor_id", sa.Uuid),
    _required("charge_id", sa.Uuid),
    _required("held_minor", sa.BigInteger),
    _required("locked_vendor_minor", sa.BigInteger),
    _required("locked_commission_minor", sa.BigInteger),
    _required("locked_delivery_fee_minor", sa.BigInteger),
    _required("released_vendor_minor", sa.BigInteger),
    _required("released_commission_minor", sa.BigInteger),
    _required("released_delivery_fee_minor", sa.BigInteger),
    _required("refunded_minor", sa.BigInteger),
    sa.Column("disputed_at", INSTANT),
    _required("dispute_sequence", sa.BigInteger),
    _required("held_at", INSTANT),
    sa.ForeignKeyConstraint(["order_id"], ["payable_orders.id"], name="escrows_order"),
    sa.ForeignKeyConstraint(["charge_id"], ["charges.id"], name="escrows_charge"),
)
sa.Table(
    "releases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _required("order_id", sa.Uuid),
    _required("gross_minor", sa.BigInteger),
    _required("commission_minor", sa.BigInteger),
    _required("delivery_fee_minor", sa.BigInteger),
    _required("net_minor", sa.BigInteger),
    _required("cause", sa.Text),
    sa.Column("released_by", sa.Uuid),
    _required("released_at", INSTANT),
    sa.ForeignKeyConstraint(["order_id"], ["escrows.order_id"], name="releases_order"),
    sa.Index("releases_of_order", "order_id"),
)
sa.Table(
    "refunds",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _required("kind", sa.Text),
    _required("charge_id", sa.Uuid),
    sa.Column("order_id", sa.Uuid),
    sa.Column("buyer_id", sa.Uuid),
    _required("amount_minor", sa.BigInteger),
    _required("currency", CURRENCY),
    _required("status", sa.Text),
    _required("reason", sa.Text),
    sa.Column("gateway_refund_id", sa.Text),
    sa.Column("failure", sa.Text),
    sa.Column("submitted_at", INSTANT),
    _required("questions", sa.Integer, server_default=sa.text("0")),
    sa.Column("due_at", INSTANT),
    _required("created_at", INSTANT),
    sa.Column("settled_at", INSTANT),
    sa.ForeignKeyConstraint(["charge_id"], ["charges.id"], name="refunds_charge"),
    sa.Index("refunds_due", "due_at", postgresql_where=sa.text("status = 'submitted'")),
    sa.Index("refunds_of_gateway", "gateway_refund_id"),
    sa.Index("refunds_of_order", "order_id"),
)
sa.Table(
    "quarantined_charges",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    _required("charge_id", sa.Uuid),
    _required("reference", sa.Text),
    sa.Column("order_id", sa.Uuid),
    _required("amount_minor", sa.BigInteger),
    _required("currency", CURRENCY),
    _required("reason", sa.Text),
    _required("status", sa.Text),
    _required("created_at", INSTANT),
    sa.ForeignKeyConstraint(["charge_id"], ["charges.id"], name="quarantined_charges_charge"),
    sa.UniqueConstraint("charge_id", name="quarantined_charges_charge_once"),
    sa.Index("quarantined_charges_newest", "created_at", "id"),
)
