"""Products, flash sales, carts and reviews.

**`listed_products` is a view with its owner's rights.** All its rows are public, so it bypasses the row policies of
`products`: under them PostgreSQL uses no index for operators that are not leakproof. It excludes drafts, removed
products and suspended vendors. Merchants write `products` under policies by vendor and column.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from common.database.tables import known
from orders.domain.products import Condition
from orders.domain.reports import ReportOutcome, SubjectKind
from orders.tables.metadata import INSTANT, metadata

_LISTED = sa.text("removed_at IS NULL AND NOT draft")

# `words` weighs the name (A) above the category (B) and the description (D).
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
    sa.Column("currency", sa.Text, nullable=False, server_default=sa.text("'NGN'")),
    sa.Column("stock", sa.Integer, nullable=False),
    sa.Column("images", JSONB, nullable=False, server_default=sa.text("'[]'")),
    sa.Column("rating_sum", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("rating_count", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("revision", sa.Integer, nullable=False, server_default=sa.text("1")),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("updated_at", INSTANT, nullable=False),
    sa.Column("removed_at", INSTANT),
    sa.Column("draft", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("has_sales", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("options", JSONB, nullable=False, server_default=sa.text("'[]'")),
    sa.Column("condition", sa.Text, nullable=False, server_default=sa.text("'new'")),
    # `name_terms` and the words of the variants; null without variants.
    sa.Column("variant_terms", TSVECTOR),
    sa.Column("hidden_at", INSTANT),
    sa.Column("hidden_because", sa.Text),
    sa.Column(
        "words",
        TSVECTOR,
        sa.Computed(
            "setweight(to_tsvector('english', plain(name)), 'A') || setweight(to_tsvector('english', "
            "plain(category)), 'B') || setweight(to_tsvector('english', plain(description)), 'D')",
            persisted=True,
        ),
    ),
    sa.Column(
        "terms",
        TSVECTOR,
        sa.Computed(
            "setweight(to_tsvector('every_word', search_text(name)), 'A') || setweight(to_tsvector('every_word', "
            "search_text(category)), 'B') || setweight(to_tsvector('every_word', search_text(description)), 'D')",
            persisted=True,
        ),
    ),
    # Of a product without variants, by which an import finds it.
    sa.Column("sku", sa.Text),
    # Replaces `terms`, which the version before writes to `variant_terms`.
    sa.Column(
        "name_terms",
        TSVECTOR,
        sa.Computed(
            "setweight(to_tsvector('every_word', joined_text(name)), 'A') || setweight(to_tsvector('every_word', "
            "search_text(category)), 'B') || setweight(to_tsvector('every_word', search_text(description)), 'D')",
            persisted=True,
        ),
    ),
    sa.CheckConstraint("currency = 'NGN'", name="products_currency_ngn"),
    known("products", "condition", Condition),
    sa.CheckConstraint("(hidden_at IS NULL) = (hidden_because IS NULL)", name="products_hidden_for_a_reason"),
    sa.CheckConstraint("jsonb_array_length(images) <= 8", name="products_images_at_most_8"),
    sa.CheckConstraint("jsonb_array_length(options) <= 3", name="products_options_at_most_3"),
    sa.CheckConstraint("price_minor > 0", name="products_price_minor_positive"),
    sa.CheckConstraint("stock >= 0", name="products_stock_never_negative"),
    sa.Index(
        "products_sku_once",
        "vendor_id",
        "sku",
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL AND sku IS NOT NULL"),
    ),
    # A vendor's own products, with drafts and removed ones.
    sa.Index("products_own", "vendor_id", "created_at", "id"),
    # Read forwards and backwards: one index for both directions of a sort. Drafts are in no index of listed products.
    sa.Index("products_newest", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_priced", "price_minor", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_vendor", "vendor_id", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_category", "category", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_priced_of_category", "category", "price_minor", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_campus", "campus_id", "created_at", "id", postgresql_where=_LISTED),
    # The view's `terms`. Without a list of pending entries, which each search would read through.
    sa.Index(
        "products_name_terms",
        sa.text("coalesce(variant_terms, name_terms)"),
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=_LISTED,
    ),
)

# `option_values` are pairs of option and value, in the sequence of the product's options. A variant without a position
# is no longer the vendor's choice, but orders refer to it. Every change is made under the lock of the product's row,
# whose price and stock are those of its active variants.
sa.Table(
    "product_variants",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("product_id", sa.Uuid, sa.ForeignKey("products.id", name="product_variants_product"), nullable=False),
    sa.Column("position", sa.SmallInteger),
    sa.Column("sku", sa.Text),
    sa.Column("option_values", JSONB, nullable=False),
    sa.Column("price_minor", sa.BigInteger, nullable=False),
    sa.Column("stock", sa.Integer, nullable=False),
    sa.Column("image_id", sa.Uuid),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.CheckConstraint("jsonb_array_length(option_values) BETWEEN 1 AND 3", name="product_variants_options_1_to_3"),
    sa.CheckConstraint("position BETWEEN 0 AND 99", name="product_variants_at_most_100"),
    sa.CheckConstraint("position IS NOT NULL OR NOT active", name="product_variants_active_with_a_position"),
    sa.CheckConstraint("price_minor > 0", name="product_variants_price_minor_positive"),
    sa.CheckConstraint("stock >= 0", name="product_variants_stock_never_negative"),
    sa.Index("product_variants_of_product", "product_id", "position", unique=True),
    sa.Index(
        "product_variants_distinct",
        "product_id",
        "option_values",
        unique=True,
        postgresql_where=sa.text("position IS NOT NULL"),
    ),
    sa.Index(
        "product_variants_sku_once",
        "product_id",
        "sku",
        unique=True,
        postgresql_where=sa.text("position IS NOT NULL AND sku IS NOT NULL"),
    ),
)

# Typo tolerance without an extension: a word's spellings leave out one letter each. Two words with a common spelling
# are one typo apart.
sa.Table(
    "search_words",
    metadata,
    sa.Column("word", sa.Text(collation="C"), primary_key=True),
    sa.Column("spellings", ARRAY(sa.Text), sa.Computed("spellings_of(word)", persisted=True), nullable=False),
    sa.Index("search_words_spelled", "spellings", postgresql_using="gin", postgresql_with={"fastupdate": "off"}),
)

# Units are counted on the sale's row, under its lock. A sale proposed by campus staff needs the vendor's consent.
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
    sa.Column("starts_at", INSTANT, nullable=False),
    sa.Column("ends_at", INSTANT, nullable=False),
    sa.Column("created_by", sa.Uuid, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("approved_at", INSTANT),
    sa.Column("approved_by", sa.Uuid),
    sa.Column("variant_id", sa.Uuid, sa.ForeignKey("product_variants.id", name="flash_sales_variant")),
    sa.CheckConstraint("ends_at >= starts_at", name="flash_sales_end_after_their_start"),
    sa.CheckConstraint("per_buyer_limit BETWEEN 1 AND quantity", name="flash_sales_limit_within_quantity"),
    sa.CheckConstraint("sold BETWEEN 0 AND quantity", name="flash_sales_never_sold_out_twice"),
    sa.CheckConstraint("price_minor > 0", name="flash_sales_price_minor_positive"),
    sa.CheckConstraint("sold = 0 OR approved_at IS NOT NULL", name="flash_sales_sold_with_consent"),
    sa.Index("flash_sales_of_product", "product_id", "ends_at"),
    sa.Index("flash_sales_newest", "created_at", "id"),
    sa.Index("flash_sales_prepared", "vendor_id", "created_at", "id", postgresql_where=sa.text("approved_at IS NULL")),
)

sa.Table(
    "flash_sale_units",
    metadata,
    sa.Column("order_id", sa.Uuid, sa.ForeignKey("orders.id", name="flash_sale_units_order"), primary_key=True),
    sa.Column("sale_id", sa.Uuid, sa.ForeignKey("flash_sales.id", name="flash_sale_units_sale"), primary_key=True),
    sa.Column("buyer_id", sa.Uuid, nullable=False),
    sa.Column("product_id", sa.Uuid, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("returned", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="flash_sale_units_quantity_1_to_99"),
    sa.Index("flash_sale_units_of_buyer", "sale_id", "buyer_id"),
)

# Name, vendor and price as the buyer saw them: shows what is no longer sold and a changed price.
sa.Table(
    "cart_items",
    metadata,
    sa.Column("buyer_id", sa.Uuid, primary_key=True),
    sa.Column("product_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("price_seen_minor", sa.BigInteger, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("added_at", INSTANT, nullable=False),
    sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="cart_items_quantity_1_to_99"),
    sa.Index("cart_items_oldest", "added_at"),
)

# The lines of products with variants. `cart_items` has one line for each product, which the version before relies on.
sa.Table(
    "cart_variants",
    metadata,
    sa.Column("buyer_id", sa.Uuid, primary_key=True),
    sa.Column("product_id", sa.Uuid, primary_key=True),
    sa.Column("variant_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("price_seen_minor", sa.BigInteger, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
    sa.Column("added_at", INSTANT, nullable=False),
    sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="cart_variants_quantity_1_to_99"),
    sa.Index("cart_variants_oldest", "added_at"),
)

# The buyer of a delivered order reviews its vendor and each of its products once.
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
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("hidden_at", INSTANT),
    sa.Column("hidden_by", sa.Uuid),
    sa.Column("hidden_because", sa.Text),
    sa.Column("reply_text", sa.Text),
    sa.Column("replied_at", INSTANT),
    sa.CheckConstraint(
        "(hidden_at IS NULL) = (hidden_by IS NULL) AND (hidden_at IS NULL) = (hidden_because IS NULL)",
        name="reviews_hidden_by_somebody_for_a_reason",
    ),
    sa.CheckConstraint("rating BETWEEN 1 AND 5", name="reviews_rating_1_to_5"),
    sa.CheckConstraint("(reply_text IS NULL) = (replied_at IS NULL)", name="reviews_reply_has_a_time"),
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
    sa.Index("reviews_hidden", "hidden_by", postgresql_where=sa.text("hidden_by IS NOT NULL")),
)

# Products that a campus admin hid from buyers, with the end of it. A product has one open takedown.
sa.Table(
    "product_takedowns",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("product_id", sa.Uuid, sa.ForeignKey("products.id", name="product_takedowns_product"), nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("delisted_by", sa.Uuid, nullable=False),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("restored_by", sa.Uuid),
    sa.Column("restored_at", INSTANT),
    sa.Column("restored_because", sa.Text),
    sa.CheckConstraint(
        "num_nonnulls(restored_by, restored_at, restored_because) IN (0, 3)", name="product_takedowns_restored_once"
    ),
    sa.Index("product_takedowns_one_open", "product_id", unique=True, postgresql_where=sa.text("restored_at IS NULL")),
    sa.Index("product_takedowns_of_product", "product_id"),
    sa.Index("product_takedowns_of_campus", "campus_id", "created_at", "id"),
    sa.Index("product_takedowns_newest", "created_at", "id"),
    sa.Index("product_takedowns_by", "delisted_by"),
    sa.Index("product_takedowns_restored_by", "restored_by", postgresql_where=sa.text("restored_by IS NOT NULL")),
)

# What users report to staff. A reporter has one open report of a subject. The vendor and its campus are those of the
# subject.
sa.Table(
    "reports",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("reporter_id", sa.Uuid, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("subject_id", sa.Uuid, nullable=False),
    sa.Column("vendor_id", sa.Uuid, nullable=False),
    sa.Column("campus_id", sa.Uuid, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("details", sa.Text),
    sa.Column("created_at", INSTANT, nullable=False),
    sa.Column("outcome", sa.Text),
    sa.Column("decided_by", sa.Uuid),
    sa.Column("decided_at", INSTANT),
    known("reports", "kind", SubjectKind),
    known("reports", "outcome", ReportOutcome),
    sa.CheckConstraint(
        "(outcome IS NULL) = (decided_by IS NULL) AND (outcome IS NULL) = (decided_at IS NULL)",
        name="reports_decided_once",
    ),
    sa.CheckConstraint("decided_by <> reporter_id", name="reports_decided_by_another_person"),
    sa.Index(
        "reports_one_open",
        "reporter_id",
        "kind",
        "subject_id",
        unique=True,
        postgresql_where=sa.text("outcome IS NULL"),
    ),
    sa.Index("reports_of_subject", "kind", "subject_id"),
    sa.Index("reports_newest", "created_at", "id"),
    sa.Index("reports_newest_of_campus", "campus_id", "created_at", "id"),
    sa.Index("reports_waiting", "created_at", postgresql_where=sa.text("outcome IS NULL")),
)
