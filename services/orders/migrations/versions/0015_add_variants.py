"""Add variants."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"

_RIGHTS_AND_RULES = (
    "ALTER TABLE product_variants ENABLE ROW LEVEL SECURITY",
    """
GRANT SELECT, INSERT, DELETE, UPDATE (position, sku, option_values, price_minor, stock, image_id, active)
ON product_variants TO campus_orders_api
""",
    """
CREATE POLICY product_variants_with_their_product ON product_variants FOR SELECT
    USING (EXISTS (SELECT FROM products WHERE products.id = product_variants.product_id))
""",
    """
CREATE POLICY product_variants_written_by_their_vendor ON product_variants
    USING (
        app_may('catalog:own')
        AND EXISTS (
            SELECT FROM products
            WHERE products.id = product_variants.product_id
              AND products.vendor_id = app_vendor_id()
        )
    )
""",
    """
CREATE FUNCTION refuse_other_totals() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed uuid;
BEGIN
    IF TG_TABLE_NAME = 'products' THEN
        changed := NEW.id;
    ELSIF TG_OP = 'DELETE' THEN
        changed := OLD.product_id;
    ELSE
        changed := NEW.product_id;
    END IF;
    IF EXISTS (
        SELECT FROM products AS product CROSS JOIN LATERAL (
            SELECT min(variant.price_minor) AS price_minor, sum(variant.stock) AS stock FROM product_variants AS variant
            WHERE variant.product_id = product.id AND variant.active
        ) AS active
        WHERE product.id = changed AND CASE WHEN product.options = '[]' THEN active.stock IS NOT NULL
            ELSE (product.price_minor, product.stock) IS DISTINCT FROM (active.price_minor, active.stock) END
    ) THEN
        RAISE EXCEPTION 'the price and the stock of product % are not those of its variants', changed
            USING ERRCODE = 'check_violation', CONSTRAINT = 'products_match_their_variants';
    END IF;
    RETURN NULL;
END
$$
""",
    "REVOKE EXECUTE ON FUNCTION refuse_other_totals FROM public",
    """
CREATE CONSTRAINT TRIGGER products_match_their_variants AFTER INSERT OR UPDATE ON products
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.options <> '[]') EXECUTE FUNCTION refuse_other_totals()
""",
    """
CREATE CONSTRAINT TRIGGER product_variants_match_their_product AFTER INSERT OR UPDATE OR DELETE ON product_variants
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_other_totals()
""",
    """
