ALTER TABLE products ENABLE ROW LEVEL SECURITY;
-- A product never changes its vendor, and reviews keep the ratings.
GRANT
    SELECT,
    INSERT (
        id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, created_at, updated_at,
        draft, options, condition
    ),
    UPDATE (
        name, description, category, price_minor, stock, images, revision, updated_at, removed_at, draft, options, condition,
        variant_terms, sku
    )
ON products TO campus_orders_api;
CREATE POLICY products_listed ON products FOR SELECT
    USING (
        (removed_at IS NULL AND NOT draft AND hidden_at IS NULL)
        OR vendor_id = app_vendor_id()
        OR (
            hidden_at IS NOT NULL
            AND (app_may('reports:read') OR (campus_id = app_campus_id() AND app_may('listings:delist')))
        )
    );
CREATE POLICY products_written_by_their_vendor ON products FOR INSERT
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('catalog:own'));
CREATE POLICY products_changed_by_their_vendor ON products FOR UPDATE
    USING (vendor_id = app_vendor_id() AND app_may('catalog:own'))
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('catalog:own'));
CREATE TRIGGER products_refuse_leaving_vendor AFTER INSERT ON products
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();

-- What buyers see. Read past the row policies of `products`, so that no policy keeps a search from its index. The ids
-- of suspended vendors are read once for a statement.
CREATE VIEW listed_products AS
SELECT id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, currency, stock, images,
       rating_sum, rating_count, revision, words, created_at, has_sales, coalesce(variant_terms, name_terms) AS terms, options,
       condition
FROM products
WHERE removed_at IS NULL AND NOT draft AND hidden_at IS NULL AND vendor_id NOT IN (SELECT id FROM vendors WHERE suspended);
GRANT SELECT ON listed_products TO campus_orders_api;
-- Its name in the previous version, which reads it during an upgrade. Drop it in the next release (decision 109).
CREATE VIEW shelf AS SELECT * FROM listed_products;
GRANT SELECT ON shelf TO campus_orders_api;

ALTER TABLE product_variants ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE, UPDATE (position, sku, option_values, price_minor, stock, image_id, active)
ON product_variants TO campus_orders_api;
-- Visible with their product, whose own policies hold.
CREATE POLICY product_variants_with_their_product ON product_variants FOR SELECT
    USING (EXISTS (SELECT FROM products WHERE products.id = product_variants.product_id));
CREATE POLICY product_variants_written_by_their_vendor ON product_variants
    USING (
        app_may('catalog:own')
        AND EXISTS (
            SELECT FROM products
            WHERE products.id = product_variants.product_id
              AND products.vendor_id = app_vendor_id()
        )
    );

-- A product with variants has the lowest price and the summed stock of its active ones, a product without has none.
-- Checked at the end of the transaction: a reservation changes both rows.
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
$$;
REVOKE EXECUTE ON FUNCTION refuse_other_totals FROM public;
CREATE CONSTRAINT TRIGGER products_match_their_variants AFTER INSERT OR UPDATE ON products
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.options <> '[]') EXECUTE FUNCTION refuse_other_totals();
CREATE CONSTRAINT TRIGGER product_variants_match_their_product AFTER INSERT OR UPDATE OR DELETE ON product_variants
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_other_totals();

-- The only change of a checkout to the catalog: takes stock of all lines at the prices just read, or of none. Products
-- are locked in the order of their ids, then their variants, so that no two checkouts deadlock. `revision` grows: a
-- vendor's older count must not undo the sale. PL/pgSQL keeps the plan for each connection; a function in SQL is planned
-- at each call.
CREATE FUNCTION reserve_variants(product_ids uuid[], variant_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
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
          AND product.hidden_at IS NULL
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
    RETURNING product.id, product.stock;
END
$$;
REVOKE EXECUTE ON FUNCTION reserve_variants FROM public;
GRANT EXECUTE ON FUNCTION reserve_variants TO campus_orders_api;
-- For the previous version, which knows no variants. Drop it in the next release.
CREATE FUNCTION reserve_stock(product_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT * FROM reserve_variants(product_ids, array_fill(NULL::uuid, ARRAY[cardinality(product_ids)]), quantities, prices_minor)
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

ALTER TABLE cart_variants ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON cart_variants TO campus_orders_api;
CREATE POLICY cart_variants_of_the_buyer ON cart_variants
    USING (buyer_id = app_user_id())
    WITH CHECK (buyer_id = app_user_id());
CREATE TRIGGER cart_variants_refuse_leaving_buyer AFTER INSERT ON cart_variants
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
GRANT
    SELECT,
    INSERT,
    UPDATE (hidden_at, hidden_by, hidden_because, reply_text, replied_at)
ON reviews TO campus_orders_api;
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
CREATE POLICY reviews_replied_to_by_their_vendor ON reviews FOR UPDATE
    USING (vendor_id = app_vendor_id() AND app_may('catalog:own') AND hidden_at IS NULL AND replied_at IS NULL)
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('catalog:own') AND hidden_at IS NULL);
CREATE POLICY reviews_never_of_ones_own_vendor ON reviews AS RESTRICTIVE FOR INSERT
    WITH CHECK (
        vendor_id IS DISTINCT FROM (SELECT app_vendor_id())
        AND vendor_id IS DISTINCT FROM (SELECT app_packing_vendor_id())
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

ALTER TABLE saved_products ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON saved_products TO campus_orders_api;
CREATE POLICY saved_products_of_the_buyer ON saved_products
    USING (buyer_id = app_user_id())
    WITH CHECK (buyer_id = app_user_id());
CREATE TRIGGER saved_products_refuse_leaving_buyer AFTER INSERT ON saved_products
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

ALTER TABLE followed_vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON followed_vendors TO campus_orders_api;
CREATE POLICY followed_vendors_of_the_buyer ON followed_vendors
    USING (buyer_id = app_user_id())
    WITH CHECK (buyer_id = app_user_id());
CREATE TRIGGER followed_vendors_refuse_leaving_buyer AFTER INSERT ON followed_vendors
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

-- Every way to stock and price: a vendor's changes, an import, a returned unit. A product without savers costs one look at
-- an index, and a sale, which only lowers the stock, costs nothing.
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
$$;
REVOKE EXECUTE ON FUNCTION record_saved_product_change FROM public;
CREATE TRIGGER products_record_saved_change AFTER UPDATE OF stock, price_minor ON products
    FOR EACH ROW WHEN ((OLD.stock = 0 AND NEW.stock > 0) OR NEW.price_minor < OLD.price_minor)
    EXECUTE FUNCTION record_saved_product_change();

-- The service decides, after the caller's right was checked.
ALTER TABLE reports ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON reports TO campus_orders_api;
REVOKE DELETE ON reports FROM campus_orders_service;
CREATE POLICY reports_of_their_reporter_and_staff ON reports FOR SELECT
    USING (
        reporter_id = (SELECT app_user_id())
        OR (SELECT app_may('reports:read'))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('vendors:suspend')))
    );
CREATE POLICY reports_made_by_their_reporter ON reports FOR INSERT
    WITH CHECK (reporter_id = app_user_id() AND outcome IS NULL);

-- The service decides, after the caller's right was checked.
ALTER TABLE product_takedowns ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON product_takedowns TO campus_orders_api;
REVOKE UPDATE, DELETE ON product_takedowns FROM campus_orders_service;
GRANT UPDATE (restored_by, restored_at, restored_because) ON product_takedowns TO campus_orders_service;
CREATE POLICY product_takedowns_of_the_campus_and_staff ON product_takedowns FOR SELECT
    USING (
        (SELECT app_may('reports:read'))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('listings:delist')))
    );
