"""Purchases, orders, their timers, refunds and delivery PINs."""

import sqlalchemy as sa

from common.database.tables import decided_by_two, known
from common.primitives.decisions import ExpiringStatus
from orders.domain.orders import TimerKind
from orders.domain.transitions import State
from orders.tables.metadata import INSTANT, metadata

# One checkout of one or more vendors. Its orders have the amounts, the payment window and the states; the ids of its
# orders are in its sequence.
sa.Table(
    "purchases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("number", sa.Text, nullable=False),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("idempotency_key", sa.Uuid, nullable=False),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.UniqueConstraint("buyer_id", "idempotency_key", name="purchases_idempotency_key_once_per_buyer"),
    sa.UniqueConstraint("number", name="purchases_number_once"),
    sa.CheckConstraint(
        "number ~ '^CP-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'", name="purchases_number_in_base_32"
    ),
    sa.Index("purchases_newest_of_buyer", "buyer_id", "created_at", "id"),
    sa.Index("purchases_newest", "created_at", "id"),
)

# An order of a purchase has its own id as its key: the caller's key is the purchase's.
# `escrow_minor` is what payments still holds of the order: a resolution divides exactly that.
sa.Table(
    "orders",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("number", sa.Text, nullable=False),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("hub_id", sa.Uuid),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("total_amount", sa.BigInteger, nullable=False),
    sa.Column("subtotal_minor", sa.BigInteger, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("commission_minor", sa.BigInteger, nullable=False),
    sa.Column("refunded_minor", sa.BigInteger, nullable=False),
    sa.Column("delivery_note", sa.Text),
    sa.Column("payment_due_at", INSTANT, nullable=False),
    sa.Column("delivered_at", INSTANT),
    sa.Column("idempotency_key", sa.Uuid, nullable=False),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("escrow_minor", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("escrow_sequence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("return_due_at", INSTANT),
    sa.Column("charge_quarantined_at", INSTANT),
    sa.Column("purchase_id", sa.Uuid, sa.ForeignKey("purchases.id", name="orders_purchase")),
    sa.Column("arrived_at", INSTANT),
    sa.UniqueConstraint("buyer_id", "idempotency_key", name="orders_idempotency_key_once_per_buyer"),
    sa.UniqueConstraint("number", name="orders_number_once"),
    sa.CheckConstraint("escrow_minor BETWEEN 0 AND total_amount", name="orders_escrow_minor_within_total"),
    sa.CheckConstraint("number ~ '^CM-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'", name="orders_number_in_base_32"),
    sa.CheckConstraint("refunded_minor BETWEEN 0 AND total_amount", name="orders_refunded_minor_within_total"),
    known("orders", "status", State),
    sa.CheckConstraint("total_amount = subtotal_minor + delivery_fee_minor", name="orders_total_amount_is_the_sum"),
    sa.Index("orders_newest", "created_at", "id"),
    sa.Index("orders_newest_of_buyer", "buyer_id", "created_at", "id"),
    sa.Index("orders_newest_of_vendor", "vendor_id", "created_at", "id"),
    sa.Index("orders_newest_of_campus", "campus_id", "created_at", "id"),
    sa.Index("orders_newest_of_hub", "hub_id", "created_at", "id", postgresql_where=sa.text("hub_id IS NOT NULL")),
    sa.Index("orders_of_purchase", "purchase_id", "id", postgresql_where=sa.text("purchase_id IS NOT NULL")),
    sa.Index("orders_dearest", "total_amount", "id"),
    sa.Index("orders_to_dispatch", "vendor_id", "created_at", "id", postgresql_where=sa.text("status = 'paid_escrow'")),
    sa.Index("orders_unpaid_of_buyer", "buyer_id", postgresql_where=sa.text("status = 'Processing'")),
)

sa.Table(
    "order_items",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="order_items_order"), nullable=False),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("product_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("unit_price_minor", sa.BigInteger, nullable=False),
    sa.Column("line_total_minor", sa.BigInteger, nullable=False),
    sa.Column("variant_id", sa.Uuid, sa.ForeignKey("product_variants.id", name="order_items_variant")),
    # Vendor or support cancelled the line of the paid order before its dispatch.
    sa.Column("cancelled_at", INSTANT),
    sa.CheckConstraint(
        "line_total_minor = unit_price_minor * quantity", name="order_items_line_total_minor_is_the_product"
    ),
    sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="order_items_quantity_1_to_99"),
    sa.Index("order_items_of_order", "order_id", "position", unique=True),
    sa.Index("order_items_of_variant", "variant_id", postgresql_where=sa.text("variant_id IS NOT NULL")),
)

sa.Table(
    "order_timers",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="order_timers_order"), primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("due_at", INSTANT, nullable=False),
    known("order_timers", "kind", TimerKind),
    sa.Index("order_timers_due", "due_at"),
)

