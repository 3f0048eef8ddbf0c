"""Add saved products, followed vendors, and the reply to a review."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_OF_BUYER = ("saved_products", "followed_vendors")
_RECORD_CHANGE = """
CREATE FUNCTION record_saved_product_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM saved_products WHERE product_id = NEW.id) THEN
        INSERT INTO saved_product_changes (product_id, kind, price_minor)
        SELECT NEW.id, change.kind, NEW.price_minor
        FROM (
            VALUES ('back_in_stock', OLD.stock = 0 AND NEW.stock > 0), ('price_drop', NEW.price_minor < OLD.price_minor)
        ) AS change (kind, happened)
        WHERE change.happened;
    END IF;
    RETURN NULL;
END
$$
"""
_ON_CHANGE = """
CREATE TRIGGER products_record_saved_change AFTER UPDATE OF stock, price_minor ON products
    FOR EACH ROW WHEN ((OLD.stock = 0 AND NEW.stock > 0) OR NEW.price_minor < OLD.price_minor)
    EXECUTE FUNCTION record_saved_product_change()
"""
_REPLIED_BY_VENDOR = """
CREATE POLICY reviews_replied_to_by_their_vendor ON reviews FOR UPDATE
    USING (vendor_id = app_vendor_id() AND app_may('catalog:own') AND hidden_at IS NULL AND replied_at IS NULL)
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('catalog:own') AND hidden_at IS NULL)
"""


def upgrade() -> None:
    op.create_table(
        "saved_products",
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("saved_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"], name="saved_products_product"),
        sa.PrimaryKeyConstraint("buyer_id", "product_id"),
    )
    op.create_index(
        "saved_products_newest", "saved_products", ["buyer_id", "saved_at", "product_id"], if_not_exists=True
    )
    op.create_index("saved_products_savers", "saved_products", ["product_id", "buyer_id"], if_not_exists=True)
    op.create_table(
        "followed_vendors",
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("followed_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="followed_vendors_vendor"),
        sa.PrimaryKeyConstraint("buyer_id", "vendor_id"),
    )
    op.create_index(
        "followed_vendors_newest", "followed_vendors", ["buyer_id", "followed_at", "vendor_id"], if_not_exists=True
    )
    op.create_table(
        "saved_product_changes",
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("price_minor", sa.BigInteger(), nullable=False),
        sa.Column("published_to", sa.Uuid(), nullable=True),
        sa.CheckConstraint("kind IN ('back_in_stock', 'price_drop')", name="saved_product_changes_kind_known"),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"], name="saved_product_changes_product"),
        sa.PrimaryKeyConstraint("id"),
    )
    for table in _OF_BUYER:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"GRANT SELECT, INSERT, DELETE ON {table} TO campus_orders_api")
        op.execute(
            f"CREATE POLICY {table}_of_the_buyer ON {table} "
            "USING (buyer_id = app_user_id()) WITH CHECK (buyer_id = app_user_id())"
        )
        op.execute(
            f"CREATE TRIGGER {table}_refuse_leaving_buyer AFTER INSERT ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer()"
        )
    op.execute(_RECORD_CHANGE)
    op.execute("REVOKE EXECUTE ON FUNCTION record_saved_product_change FROM public")
    op.execute(_ON_CHANGE)
    op.add_column("reviews", sa.Column("reply_text", sa.Text(), nullable=True))
    op.add_column("reviews", sa.Column("replied_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.execute(
        "ALTER TABLE reviews ADD CONSTRAINT reviews_reply_has_a_time "
        "CHECK ((reply_text IS NULL) = (replied_at IS NULL)) NOT VALID"
    )
    op.execute("GRANT UPDATE (reply_text, replied_at) ON reviews TO campus_orders_api")
    op.execute(_REPLIED_BY_VENDOR)


def downgrade() -> None:
    op.execute("DROP POLICY reviews_replied_to_by_their_vendor ON reviews")
    op.drop_constraint("reviews_reply_has_a_time", "reviews", type_="check")
    op.drop_column("reviews", "replied_at")
    op.drop_column("reviews", "reply_text")
    op.execute("DROP TRIGGER products_record_saved_change ON products")
    op.execute("DROP FUNCTION record_saved_product_change")
    for table in ("saved_product_changes", *reversed(_OF_BUYER)):
        op.drop_table(table)
