"""SQLAlchemy tables for `alembic check`. The migrations define their meaning and their row policies."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from common.database.tables import attach_media_cleanup_tables, attach_messaging_tables

metadata = sa.MetaData()
attach_messaging_tables(metadata)
attach_media_cleanup_tables(metadata)

_INSTANT = sa.TIMESTAMP(timezone=True)
_LISTED = sa.text("removed_at IS NULL AND NOT draft")

sa.Table(
    "products",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("vendor_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("price_minor", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("stock", sa.Integer, nullable=False),
    sa.Column("images", JSONB, nullable=False),
    sa.Column("rating_sum", sa.BigInteger, nullable=False),
    sa.Column("rating_count", sa.Integer, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column(
        "words",
        TSVECTOR,
        sa.Computed(
            "setweight(to_tsvector('english', plain(name)), 'A') || setweight(to_tsvector('english', plain(category)), 'B') || "
            "setweight(to_tsvector('english', plain(description)), 'D')",
            persisted=True,
        ),
    ),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.Column("removed_at", _INSTANT),
    sa.Column("draft", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("has_sales", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.CheckConstraint("jsonb_array_length(images) <= 8", name="products_images_at_most_8"),
    sa.CheckConstraint("price_minor > 0", name="products_price_minor_positive"),
    sa.CheckConstraint("stock >= 0", name="products_stock_never_negative"),
    sa.CheckConstraint("currency = 'NGN'", name="products_currency_ngn"),
    sa.Index("products_newest", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_priced", "price_minor", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_vendor", "vendor_id", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_category", "category", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_priced_of_category", "category", "price_minor", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_campus", "campus_id", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_words", "words", postgresql_using="gin", postgresql_where=_LISTED),
    sa.Index("products_own", "vendor_id", "created_at", "id"),
)

sa.Table(
    "search_words",
    metadata,
    sa.Column("word", sa.Text(collation="C"), primary_key=True),
    sa.Column("spellings", ARRAY(sa.Text), sa.Computed("spellings_of(word)", persisted=True), nullable=False),
    sa.Index("search_words_spelled", "spellings", postgresql_using="gin"),
)

sa.Table(
    "vendors",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("business_name", sa.Text, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("commission_basis_points", sa.Integer),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("suspended", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("standing_sequence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("rating_sum", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("rating_count", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("owner_user_id", sa.Uuid),
    sa.Index("vendors_suspended", "id", postgresql_where=sa.text("suspended")),
)

sa.Table(
    "campuses",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)

sa.Table(
    "hubs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("delivery_fee_minor", sa.BigInteger, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
)

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
    sa.Column("payment_due_at", _INSTANT, nullable=False),
    sa.Column("delivered_at", _INSTANT),
    sa.Column("idempotency_key", sa.Uuid, nullable=False),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("updated_at", _INSTANT, nullable=False),
    sa.Column("escrow_minor", sa.BigInteger, nullable=False),
    sa.Column("escrow_sequence", sa.BigInteger, nullable=False),
    sa.Column("return_due_at", _INSTANT),
    sa.UniqueConstraint("number", name="orders_number_once"),
    sa.UniqueConstraint("buyer_id", "idempotency_key", name="orders_idempotency_key_once_per_buyer"),
    sa.Index("orders_newest", "created_at", "id"),
    sa.Index("orders_newest_of_buyer", "buyer_id", "created_at", "id"),
    sa.Index("orders_newest_of_vendor", "vendor_id", "created_at", "id"),
    sa.Index("orders_newest_of_campus", "campus_id", "created_at", "id"),
    sa.Index("orders_dearest", "total_amount", "id"),
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
    sa.Index("order_items_of_order", "order_id", "position", unique=True),
)

sa.Table(
    "order_timers",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="order_timers_order"), primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("due_at", _INSTANT, nullable=False),
    sa.Index("order_timers_due", "due_at"),
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
    sa.Column("requested_at", _INSTANT, nullable=False),
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
    sa.Column("issued_at", _INSTANT, nullable=False),
    sa.Index("delivery_pins_oldest", "issued_at"),
)

sa.Table(
    "delivery_verifications",
    metadata,
    sa.Column("caller_id", sa.Uuid, primary_key=True),
    sa.Column("idempotency_key", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="delivery_verifications_order"), nullable=False),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("attempts_remaining", sa.Integer),
    sa.Column("tried_at", _INSTANT, nullable=False),
)

sa.Table(
    "order_disputes",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="order_disputes_order"), primary_key=True),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("details", sa.Text),
    sa.Column("raised_by", sa.Uuid),
    sa.Column("raised_at", _INSTANT, nullable=False),
    sa.Column("outcome", sa.Text),
    sa.Column("ended_at", _INSTANT),
    sa.Column("charge_outcome", sa.Text),
    sa.Column("charge_sequence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
)

sa.Table(
    "dispute_resolutions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="dispute_resolutions_order"), nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("refund_minor", sa.BigInteger, nullable=False),
    sa.Column("release_minor", sa.BigInteger),
    sa.Column("refund_id", sa.Uuid),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("prepared_by", sa.Uuid, nullable=False),
    sa.Column("prepared_at", _INSTANT, nullable=False),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", _INSTANT),
    sa.Index(
        "dispute_resolutions_one_prepared", "order_id", unique=True, postgresql_where=sa.text("status = 'prepared'")
    ),
    sa.Index(
        "dispute_resolutions_one_approved", "order_id", unique=True, postgresql_where=sa.text("status = 'approved'")
    ),
    sa.Index("dispute_resolutions_of_order", "order_id"),
    sa.Index("dispute_resolutions_newest", "prepared_at", "id"),
)

sa.Table(
    "return_requests",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="return_requests_order"), nullable=False),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("refund_minor", sa.BigInteger),
    sa.Column("refund_id", sa.Uuid),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decision_reason", sa.Text),
    sa.Column("decided_at", _INSTANT),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Index("return_requests_of_order", "order_id", "created_at", "id"),
    sa.Index("return_requests_of_buyer", "buyer_id"),
)

sa.Table(
    "return_request_items",
    metadata,
    sa.Column(
        "return_request_id",
        sa.Uuid,
        sa.ForeignKey("return_requests.id", name="return_request_items_request"),
        primary_key=True,
    ),
    sa.Column("item_id", sa.Uuid, sa.ForeignKey("order_items.id", name="return_request_items_item"), primary_key=True),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Index("return_request_items_of_item", "item_id"),
)

sa.Table(
    "reviews",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="reviews_order"), nullable=False),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("product_id", sa.Uuid),
    sa.Column("rating", sa.SmallInteger, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("hidden_at", _INSTANT),
    sa.Column("hidden_by", sa.Uuid),
    sa.Column("hidden_because", sa.Text),
    sa.CheckConstraint("rating BETWEEN 1 AND 5", name="reviews_rating_1_to_5"),
    sa.Index("reviews_one_of_the_vendor", "order_id", unique=True, postgresql_where=sa.text("product_id IS NULL")),
    sa.Index(
        "reviews_one_of_each_product",
        "order_id",
        "product_id",
        unique=True,
        postgresql_where=sa.text("product_id IS NOT NULL"),
    ),
    sa.Index(
        "reviews_newest_of_vendor", "vendor_id", "created_at", "id", postgresql_where=sa.text("product_id IS NULL")
    ),
    sa.Index(
        "reviews_newest_of_product",
        "product_id",
        "created_at",
        "id",
        postgresql_where=sa.text("product_id IS NOT NULL"),
    ),
    sa.Index("reviews_newest", "created_at", "id"),
    sa.Index("reviews_of_buyer", "buyer_id"),
)

sa.Table(
    "cart_items",
    metadata,
    sa.Column("buyer_id", sa.Uuid, primary_key=True),
    sa.Column("product_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("price_seen_minor", sa.BigInteger, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("added_at", _INSTANT, nullable=False),
    sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="cart_items_quantity_1_to_99"),
)

sa.Table(
    "flash_sales",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("product_id", sa.Uuid, sa.ForeignKey("products.id", name="flash_sales_product"), nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("price_minor", sa.BigInteger, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("sold", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("per_buyer_limit", sa.Integer, nullable=False),
    sa.Column("starts_at", _INSTANT, nullable=False),
    sa.Column("ends_at", _INSTANT, nullable=False),
    sa.Column("created_by", sa.Uuid, nullable=False),
    sa.Column("created_at", _INSTANT, nullable=False),
    sa.Column("approved_at", _INSTANT),
    sa.Column("approved_by", sa.Uuid),
    sa.CheckConstraint("price_minor > 0", name="flash_sales_price_minor_positive"),
    sa.CheckConstraint("sold BETWEEN 0 AND quantity", name="flash_sales_never_sold_out_twice"),
    sa.CheckConstraint("per_buyer_limit BETWEEN 1 AND quantity", name="flash_sales_limit_within_quantity"),
    sa.CheckConstraint("ends_at >= starts_at", name="flash_sales_end_after_their_start"),
    sa.CheckConstraint("sold = 0 OR approved_at IS NOT NULL", name="flash_sales_sold_with_consent"),
    sa.Index("flash_sales_of_product", "product_id", "ends_at"),
    sa.Index("flash_sales_newest", "created_at", "id"),
)

sa.Table(
    "flash_sale_units",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="flash_sale_units_order"), primary_key=True),
    sa.Column("sale_id", sa.Uuid, sa.ForeignKey("flash_sales.id", name="flash_sale_units_sale"), primary_key=True),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("product_id", sa.Uuid, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("returned", sa.Boolean, nullable=False, server_default=sa.text("false")),
    sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="flash_sale_units_quantity_1_to_99"),
    sa.Index("flash_sale_units_of_buyer", "sale_id", "buyer_id"),
)

sa.Table(
    "leaving_people",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid),
    sa.Column("standing", sa.Text, nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.CheckConstraint("standing IN ('stays', 'leaves', 'gone')", name="leaving_people_standing_known"),
    sa.Index("leaving_people_vendor", "vendor_id", postgresql_where=sa.text("vendor_id IS NOT NULL")),
)

sa.Table(
    "buyer_addresses",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    sa.Column("email_hash", sa.LargeBinary),
    sa.Column("phone_hash", sa.LargeBinary),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Index("buyer_addresses_email", "email_hash", postgresql_where=sa.text("email_hash IS NOT NULL")),
    sa.Index("buyer_addresses_phone", "phone_hash", postgresql_where=sa.text("phone_hash IS NOT NULL")),
)

sa.Table(
    "hash_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_encrypted", sa.Text, nullable=False),
)
