"""Products, flash sales, carts and reviews.

**`shelf` is a view with its owner's rights.** All its rows are public, so it bypasses the row policies of `products`:
under them PostgreSQL uses no index for operators that are not leakproof. It excludes drafts, removed products and
suspended vendors. Merchants write `products` under policies by vendor and column.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

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
    sa.CheckConstraint("currency = 'NGN'", name="products_currency_ngn"),
    sa.CheckConstraint("jsonb_array_length(images) <= 8", name="products_images_at_most_8"),
    sa.CheckConstraint("price_minor > 0", name="products_price_minor_positive"),
    sa.CheckConstraint("stock >= 0", name="products_stock_never_negative"),
    # A vendor's own products, with drafts and removed ones.
    sa.Index("products_own", "vendor_id", "created_at", "id"),
    # Read forwards and backwards: one index for both directions of a sort. Drafts are in no index of the shelf.
    sa.Index("products_newest", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_priced", "price_minor", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_vendor", "vendor_id", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_category", "category", "created_at", "id", postgresql_where=_LISTED),
    sa.Index("products_priced_of_category", "category", "price_minor", "id", postgresql_where=_LISTED),
    sa.Index("products_newest_of_campus", "campus_id", "created_at", "id", postgresql_where=_LISTED),
    # Without a list of pending entries, which each search would read through.
    sa.Index(
        "products_words",
        "words",
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=_LISTED,
    ),
    # Replaces `products_words`, which the version before uses.
    sa.Index(
        "products_terms",
        "terms",
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=_LISTED,
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
    sa.CheckConstraint(
        "(hidden_at IS NULL) = (hidden_by IS NULL) AND (hidden_at IS NULL) = (hidden_because IS NULL)",
        name="reviews_hidden_by_somebody_for_a_reason",
    ),
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
    sa.Index("reviews_hidden", "hidden_by", postgresql_where=sa.text("hidden_by IS NOT NULL")),
)
