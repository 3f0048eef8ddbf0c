"""A flash sale of campus staff waits for the vendor's consent; nobody buys from or reviews a vendor that they own.

Sales that exist already count as approved. The owner of a vendor is known from the vendor's next event on.

Revision ID: 0013
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_VENDOR = "vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('catalog:own'))"
_STAFF = "campus_id = (SELECT app_campus_id()) AND (SELECT app_may('flash_sales:propose'))"
_OWN_PRODUCT = (
    "EXISTS (SELECT FROM products AS product WHERE product.id = product_id "
    "AND product.vendor_id = flash_sales.vendor_id AND product.campus_id = flash_sales.campus_id)"
)
_KEEPER_BEFORE = "(vendor_id = app_vendor_id() AND app_may('catalog:own')) OR (campus_id = app_campus_id() AND app_may('campuses:manage'))"
# A token may name the vendor, or be older than the vendor: both are compared.
_NOT_OWN_VENDOR = """
    vendor_id IS DISTINCT FROM (SELECT app_vendor_id())
    AND NOT EXISTS (SELECT FROM vendors AS known WHERE known.id = {table}.vendor_id AND known.owner_user_id = (SELECT app_user_id()))
"""

# As in 0005, and only a sale that has the vendor's consent gives units.
_TAKE_SALE_UNITS = """
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
        IF sale.id IS NULL{unless} OR sale.starts_at > instant OR sale.ends_at <= instant
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


def upgrade() -> None:
    op.execute("ALTER TABLE flash_sales ADD COLUMN approved_at timestamptz DEFAULT now(), ADD COLUMN approved_by uuid")
    op.execute("ALTER TABLE flash_sales ALTER COLUMN approved_at DROP DEFAULT")
    op.execute(
        "ALTER TABLE flash_sales ADD CONSTRAINT flash_sales_sold_with_consent CHECK (sold = 0 OR approved_at IS NOT NULL)"
    )
    op.execute(_TAKE_SALE_UNITS.format(unless=" OR sale.approved_at IS NULL"))
    op.execute("DROP POLICY flash_sales_open_to_all ON flash_sales")
    op.execute(
        "CREATE POLICY flash_sales_open_to_all_once_approved ON flash_sales FOR SELECT "
        f"USING (approved_at IS NOT NULL OR ({_VENDOR}) OR ({_STAFF}))"
    )
    op.execute("DROP POLICY flash_sales_begun_by_their_keeper ON flash_sales")
    op.execute(
        "CREATE POLICY flash_sales_begun_by_their_vendor ON flash_sales FOR INSERT "
        f"WITH CHECK (({_VENDOR}) AND sold = 0 AND {_OWN_PRODUCT})"
    )
    op.execute(
        "CREATE POLICY flash_sales_proposed_by_campus_staff ON flash_sales FOR INSERT "
        f"WITH CHECK (({_STAFF}) AND sold = 0 AND approved_at IS NULL AND approved_by IS NULL AND {_OWN_PRODUCT})"
    )
    op.execute(f"ALTER POLICY flash_sales_ended_by_their_keeper ON flash_sales USING (({_VENDOR}) OR ({_STAFF}))")
    op.execute("ALTER TABLE vendors ADD COLUMN owner_user_id uuid")
    for table in ("orders", "reviews"):
        op.execute(
            f"CREATE POLICY {table}_never_of_ones_own_vendor ON {table} AS RESTRICTIVE FOR INSERT "
            f"WITH CHECK ({_NOT_OWN_VENDOR.format(table=table)})"
        )


def downgrade() -> None:
    for table in ("orders", "reviews"):
        op.execute(f"DROP POLICY {table}_never_of_ones_own_vendor ON {table}")
    op.execute("ALTER TABLE vendors DROP COLUMN owner_user_id")
    op.execute(f"ALTER POLICY flash_sales_ended_by_their_keeper ON flash_sales USING ({_KEEPER_BEFORE})")
    op.execute("DROP POLICY flash_sales_begun_by_their_vendor ON flash_sales")
    op.execute("DROP POLICY flash_sales_proposed_by_campus_staff ON flash_sales")
    op.execute(
        "CREATE POLICY flash_sales_begun_by_their_keeper ON flash_sales FOR INSERT "
        f"WITH CHECK (({_KEEPER_BEFORE}) AND sold = 0 AND {_OWN_PRODUCT})"
    )
    op.execute("DROP POLICY flash_sales_open_to_all_once_approved ON flash_sales")
    op.execute("CREATE POLICY flash_sales_open_to_all ON flash_sales FOR SELECT USING (true)")
    op.execute(_TAKE_SALE_UNITS.format(unless=""))
    # The version before knows no consent: a sale that nobody approved would run.
    op.execute("UPDATE flash_sales SET ends_at = starts_at WHERE approved_at IS NULL")
    op.execute("ALTER TABLE flash_sales DROP CONSTRAINT flash_sales_sold_with_consent")
    op.execute("ALTER TABLE flash_sales DROP COLUMN approved_at, DROP COLUMN approved_by")
