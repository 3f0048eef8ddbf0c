"""Carts, and sales of a limited quantity.

A cart is the lines that one buyer has put in it; nobody else sees or writes them. The units of a sale are counted on the sale's own
row, under its lock: by `take_sale_units` when an order is placed, which is all that a caller can do to them, and by the service when the
goods of an order go back on the shelf.
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_CARTS = (
    # Name, vendor and price as the buyer saw them: what is no longer sold is still shown, and a moved price is told.
    """
    CREATE TABLE cart_items (
        buyer_id uuid NOT NULL,
        product_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        name text NOT NULL,
        price_seen_minor bigint NOT NULL,
        quantity integer NOT NULL,
        added_at timestamptz NOT NULL,
        CONSTRAINT cart_items_pkey PRIMARY KEY (buyer_id, product_id),
        CONSTRAINT cart_items_quantity_1_to_99 CHECK (quantity BETWEEN 1 AND 99)
    )
    """,
)

_SALES = (
    """
    CREATE TABLE flash_sales (
        id uuid PRIMARY KEY,
        product_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        campus_id uuid NOT NULL,
        price_minor bigint NOT NULL,
        quantity integer NOT NULL,
        sold integer NOT NULL DEFAULT 0,
        per_buyer_limit integer NOT NULL,
        starts_at timestamptz NOT NULL,
        ends_at timestamptz NOT NULL,
        created_by uuid NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT flash_sales_product FOREIGN KEY (product_id) REFERENCES products (id),
        CONSTRAINT flash_sales_price_minor_positive CHECK (price_minor > 0),
        CONSTRAINT flash_sales_never_sold_out_twice CHECK (sold BETWEEN 0 AND quantity),
        CONSTRAINT flash_sales_limit_within_quantity CHECK (per_buyer_limit BETWEEN 1 AND quantity),
        CONSTRAINT flash_sales_end_after_their_start CHECK (ends_at >= starts_at)
    )
    """,
    "CREATE INDEX flash_sales_of_product ON flash_sales (product_id, ends_at)",
    "CREATE INDEX flash_sales_newest ON flash_sales (created_at, id)",
    """
    CREATE TABLE flash_sale_units (
        order_id uuid NOT NULL,
        sale_id uuid NOT NULL,
        buyer_id uuid NOT NULL,
        product_id uuid NOT NULL,
        quantity integer NOT NULL,
        returned boolean NOT NULL DEFAULT false,
        CONSTRAINT flash_sale_units_pkey PRIMARY KEY (order_id, sale_id),
        CONSTRAINT flash_sale_units_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT flash_sale_units_sale FOREIGN KEY (sale_id) REFERENCES flash_sales (id),
        CONSTRAINT flash_sale_units_quantity_1_to_99 CHECK (quantity BETWEEN 1 AND 99)
    )
    """,
    "CREATE INDEX flash_sale_units_of_buyer ON flash_sale_units (sale_id, buyer_id)",
)

# A product that never had a sale costs its readers nothing: only one that had is asked for its sales.
_SHELF = """
CREATE OR REPLACE VIEW shelf AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at{more}
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT vendors.id FROM vendors WHERE vendors.suspended)
"""
_MARK_PRODUCTS = (
    "ALTER TABLE products ADD has_sales boolean NOT NULL DEFAULT false",
    _SHELF.format(more=", has_sales"),
    """
    CREATE FUNCTION mark_product_with_sales() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    BEGIN
        UPDATE products SET has_sales = true WHERE id = NEW.product_id AND NOT has_sales;
        RETURN NULL;
    END
    $$
    """,
    "REVOKE EXECUTE ON FUNCTION mark_product_with_sales FROM public",
    """
    CREATE TRIGGER flash_sales_mark_their_product AFTER INSERT ON flash_sales
    FOR EACH ROW EXECUTE FUNCTION mark_product_with_sales()
    """,
)

# In PL/pgSQL, because each of its statements sees what was committed before it began: the buyer's units are counted after the
# sale's lock was won, not before. Sales are locked in the order of their ids. Only the buyer's own order of this transaction
# may take units: nobody can use up a sale, or another's share of it, without placing an order.
_TAKE_SALE_UNITS = """
CREATE FUNCTION take_sale_units(for_order uuid, sale_ids uuid[], quantities integer[], instant timestamptz)
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
        IF sale.id IS NULL OR sale.starts_at > instant OR sale.ends_at <= instant
            OR sale.sold + wanted.quantity > sale.quantity
            OR NOT EXISTS (
                SELECT FROM order_items AS item
                WHERE item.order_id = for_order AND item.product_id = sale.product_id AND item.quantity = wanted.quantity
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
"""

_KEEPER = """
    (vendor_id = app_vendor_id() AND app_may('catalog:own')) OR (campus_id = app_campus_id() AND app_may('campuses:manage'))
"""
_POLICIES = (
    "CREATE POLICY cart_items_of_the_buyer ON cart_items "
    "USING (buyer_id = app_user_id()) WITH CHECK (buyer_id = app_user_id())",
    "CREATE POLICY flash_sales_open_to_all ON flash_sales FOR SELECT USING (true)",
    f"CREATE POLICY flash_sales_begun_by_their_keeper ON flash_sales FOR INSERT WITH CHECK (({_KEEPER}) AND sold = 0 "
    "AND EXISTS (SELECT FROM products AS product WHERE product.id = product_id "
    "AND product.vendor_id = flash_sales.vendor_id AND product.campus_id = flash_sales.campus_id))",
    f"CREATE POLICY flash_sales_ended_by_their_keeper ON flash_sales FOR UPDATE USING ({_KEEPER})",
    "CREATE POLICY flash_sale_units_of_the_buyer ON flash_sale_units FOR SELECT USING (buyer_id = app_user_id())",
)


def upgrade() -> None:
    for statement in (*_CARTS, *_SALES, *_MARK_PRODUCTS, _TAKE_SALE_UNITS):
        op.execute(statement)
    op.execute("REVOKE EXECUTE ON FUNCTION take_sale_units FROM public")
    op.execute("GRANT EXECUTE ON FUNCTION take_sale_units TO campus_orders_api")
    grant_api_v1("orders", "cart_items", "SELECT, INSERT, UPDATE, DELETE")
    grant_api_v1("orders", "flash_sales", "SELECT, INSERT, UPDATE (ends_at)")
    grant_api_v1("orders", "flash_sale_units", "SELECT")
    for statement in _POLICIES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION take_sale_units")
    for table in ("flash_sale_units", "flash_sales", "cart_items"):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP FUNCTION mark_product_with_sales")
    op.execute("DROP VIEW shelf")
    op.execute("ALTER TABLE products DROP has_sales")
    op.execute(_SHELF.format(more=""))
    op.execute("GRANT SELECT ON shelf TO campus_orders_api")
