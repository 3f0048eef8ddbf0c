"""Products that buyers saved, vendors that they follow, and the changes that savers are notified of (decision 149)."""

import sqlalchemy as sa

from orders.tables.metadata import INSTANT, metadata

sa.Table(
    "saved_products",
    metadata,
    sa.Column("buyer_id", sa.Uuid, primary_key=True),
    sa.Column("product_id", sa.Uuid, sa.ForeignKey("products.id", name="saved_products_product"), primary_key=True),
    sa.Column("saved_at", INSTANT, nullable=False),
    sa.Index("saved_products_newest", "buyer_id", "saved_at", "product_id"),
    # The savers of a product, in batches by their ids.
    sa.Index("saved_products_savers", "product_id", "buyer_id"),
)

sa.Table(
    "followed_vendors",
    metadata,
    sa.Column("buyer_id", sa.Uuid, primary_key=True),
    sa.Column("vendor_id", sa.Uuid, sa.ForeignKey("vendors.id", name="followed_vendors_vendor"), primary_key=True),
    sa.Column("followed_at", INSTANT, nullable=False),
    sa.Index("followed_vendors_newest", "buyer_id", "followed_at", "vendor_id"),
)

# A queue: a trigger on `products` inserts, the loop publishes in batches and deletes. `published_to` is the last buyer
# of the batch before.
sa.Table(
    "saved_product_changes",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True, server_default=sa.text("gen_random_uuid()")),
    sa.Column(
        "product_id", sa.Uuid, sa.ForeignKey("products.id", name="saved_product_changes_product"), nullable=False
    ),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("price_minor", sa.BigInteger, nullable=False),
    sa.Column("published_to", sa.Uuid),
    sa.CheckConstraint("kind IN ('back_in_stock', 'price_drop')", name="saved_product_changes_kind_known"),
)