CREATE FUNCTION reserve_variants(product_ids uuid[], variant_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH lines AS MATERIALIZED (
        SELECT * FROM unnest(product_ids, variant_ids, quantities, prices_minor)
            AS line (product_id, variant_id, quantity, price_minor)
    ), wanted AS MATERIALIZED (
        SELECT lines.product_id AS id, sum(lines.quantity)::integer AS quantity, min(lines.quantity) AS quantity_min,
               min(lines.price_minor) AS price_minor, count(lines.variant_id) AS variants
        FROM lines GROUP BY lines.product_id
    ), locked AS MATERIALIZED (
        SELECT product.id, wanted.quantity
        FROM wanted JOIN products AS product ON product.id = wanted.id
        WHERE wanted.quantity_min > 0 AND product.stock >= wanted.quantity AND product.removed_at IS NULL AND NOT product.draft
          AND CASE WHEN wanted.variants = 0 THEN product.options = '[]' AND product.price_minor = wanted.price_minor
              ELSE product.options <> '[]' END
        ORDER BY product.id FOR NO KEY UPDATE OF product
    ), locked_variants AS MATERIALIZED (
        SELECT variant.id, lines.quantity
        FROM locked JOIN lines ON lines.product_id = locked.id
        JOIN product_variants AS variant ON variant.id = lines.variant_id AND variant.product_id = lines.product_id
        WHERE variant.active AND variant.stock >= lines.quantity AND variant.price_minor = lines.price_minor
        ORDER BY variant.id FOR NO KEY UPDATE OF variant
    ), complete AS MATERIALIZED (
        SELECT (SELECT count(*) FROM locked) = (SELECT count(*) FROM wanted)
           AND (SELECT count(*) FROM locked_variants) = (SELECT count(*) FROM lines WHERE lines.variant_id IS NOT NULL) AS holds
    ), reserved AS (
        UPDATE product_variants AS variant SET stock = variant.stock - locked_variants.quantity
        FROM locked_variants, complete WHERE variant.id = locked_variants.id AND complete.holds
    )
    UPDATE products AS product SET stock = product.stock - locked.quantity, revision = product.revision + 1
    FROM locked, complete
    WHERE product.id = locked.id AND complete.holds
    RETURNING product.id, product.stock
$$
""",
    "REVOKE EXECUTE ON FUNCTION reserve_variants FROM public",
    "GRANT EXECUTE ON FUNCTION reserve_variants TO campus_orders_api",
    """
CREATE OR REPLACE FUNCTION reserve_stock(product_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT * FROM reserve_variants(product_ids, array_fill(NULL::uuid, ARRAY[cardinality(product_ids)]), quantities, prices_minor)
$$
""",
    """
CREATE OR REPLACE FUNCTION take_sale_units(for_order uuid, sale_ids uuid[], quantities integer[], instant timestamptz)
RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    wanted record;
    sale flash_sales;
    buyer uuid;
BEGIN
    SELECT buyer_id INTO buyer FROM orders WHERE id = for_order AND buyer_id = app_user_id() AND status = 'Processing';
    IF buyer IS NULL THEN
        RETURN false;
    END IF;
    FOR wanted IN SELECT id, quantity FROM unnest(sale_ids, quantities) AS line (id, quantity) ORDER BY id LOOP
        SELECT * INTO sale FROM flash_sales WHERE id = wanted.id FOR UPDATE;
        IF sale.id IS NULL OR sale.approved_at IS NULL OR sale.starts_at > instant OR sale.ends_at <= instant
            OR sale.sold + wanted.quantity > sale.quantity
            OR NOT EXISTS (
                SELECT FROM order_items AS item
                WHERE item.order_id = for_order AND item.product_id = sale.product_id
                  AND item.variant_id IS NOT DISTINCT FROM sale.variant_id AND item.quantity = wanted.quantity
            )
            OR wanted.quantity > sale.per_buyer_limit - (
                SELECT coalesce(sum(units.quantity), 0) FROM flash_sale_units AS units
                WHERE units.sale_id = sale.id AND units.buyer_id = buyer AND NOT units.returned
            )
        THEN
            RETURN false;
        END IF;
        INSERT INTO flash_sale_units (order_id, sale_id, buyer_id, product_id, quantity)
        VALUES (for_order, sale.id, buyer, sale.product_id, wanted.quantity);
        UPDATE flash_sales SET sold = sold + wanted.quantity WHERE id = sale.id;
    END LOOP;
    RETURN true;
END
$$
""",
    "ALTER TABLE cart_variants ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON cart_variants TO campus_orders_api",
    """
CREATE POLICY cart_variants_of_the_buyer ON cart_variants
    USING (buyer_id = app_user_id())
    WITH CHECK (buyer_id = app_user_id())
""",
    """
CREATE TRIGGER cart_variants_refuse_leaving_buyer AFTER INSERT ON cart_variants
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer()
""",
    "GRANT INSERT (options, condition), UPDATE (options, condition, variant_terms) ON products TO campus_orders_api",
    """
CREATE OR REPLACE VIEW listed_products AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, coalesce(variant_terms, terms) AS terms, options,
       condition
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
""",
    "CREATE OR REPLACE VIEW shelf AS SELECT * FROM listed_products",
    """
ALTER TABLE products ADD CONSTRAINT products_condition_known
CHECK (condition IN ('new', 'like_new', 'good', 'fair')) NOT VALID
""",
    "ALTER TABLE products ADD CONSTRAINT products_options_at_most_3 CHECK (jsonb_array_length(options) <= 3) NOT VALID",
)
_EARLIER = (
    "ALTER TABLE products DROP CONSTRAINT products_options_at_most_3",
    "ALTER TABLE products DROP CONSTRAINT products_condition_known",
    "DROP VIEW shelf",
    "DROP VIEW listed_products",
    """
CREATE VIEW listed_products AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, terms
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended)
""",
    "GRANT SELECT ON listed_products TO campus_orders_api",
    "CREATE VIEW shelf AS SELECT * FROM listed_products",
    "GRANT SELECT ON shelf TO campus_orders_api",
    """
CREATE OR REPLACE FUNCTION take_sale_units(for_order uuid, sale_ids uuid[], quantities integer[], instant timestamptz)
RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    wanted record;
    sale flash_sales;
    buyer uuid;
BEGIN
    SELECT buyer_id INTO buyer FROM orders WHERE id = for_order AND buyer_id = app_user_id() AND status = 'Processing';
    IF buyer IS NULL THEN
        RETURN false;
    END IF;
    FOR wanted IN SELECT id, quantity FROM unnest(sale_ids, quantities) AS line (id, quantity) ORDER BY id LOOP
        SELECT * INTO sale FROM flash_sales WHERE id = wanted.id FOR UPDATE;
        IF sale.id IS NULL OR sale.approved_at IS NULL OR sale.starts_at > instant OR sale.ends_at <= instant
            OR sale.sold + wanted.quantity > sale.quantity
            OR NOT EXISTS (
                SELECT FROM order_items AS item
                WHERE item.order_id = for_order AND item.product_id = sale.product_id
                  AND item.quantity = wanted.quantity
            )
            OR wanted.quantity > sale.per_buyer_limit - (
                SELECT coalesce(sum(units.quantity), 0) FROM flash_sale_units AS units
                WHERE units.sale_id = sale.id AND units.buyer_id = buyer AND NOT units.returned
            )
        THEN
            RETURN false;
        END IF;
        INSERT INTO flash_sale_units (order_id, sale_id, buyer_id, product_id, quantity)
        VALUES (for_order, sale.id, buyer, sale.product_id, wanted.quantity);
        UPDATE flash_sales SET sold = sold + wanted.quantity WHERE id = sale.id;
    END LOOP;
    RETURN true;
END
$$
""",
    """
CREATE OR REPLACE FUNCTION reserve_stock(product_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH locked AS MATERIALIZED (
        SELECT product.id, wanted.quantity
        FROM unnest(product_ids, quantities, prices_minor) AS wanted (id, quantity, price_minor)
        JOIN products AS product ON product.id = wanted.id
        WHERE wanted.quantity > 0 AND product.stock >= wanted.quantity
          AND product.price_minor = wanted.price_minor AND product.removed_at IS NULL AND NOT product.draft
        ORDER BY product.id FOR NO KEY UPDATE OF product
    )
    UPDATE products AS product SET stock = product.stock - locked.quantity, revision = product.revision + 1
    FROM locked
    WHERE product.id = locked.id AND (SELECT count(*) FROM locked) = cardinality(product_ids)
    RETURNING product.id, product.stock
$$
""",
    "DROP FUNCTION reserve_variants",
    "DROP TRIGGER products_match_their_variants ON products",
    "DROP TRIGGER product_variants_match_their_product ON product_variants",
    "DROP FUNCTION refuse_other_totals",
)


def upgrade() -> None:
    op.create_table(
        "cart_variants",
        sa.Column("buyer_id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("variant_id", sa.Uuid(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("price_seen_minor", sa.BigInteger(), nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint("quantity BETWEEN 1 AND 99", name="cart_variants_quantity_1_to_99"),
        sa.PrimaryKeyConstraint("buyer_id", "product_id", "variant_id"),
    )
    op.add_column(
        "products",
        sa.Column("options", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
    )
    op.add_column("products", sa.Column("condition", sa.Text(), server_default=sa.text("'new'"), nullable=False))
    op.add_column("products", sa.Column("variant_terms", postgresql.TSVECTOR(), nullable=True))
    op.create_table(
        "product_variants",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=True),
        sa.Column("sku", sa.Text(), nullable=True),
        sa.Column("option_values", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("price_minor", sa.BigInteger(), nullable=False),
        sa.Column("stock", sa.Integer(), nullable=False),
        sa.Column("image_id", sa.Uuid(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.CheckConstraint("jsonb_array_length(option_values) BETWEEN 1 AND 3", name="product_variants_options_1_to_3"),
        sa.CheckConstraint("position BETWEEN 0 AND 99", name="product_variants_at_most_100"),
        sa.CheckConstraint("position IS NOT NULL OR NOT active", name="product_variants_active_with_a_position"),
        sa.CheckConstraint("price_minor > 0", name="product_variants_price_minor_positive"),
        sa.CheckConstraint("stock >= 0", name="product_variants_stock_never_negative"),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"], name="product_variants_product"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "product_variants_distinct",
        "product_variants",
        ["product_id", "option_values"],
        unique=True,
        postgresql_where=sa.text("position IS NOT NULL"),
        if_not_exists=True,
    )
    op.create_index(
        "product_variants_of_product", "product_variants", ["product_id", "position"], unique=True, if_not_exists=True
    )
    op.create_index(
        "product_variants_sku_once",
        "product_variants",
        ["product_id", "sku"],
        unique=True,
        postgresql_where=sa.text("position IS NOT NULL AND sku IS NOT NULL"),
        if_not_exists=True,
    )
    op.add_column("flash_sales", sa.Column("variant_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        "flash_sales_variant", "flash_sales", "product_variants", ["variant_id"], ["id"], postgresql_not_valid=True
    )
    op.add_column("order_items", sa.Column("variant_id", sa.Uuid(), nullable=True))
    op.create_index(
        "order_items_of_variant",
        "order_items",
        ["variant_id"],
        unique=False,
        postgresql_where=sa.text("variant_id IS NOT NULL"),
        if_not_exists=True,
    )
    op.create_foreign_key(
        "order_items_variant", "order_items", "product_variants", ["variant_id"], ["id"], postgresql_not_valid=True
    )
    op.create_index(
        "products_all_terms",
        "products",
        [sa.literal_column("coalesce(variant_terms, terms)")],
        unique=False,
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=sa.text("removed_at IS NULL AND NOT draft"),
        if_not_exists=True,
    )
    op.add_column("sale_lines", sa.Column("variant_id", sa.Uuid(), nullable=True))
    for statement in _RIGHTS_AND_RULES:
        op.execute(statement)


def downgrade() -> None:
    for statement in _EARLIER:
        op.execute(statement)
    op.drop_column("sale_lines", "variant_id")
    op.drop_index(
        "products_all_terms",
        table_name="products",
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=sa.text("removed_at IS NULL AND NOT draft"),
    )
    op.drop_column("products", "variant_terms")
    op.drop_column("products", "condition")
    op.drop_column("products", "options")
    op.drop_constraint("order_items_variant", "order_items", type_="foreignkey")
    op.drop_index(
        "order_items_of_variant", table_name="order_items", postgresql_where=sa.text("variant_id IS NOT NULL")
    )
    op.drop_column("order_items", "variant_id")
    op.drop_constraint("flash_sales_variant", "flash_sales", type_="foreignkey")
    op.drop_column("flash_sales", "variant_id")
    op.drop_index(
        "product_variants_sku_once",
        table_name="product_variants",
        postgresql_where=sa.text("position IS NOT NULL AND sku IS NOT NULL"),
    )
    op.drop_index("product_variants_of_product", table_name="product_variants")
    op.drop_index(
        "product_variants_distinct", table_name="product_variants", postgresql_where=sa.text("position IS NOT NULL")
    )
    op.drop_table("product_variants")
    op.drop_table("cart_variants")
