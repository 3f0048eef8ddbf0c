ALTER TABLE products ENABLE ROW LEVEL SECURITY;
-- A product never changes its vendor, and reviews keep the ratings.
GRANT
    SELECT,
    INSERT (
        id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, created_at, updated_at,
        draft
    ),
    UPDATE (name, description, category, price_minor, stock, images, revision, updated_at, removed_at, draft)
ON products TO campus_orders_api;
CREATE POLICY products_on_the_shelf ON products FOR SELECT
    USING ((removed_at IS NULL AND NOT draft) OR vendor_id = app_vendor_id());
CREATE POLICY products_written_by_their_vendor ON products FOR INSERT
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('catalog:own'));
CREATE POLICY products_changed_by_their_vendor ON products FOR UPDATE
    USING (vendor_id = app_vendor_id() AND app_may('catalog:own'))
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('catalog:own'));
CREATE TRIGGER products_refuse_leaving_vendor AFTER INSERT ON products
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();

-- What buyers see. Read past the row policies of `products`, so that no policy keeps a search from its index. The ids
-- of suspended vendors are read once for a statement.
CREATE VIEW shelf AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, terms
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended);
GRANT SELECT ON shelf TO campus_orders_api;

-- The only change of a checkout to the catalog: takes stock of all products at the price just read, or of none. Rows
-- are locked in the order of their ids, so that no two checkouts deadlock. `revision` grows: a vendor's older count
-- must not undo the sale.
CREATE FUNCTION reserve_stock(product_ids uuid[], quantities integer[], prices_minor bigint[])
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
$$;
REVOKE EXECUTE ON FUNCTION reserve_stock FROM public;
GRANT EXECUTE ON FUNCTION reserve_stock TO campus_orders_api;

ALTER TABLE search_words ENABLE ROW LEVEL SECURITY;
GRANT SELECT (word, spellings), INSERT (word) ON search_words TO campus_orders_api;
CREATE POLICY search_words_known ON search_words FOR SELECT USING (true);
CREATE POLICY search_words_of_merchants ON search_words FOR INSERT WITH CHECK (app_may('catalog:own'));

ALTER TABLE cart_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON cart_items TO campus_orders_api;
CREATE POLICY cart_items_of_the_buyer ON cart_items
    USING (buyer_id = app_user_id())
    WITH CHECK (buyer_id = app_user_id());
CREATE TRIGGER cart_items_refuse_leaving_buyer AFTER INSERT ON cart_items
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

-- Only products that ever had a sale are asked for their sales.
CREATE FUNCTION mark_product_with_sales() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE products SET has_sales = true WHERE id = NEW.product_id AND NOT has_sales;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION mark_product_with_sales FROM public;

ALTER TABLE flash_sales ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (ends_at) ON flash_sales TO campus_orders_api;
CREATE POLICY flash_sales_ended_by_their_keeper ON flash_sales FOR UPDATE
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('catalog:own')))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('flash_sales:propose')))
    );
CREATE POLICY flash_sales_open_to_all_once_approved ON flash_sales FOR SELECT
    USING (
        approved_at IS NOT NULL
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('catalog:own')))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('flash_sales:propose')))
    );
CREATE POLICY flash_sales_begun_by_their_vendor ON flash_sales FOR INSERT
    WITH CHECK (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('catalog:own')))
        AND sold = 0
        AND EXISTS (
            SELECT FROM products AS product
            WHERE product.id = product_id
              AND product.vendor_id = flash_sales.vendor_id
              AND product.campus_id = flash_sales.campus_id
        )
    );
CREATE POLICY flash_sales_proposed_by_campus_staff ON flash_sales FOR INSERT
    WITH CHECK (
        (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('flash_sales:propose')))
        AND sold = 0
        AND approved_at IS NULL
        AND approved_by IS NULL
        AND EXISTS (
            SELECT FROM products AS product
            WHERE product.id = product_id
              AND product.vendor_id = flash_sales.vendor_id
              AND product.campus_id = flash_sales.campus_id
        )
    );
CREATE TRIGGER flash_sales_mark_their_product AFTER INSERT ON flash_sales
    FOR EACH ROW EXECUTE FUNCTION mark_product_with_sales();

ALTER TABLE flash_sale_units ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON flash_sale_units TO campus_orders_api;
CREATE POLICY flash_sale_units_of_the_buyer ON flash_sale_units FOR SELECT USING (buyer_id = app_user_id());

-- A posted review counts, a hidden one does not. A review touches one rated row only, so that no two deadlock.
CREATE FUNCTION keep_rating() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    counted integer := (NEW.hidden_at IS NULL)::integer;
    change integer := counted;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        change := counted - (OLD.hidden_at IS NULL)::integer;
    END IF;
    IF change = 0 THEN
        RETURN NULL;
    END IF;
    IF NEW.product_id IS NULL THEN
        UPDATE vendors SET rating_sum = rating_sum + change * NEW.rating, rating_count = rating_count + change
        WHERE id = NEW.vendor_id;
    ELSE
        UPDATE products SET rating_sum = rating_sum + change * NEW.rating, rating_count = rating_count + change
        WHERE id = NEW.product_id;
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION keep_rating FROM public;

ALTER TABLE reviews ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (hidden_at, hidden_by, hidden_because) ON reviews TO campus_orders_api;
CREATE POLICY reviews_shown ON reviews FOR SELECT
    USING (hidden_at IS NULL OR buyer_id = app_user_id() OR app_may('reviews:read'));
CREATE POLICY reviews_by_the_buyer_of_a_delivered_order ON reviews FOR INSERT
    WITH CHECK (
        buyer_id = app_user_id()
        AND app_may('orders:place')
        AND hidden_at IS NULL
        AND EXISTS (
            SELECT FROM orders
            WHERE orders.id = reviews.order_id
              AND orders.buyer_id = app_user_id()
              AND orders.vendor_id = reviews.vendor_id
              AND (orders.delivered_at IS NOT NULL OR orders.status = 'paid')
        )
        AND (
            product_id IS NULL
            OR EXISTS (
                SELECT FROM order_items AS item
                WHERE item.order_id = reviews.order_id
                  AND item.product_id = reviews.product_id
            )
        )
    );
CREATE POLICY reviews_moderated ON reviews FOR UPDATE USING (app_may('reviews:moderate'));
CREATE POLICY reviews_never_of_ones_own_vendor ON reviews AS RESTRICTIVE FOR INSERT
    WITH CHECK (
        vendor_id IS DISTINCT FROM (SELECT app_vendor_id())
        AND NOT EXISTS (
            SELECT FROM vendors AS known
            WHERE known.id = reviews.vendor_id
              AND known.owner_user_id = (SELECT app_user_id())
        )
    );
CREATE TRIGGER reviews_keep_rating AFTER INSERT OR UPDATE OF hidden_at ON reviews
    FOR EACH ROW EXECUTE FUNCTION keep_rating();
CREATE TRIGGER reviews_refuse_leaving_buyer AFTER INSERT ON reviews
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();