# Its transitions and the events of its delivery PIN. They are inserted under the lock of the order's row, so their ids
# are in the sequence of the events. A cancelled line has an entry too. A checkout inserts no row: the order itself has
# its instant. `actor_id` is the person who caused the event, `actor_role` their part in it. Timers and payments have
# neither.
sa.Table(
    "order_history",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="order_history_order"), primary_key=True),
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("status", sa.Text),
    sa.Column("actor_id", sa.Uuid),
    sa.Column("occurred_at", INSTANT, nullable=False),
    sa.Column("actor_role", sa.Text),
    sa.Index("order_history_of_actor", "actor_id", postgresql_where=sa.text("actor_id IS NOT NULL")),
)

sa.Table(
    "order_refunds",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="order_refunds_order"), nullable=False),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Column("requested_at", INSTANT, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.CheckConstraint("amount_minor > 0", name="order_refunds_amount_minor_positive"),
    sa.CheckConstraint("status IN ('requested', 'posted', 'failed', 'settled')", name="order_refunds_status_known"),
    sa.Index("order_refunds_of_order", "order_id"),
)

sa.Table(
    "delivery_pins",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="delivery_pins_order"), primary_key=True),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("issue", sa.Integer, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("sealed", sa.Text, nullable=False),
    sa.Column("wrong_tries", sa.Integer, nullable=False),
    sa.Column("issued_at", INSTANT, nullable=False),
    sa.CheckConstraint("issue BETWEEN 1 AND 10", name="delivery_pins_issue_1_to_10"),
    sa.CheckConstraint("wrong_tries BETWEEN 0 AND 5", name="delivery_pins_wrong_tries_at_most_5"),
    sa.Index("delivery_pins_oldest", "issued_at"),
)

# Reissues beyond the buyer's limit, by two members of staff.
sa.Table(
    "pin_reissues",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="pin_reissues_order"), nullable=False),
    *decided_by_two("pin_reissues"),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.CheckConstraint(
        "(status IN ('prepared', 'expired')) = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)",
        name="pin_reissues_decided_once",
    ),
    known("pin_reissues", "status", ExpiringStatus),
    sa.Index("pin_reissues_one_prepared", "order_id", unique=True, postgresql_where=sa.text("status = 'prepared'")),
    sa.Index("pin_reissues_of_order", "order_id"),
    sa.Index("pin_reissues_newest", "prepared_at", "id"),
    sa.Index("pin_reissues_prepared_by", "prepared_by"),
    sa.Index("pin_reissues_decided_by", "decided_by", postgresql_where=sa.text("decided_by IS NOT NULL")),
)

sa.Table(
    "delivery_verifications",
    metadata,
    sa.Column("caller_id", sa.Uuid, primary_key=True),
    sa.Column("idempotency_key", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="delivery_verifications_order"), nullable=False),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("attempts_remaining", sa.Integer),
    sa.Column("tried_at", INSTANT, nullable=False),
)

# The share of each item in the money of its paid order, as payments' events state it (decision 52). Payments has the
# ledger; this is its projection, which the next event of the order or `python -m payments publish-escrows` makes good.
sa.Table(
    "sale_lines",
    metadata,
    sa.Column("item_id", sa.Uuid, sa.ForeignKey("order_items.id", name="sale_lines_item"), primary_key=True),
    sa.Column("order_id", sa.Uuid, nullable=False),
    sa.Column("product_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("sold_at", INSTANT, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("gross_minor", sa.BigInteger, nullable=False),
    sa.Column("locked_minor", sa.BigInteger, nullable=False),
    sa.Column("refunded_minor", sa.BigInteger, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("commission_minor", sa.BigInteger, nullable=False),
    sa.Column("net_minor", sa.BigInteger, nullable=False),
    sa.Column("variant_id", sa.Uuid),
    sa.CheckConstraint(
        "gross_minor = locked_minor + refunded_minor + delivery_fee_minor + commission_minor + net_minor",
        name="sale_lines_balanced",
    ),
    sa.Index("sale_lines_of_vendor", "vendor_id", "sold_at"),
    sa.Index("sale_lines_of_campus", "campus_id", "sold_at"),
    sa.Index("sale_lines_newest", "sold_at"),
)
