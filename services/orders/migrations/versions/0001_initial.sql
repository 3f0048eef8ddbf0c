-- The orders service's schema, one block for each table: the table, its indexes, row security, grants, policies and
-- triggers. The API role never updates an order: an order changes its state, and a PIN is checked, in the service's own
-- units of work, after the caller's right was established under the row policies.

-- ---------------------------------------------------------------------------------------------------------------------
-- Projections of identity's events
-- ---------------------------------------------------------------------------------------------------------------------

-- A suspension and a change of the name arrive by different events: each has a sequence of its own.
CREATE TABLE vendors (
    id uuid PRIMARY KEY,
    business_name text NOT NULL,
    campus_id uuid NOT NULL,
    commission_basis_points integer,
    sequence bigint NOT NULL,
    suspended boolean NOT NULL DEFAULT false,
    standing_sequence bigint NOT NULL DEFAULT 0,
    rating_sum bigint NOT NULL DEFAULT 0,
    rating_count integer NOT NULL DEFAULT 0,
    owner_user_id uuid
);
-- Nearly always empty; every read of the shelf asks for it first.
CREATE INDEX vendors_suspended ON vendors (id) WHERE suspended;
ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON vendors TO campus_orders_api;
-- Checkout reads vendors, campuses and hubs; none of it is private.
CREATE POLICY vendors_known ON vendors FOR SELECT USING (true);

CREATE TABLE campuses (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    active boolean NOT NULL,
    sequence bigint NOT NULL
);
ALTER TABLE campuses ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON campuses TO campus_orders_api;
CREATE POLICY campuses_known ON campuses FOR SELECT USING (true);

CREATE TABLE hubs (
    id uuid PRIMARY KEY,
    campus_id uuid NOT NULL,
    name text NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    active boolean NOT NULL,
    sequence bigint NOT NULL
);
ALTER TABLE hubs ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON hubs TO campus_orders_api;
CREATE POLICY hubs_known ON hubs FOR SELECT USING (true);

-- Keyed hashes of users' addresses, for the search of support (decision 37). Erasure sets them to NULL and keeps the row, so
-- that an older event that arrives late restores none.
CREATE TABLE buyer_addresses (
    user_id uuid PRIMARY KEY,
    email_hash bytea,
    phone_hash bytea,
    sequence bigint NOT NULL
);
CREATE INDEX buyer_addresses_email ON buyer_addresses (email_hash) WHERE email_hash IS NOT NULL;
CREATE INDEX buyer_addresses_phone ON buyer_addresses (phone_hash) WHERE phone_hash IS NOT NULL;
ALTER TABLE buyer_addresses ENABLE ROW LEVEL SECURITY;
GRANT SELECT (user_id, email_hash, phone_hash) ON buyer_addresses TO campus_orders_api;
CREATE POLICY buyer_addresses_for_support ON buyer_addresses FOR SELECT USING ((SELECT app_may('orders:read')));

-- Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
CREATE TABLE hash_keys (
    name text PRIMARY KEY,
    key_encrypted text NOT NULL
);

-- Users under erasure. An erased user (`gone`) stays listed by id for ever.
CREATE TABLE leaving_people (
    user_id uuid PRIMARY KEY,
    vendor_id uuid,
    standing text NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT leaving_people_standing_known CHECK (standing IN ('stays', 'leaves', 'gone'))
);
CREATE INDEX leaving_people_vendor ON leaving_people (vendor_id) WHERE vendor_id IS NOT NULL;
ALTER TABLE leaving_people ENABLE ROW LEVEL SECURITY;

-- A user under erasure starts nothing new. The lock shared with the erasure check leaves no gap between check and
-- insert. The API role sees no row of leaving_people, hence the owner's rights.
CREATE FUNCTION refuse_leaving_buyer() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('leaving:' || NEW.buyer_id, 0));
    IF EXISTS (SELECT FROM leaving_people WHERE user_id = NEW.buyer_id AND standing <> 'stays') THEN
        RAISE EXCEPTION 'this buyer leaves' USING ERRCODE = 'check_violation', CONSTRAINT = 'nobody_who_leaves';
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION refuse_leaving_buyer FROM public;

CREATE FUNCTION refuse_leaving_vendor() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('leaving:' || NEW.vendor_id, 0));
    IF EXISTS (SELECT FROM leaving_people WHERE vendor_id = NEW.vendor_id AND standing <> 'stays') THEN
        RAISE EXCEPTION 'this vendor leaves' USING ERRCODE = 'check_violation', CONSTRAINT = 'nobody_who_leaves';
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION refuse_leaving_vendor FROM public;

-- ---------------------------------------------------------------------------------------------------------------------
-- Catalog and search
-- ---------------------------------------------------------------------------------------------------------------------

-- Text without accents: compatibility forms resolved, marks removed, lower case. `ofada` finds Ọ̀fadà, and Ọ̀fadà finds
-- `ofada`. `orders.domain.catalog.plain` does the same to a query.
CREATE FUNCTION plain(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lower(normalize(regexp_replace(normalize(text, NFKD), '[\u0300-\u036f]+', '', 'g'), NFC))
$$;

-- `words` weighs the name (A) above the category (B) and the description (D).
CREATE TABLE products (
    id uuid PRIMARY KEY,
    vendor_id uuid NOT NULL,
    vendor_name text NOT NULL,
    campus_id uuid NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    category text NOT NULL,
    price_minor bigint NOT NULL,
    currency text NOT NULL DEFAULT 'NGN',
    stock integer NOT NULL,
    images jsonb NOT NULL DEFAULT '[]',
    rating_sum bigint NOT NULL DEFAULT 0,
    rating_count integer NOT NULL DEFAULT 0,
    revision integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    removed_at timestamptz,
    draft boolean NOT NULL DEFAULT false,
    has_sales boolean NOT NULL DEFAULT false,
    words tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('english', plain(name)), 'A')
        || setweight(to_tsvector('english', plain(category)), 'B')
        || setweight(to_tsvector('english', plain(description)), 'D')
    ) STORED,
    CONSTRAINT products_price_minor_positive CHECK (price_minor > 0),
    CONSTRAINT products_stock_never_negative CHECK (stock >= 0),
    CONSTRAINT products_currency_ngn CHECK (currency = 'NGN'),
    CONSTRAINT products_images_at_most_8 CHECK (jsonb_array_length(images) <= 8)
);
-- A vendor's own products, with drafts and removed ones.
CREATE INDEX products_own ON products (vendor_id, created_at, id);
-- Read forwards and backwards: one index for both directions of a sort. Drafts are in no index of the shelf.
CREATE INDEX products_newest ON products (created_at, id) WHERE removed_at IS NULL AND NOT draft;
CREATE INDEX products_priced ON products (price_minor, id) WHERE removed_at IS NULL AND NOT draft;
CREATE INDEX products_newest_of_vendor ON products (vendor_id, created_at, id) WHERE removed_at IS NULL AND NOT draft;
CREATE INDEX products_newest_of_category ON products (category, created_at, id) WHERE removed_at IS NULL AND NOT draft;
CREATE INDEX products_priced_of_category ON products (category, price_minor, id) WHERE removed_at IS NULL AND NOT draft;
CREATE INDEX products_newest_of_campus ON products (campus_id, created_at, id) WHERE removed_at IS NULL AND NOT draft;
-- Without a list of pending entries, which each search would read through.
CREATE INDEX products_words
    ON products USING gin (words) WITH (fastupdate = off)
    WHERE removed_at IS NULL AND NOT draft;
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
       rating_sum, rating_count, revision, words, created_at, has_sales
FROM products
WHERE removed_at IS NULL AND NOT draft AND vendor_id NOT IN (SELECT vendors.id FROM vendors WHERE vendors.suspended);
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

-- ASCII is split at everything but letters and digits; every other character belongs to its word.
CREATE FUNCTION words_in(text text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT DISTINCT word FROM regexp_split_to_table(plain(text), '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+') AS word
    WHERE length(word) >= 3 AND octet_length(word) <= 24 AND word !~ '^[0-9]+$'
$$;

CREATE FUNCTION spellings_of(word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(DISTINCT spelling) FROM (
        SELECT word AS spelling
        UNION ALL
        SELECT left(word, place - 1) || substr(word, place + 1) FROM generate_series(1, length(word)) AS place
    ) AS spellings
$$;

-- Typo tolerance without an extension: a word's spellings leave out one letter each. Two words with a common spelling
-- are one typo apart.
CREATE TABLE search_words (
    word text COLLATE "C" PRIMARY KEY,
    spellings text[] NOT NULL GENERATED ALWAYS AS (spellings_of(word)) STORED
);
CREATE INDEX search_words_spelled ON search_words USING gin (spellings) WITH (fastupdate = off);
ALTER TABLE search_words ENABLE ROW LEVEL SECURITY;
GRANT SELECT (word, spellings), INSERT (word) ON search_words TO campus_orders_api;
CREATE POLICY search_words_known ON search_words FOR SELECT USING (true);
CREATE POLICY search_words_of_merchants ON search_words FOR INSERT WITH CHECK (app_may('catalog:own'));

-- ---------------------------------------------------------------------------------------------------------------------
-- Orders
-- ---------------------------------------------------------------------------------------------------------------------

-- `escrow_minor` is what payments still holds of the order: a resolution divides exactly that.
CREATE TABLE orders (
    id uuid PRIMARY KEY,
    number text NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    campus_id uuid NOT NULL,
    hub_id uuid,
    status text NOT NULL,
    currency text NOT NULL,
    total_amount bigint NOT NULL,
    subtotal_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    delivery_note text,
    payment_due_at timestamptz NOT NULL,
    delivered_at timestamptz,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    revision integer NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    escrow_minor bigint NOT NULL DEFAULT 0,
    escrow_sequence bigint NOT NULL DEFAULT 0,
    return_due_at timestamptz,
    CONSTRAINT orders_number_once UNIQUE (number),
    CONSTRAINT orders_number_in_base_32
        CHECK (number ~ '^CM-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'),
    CONSTRAINT orders_status_known CHECK (
        status IN (
            'Processing', 'expired', 'cancelled', 'paid_escrow', 'dispatched', 'delivered', 'paid', 'disputed',
            'refund_pending', 'refunded'
        )
    ),
    CONSTRAINT orders_total_amount_is_the_sum CHECK (total_amount = subtotal_minor + delivery_fee_minor),
    CONSTRAINT orders_refunded_minor_within_total CHECK (refunded_minor BETWEEN 0 AND total_amount),
    CONSTRAINT orders_idempotency_key_once_per_buyer UNIQUE (buyer_id, idempotency_key),
    CONSTRAINT orders_escrow_minor_within_total CHECK (escrow_minor BETWEEN 0 AND total_amount)
);
CREATE INDEX orders_newest ON orders (created_at, id);
CREATE INDEX orders_newest_of_buyer ON orders (buyer_id, created_at, id);
CREATE INDEX orders_newest_of_vendor ON orders (vendor_id, created_at, id);
CREATE INDEX orders_newest_of_campus ON orders (campus_id, created_at, id);
CREATE INDEX orders_dearest ON orders (total_amount, id);
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON orders TO campus_orders_api;
-- Orders and items carry their parties, and these never change. A subquery is evaluated once for a statement, so that
-- the planner walks an index up to the page's last row.
CREATE POLICY orders_of_their_parties ON orders FOR SELECT
    USING (
        buyer_id = (SELECT app_user_id())
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('orders:verify')))
        OR (SELECT app_may('orders:read'))
    );
CREATE POLICY orders_placed_by_their_buyer ON orders FOR INSERT
    WITH CHECK (buyer_id = app_user_id() AND status = 'Processing' AND app_may('orders:place'));
CREATE POLICY orders_of_the_campus_admins_campus ON orders FOR SELECT
    USING (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('campus_orders:read')));
-- A token may name the vendor or be older than the vendor: both are compared.
CREATE POLICY orders_never_of_ones_own_vendor ON orders AS RESTRICTIVE FOR INSERT
    WITH CHECK (
        vendor_id IS DISTINCT FROM (SELECT app_vendor_id())
        AND NOT EXISTS (
            SELECT FROM vendors AS known
            WHERE known.id = orders.vendor_id
              AND known.owner_user_id = (SELECT app_user_id())
        )
    );
CREATE TRIGGER orders_refuse_leaving_buyer AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();
CREATE TRIGGER orders_refuse_leaving_vendor AFTER INSERT ON orders
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();

CREATE TABLE order_items (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    campus_id uuid NOT NULL,
    position integer NOT NULL,
    product_id uuid NOT NULL,
    name text NOT NULL,
    quantity integer NOT NULL,
    unit_price_minor bigint NOT NULL,
    line_total_minor bigint NOT NULL,
    CONSTRAINT order_items_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT order_items_quantity_1_to_99 CHECK (quantity BETWEEN 1 AND 99),
    CONSTRAINT order_items_line_total_minor_is_the_product CHECK (line_total_minor = unit_price_minor * quantity)
);
CREATE UNIQUE INDEX order_items_of_order ON order_items (order_id, position);
ALTER TABLE order_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON order_items TO campus_orders_api;
CREATE POLICY order_items_of_their_parties ON order_items FOR SELECT
    USING (
        buyer_id = (SELECT app_user_id())
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('orders:verify')))
        OR (SELECT app_may('orders:read'))
    );
CREATE POLICY order_items_placed_by_their_buyer ON order_items FOR INSERT WITH CHECK (buyer_id = app_user_id());
CREATE POLICY order_items_of_the_campus_admins_campus ON order_items FOR SELECT
    USING (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('campus_orders:read')));

CREATE TABLE order_timers (
    order_id uuid NOT NULL,
    kind text NOT NULL,
    due_at timestamptz NOT NULL,
    CONSTRAINT order_timers_pkey PRIMARY KEY (order_id, kind),
    CONSTRAINT order_timers_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT order_timers_kind_known CHECK (kind IN ('payment_window', 'vendor_idle', 'pin_window'))
);
CREATE INDEX order_timers_due ON order_timers (due_at);
ALTER TABLE order_timers ENABLE ROW LEVEL SECURITY;
GRANT INSERT ON order_timers TO campus_orders_api;
-- A checkout starts the payment window; no caller sees or stops a timer.
CREATE POLICY order_timers_started_by_checkout ON order_timers FOR INSERT WITH CHECK (kind = 'payment_window');

CREATE TABLE order_refunds (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    counted boolean NOT NULL,
    requested_at timestamptz NOT NULL,
    CONSTRAINT order_refunds_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT order_refunds_amount_minor_positive CHECK (amount_minor > 0),
    CONSTRAINT order_refunds_status_known CHECK (status IN ('requested', 'posted', 'failed', 'settled'))
);
CREATE INDEX order_refunds_of_order ON order_refunds (order_id);
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON order_refunds FROM campus_orders_service;
GRANT UPDATE (reason, status, counted) ON order_refunds TO campus_orders_service;

CREATE TABLE delivery_pins (
    order_id uuid PRIMARY KEY,
    buyer_id uuid NOT NULL,
    issue integer NOT NULL,
    digest bytea NOT NULL,
    sealed text NOT NULL,
    wrong_tries integer NOT NULL,
    issued_at timestamptz NOT NULL,
    CONSTRAINT delivery_pins_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT delivery_pins_issue_1_to_4 CHECK (issue BETWEEN 1 AND 4),
    CONSTRAINT delivery_pins_wrong_tries_at_most_5 CHECK (wrong_tries BETWEEN 0 AND 5)
);
CREATE INDEX delivery_pins_oldest ON delivery_pins (issued_at);
ALTER TABLE delivery_pins ENABLE ROW LEVEL SECURITY;
-- Not the digest: only the service compares it.
GRANT SELECT (order_id, buyer_id, issue, sealed, wrong_tries) ON delivery_pins TO campus_orders_api;
CREATE POLICY delivery_pins_of_the_buyer ON delivery_pins FOR SELECT USING (buyer_id = app_user_id());

CREATE TABLE delivery_verifications (
    caller_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    order_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    attempts_remaining integer,
    tried_at timestamptz NOT NULL,
    CONSTRAINT delivery_verifications_pkey PRIMARY KEY (caller_id, idempotency_key),
    CONSTRAINT delivery_verifications_order FOREIGN KEY (order_id) REFERENCES orders (id)
);
-- Written once.
REVOKE UPDATE, DELETE ON delivery_verifications FROM campus_orders_service;

-- ---------------------------------------------------------------------------------------------------------------------
-- Carts and flash sales
-- ---------------------------------------------------------------------------------------------------------------------

-- Name, vendor and price as the buyer saw them: shows what is no longer sold and a changed price.
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
);
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

-- Units are counted on the sale's row, under its lock. A sale proposed by campus staff needs the vendor's consent.
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
    approved_at timestamptz,
    approved_by uuid,
    CONSTRAINT flash_sales_product FOREIGN KEY (product_id) REFERENCES products (id),
    CONSTRAINT flash_sales_price_minor_positive CHECK (price_minor > 0),
    CONSTRAINT flash_sales_never_sold_out_twice CHECK (sold BETWEEN 0 AND quantity),
    CONSTRAINT flash_sales_limit_within_quantity CHECK (per_buyer_limit BETWEEN 1 AND quantity),
    CONSTRAINT flash_sales_end_after_their_start CHECK (ends_at >= starts_at),
    CONSTRAINT flash_sales_sold_with_consent CHECK (sold = 0 OR approved_at IS NOT NULL)
);
CREATE INDEX flash_sales_of_product ON flash_sales (product_id, ends_at);
CREATE INDEX flash_sales_newest ON flash_sales (created_at, id);
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
);
CREATE INDEX flash_sale_units_of_buyer ON flash_sale_units (sale_id, buyer_id);
ALTER TABLE flash_sale_units ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON flash_sale_units TO campus_orders_api;
CREATE POLICY flash_sale_units_of_the_buyer ON flash_sale_units FOR SELECT USING (buyer_id = app_user_id());

-- In PL/pgSQL, because each statement sees what was committed before it began: the buyer's units are counted after the
-- lock of the sale was won. Sales are locked in the order of their ids. Only the buyer's own new order takes units.
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
$$;
REVOKE EXECUTE ON FUNCTION take_sale_units FROM public;
GRANT EXECUTE ON FUNCTION take_sale_units TO campus_orders_api;

-- ---------------------------------------------------------------------------------------------------------------------
-- Disputes and returns
-- ---------------------------------------------------------------------------------------------------------------------

-- A dispute ends by its resolution, or because everything was released before the freeze arrived (`released`).
CREATE TABLE order_disputes (
    order_id uuid PRIMARY KEY,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    cause text NOT NULL,
    reason text NOT NULL,
    details text,
    raised_by uuid,
    raised_at timestamptz NOT NULL,
    outcome text,
    ended_at timestamptz,
    charge_outcome text,
    charge_sequence bigint NOT NULL DEFAULT 0,
    CONSTRAINT order_disputes_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT order_disputes_cause_known CHECK (cause IN ('buyer', 'pin_window', 'chargeback')),
    CONSTRAINT order_disputes_by_the_buyer_has_an_author CHECK ((cause = 'buyer') = (raised_by IS NOT NULL)),
    CONSTRAINT order_disputes_outcome_known CHECK (outcome IN ('buyer', 'vendor', 'split', 'released')),
    CONSTRAINT order_disputes_ended_with_an_outcome CHECK ((outcome IS NULL) = (ended_at IS NULL)),
    CONSTRAINT order_disputes_charge_outcome_known CHECK (charge_outcome IN ('won', 'lost'))
);
ALTER TABLE order_disputes ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON order_disputes TO campus_orders_api;
CREATE POLICY order_disputes_of_their_parties ON order_disputes FOR SELECT
    USING (
        buyer_id = app_user_id()
        OR (vendor_id = app_vendor_id() AND app_may('orders:fulfil'))
        OR app_may('disputes:prepare')
        OR app_may('disputes:approve')
        OR app_may('orders:read')
    );

CREATE TABLE dispute_resolutions (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    outcome text NOT NULL,
    refund_minor bigint NOT NULL,
    release_minor bigint,
    refund_id uuid,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamptz NOT NULL,
    decided_by uuid,
    decided_at timestamptz,
    CONSTRAINT dispute_resolutions_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT dispute_resolutions_outcome_known CHECK (outcome IN ('buyer', 'vendor', 'split')),
    CONSTRAINT dispute_resolutions_status_known CHECK (status IN ('prepared', 'approved', 'rejected')),
    CONSTRAINT dispute_resolutions_refund_fits_outcome
        CHECK ((outcome = 'vendor') = (refund_minor = 0) AND refund_minor >= 0),
    CONSTRAINT dispute_resolutions_decided_once
        CHECK ((status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)),
    CONSTRAINT dispute_resolutions_decided_by_another_person CHECK (decided_by <> prepared_by)
);
-- One live resolution of an order, whoever prepares at the same moment.
CREATE UNIQUE INDEX dispute_resolutions_one_prepared ON dispute_resolutions (order_id) WHERE status = 'prepared';
-- One dispute, one decision: a second approval fails here.
CREATE UNIQUE INDEX dispute_resolutions_one_approved ON dispute_resolutions (order_id) WHERE status = 'approved';
CREATE INDEX dispute_resolutions_of_order ON dispute_resolutions (order_id);
CREATE INDEX dispute_resolutions_newest ON dispute_resolutions (prepared_at, id);
ALTER TABLE dispute_resolutions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispute_resolutions TO campus_orders_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dispute_resolutions FROM campus_orders_service;
GRANT UPDATE (release_minor, refund_id, status, decided_by, decided_at) ON dispute_resolutions TO campus_orders_service;
CREATE POLICY dispute_resolutions_of_staff ON dispute_resolutions FOR SELECT
    USING (app_may('disputes:prepare') OR app_may('disputes:approve') OR app_may('orders:read'));

CREATE TABLE return_requests (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    refund_minor bigint,
    refund_id uuid,
    decided_by uuid,
    decision_reason text,
    decided_at timestamptz,
    created_at timestamptz NOT NULL,
    CONSTRAINT return_requests_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT return_requests_status_known CHECK (status IN ('requested', 'approved', 'rejected')),
    CONSTRAINT return_requests_decided_once
        CHECK ((status = 'requested') = (decided_by IS NULL) AND (status = 'requested') = (decided_at IS NULL)),
    CONSTRAINT return_requests_refund_of_an_approval CHECK ((status = 'approved') = (refund_minor IS NOT NULL)),
    CONSTRAINT return_requests_not_decided_by_the_buyer CHECK (decided_by <> buyer_id)
);
CREATE INDEX return_requests_of_order ON return_requests (order_id, created_at, id);
CREATE INDEX return_requests_of_buyer ON return_requests (buyer_id);
ALTER TABLE return_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON return_requests TO campus_orders_api;
CREATE POLICY return_requests_of_their_parties ON return_requests FOR SELECT
    USING (
        buyer_id = app_user_id()
        OR (vendor_id = app_vendor_id() AND app_may('orders:fulfil'))
        OR app_may('returns:decide')
        OR app_may('orders:read')
    );
CREATE TRIGGER return_requests_refuse_leaving_buyer AFTER INSERT ON return_requests
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE return_request_items (
    return_request_id uuid NOT NULL,
    item_id uuid NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT return_request_items_pkey PRIMARY KEY (return_request_id, item_id),
    CONSTRAINT return_request_items_request FOREIGN KEY (return_request_id) REFERENCES return_requests (id),
    CONSTRAINT return_request_items_item FOREIGN KEY (item_id) REFERENCES order_items (id),
    CONSTRAINT return_request_items_quantity_positive CHECK (quantity > 0)
);
CREATE INDEX return_request_items_of_item ON return_request_items (item_id);
ALTER TABLE return_request_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON return_request_items TO campus_orders_api;
-- Visible with their request, whose own policy holds.
CREATE POLICY return_request_items_with_their_request ON return_request_items FOR SELECT
    USING (EXISTS (SELECT FROM return_requests AS request WHERE request.id = return_request_id));

-- ---------------------------------------------------------------------------------------------------------------------
-- Reviews
-- ---------------------------------------------------------------------------------------------------------------------

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

-- The buyer of a delivered order reviews its vendor and each of its products once.
CREATE TABLE reviews (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    product_id uuid,
    rating smallint NOT NULL,
    text text NOT NULL,
    created_at timestamptz NOT NULL,
    hidden_at timestamptz,
    hidden_by uuid,
    hidden_because text,
    CONSTRAINT reviews_order FOREIGN KEY (order_id) REFERENCES orders (id),
    CONSTRAINT reviews_rating_1_to_5 CHECK (rating BETWEEN 1 AND 5),
    CONSTRAINT reviews_hidden_by_somebody_for_a_reason
        CHECK ((hidden_at IS NULL) = (hidden_by IS NULL) AND (hidden_at IS NULL) = (hidden_because IS NULL))
);
CREATE UNIQUE INDEX reviews_one_of_the_vendor ON reviews (order_id) WHERE product_id IS NULL;
CREATE UNIQUE INDEX reviews_one_of_each_product ON reviews (order_id, product_id) WHERE product_id IS NOT NULL;
CREATE INDEX reviews_newest_of_vendor ON reviews (vendor_id, created_at, id) WHERE product_id IS NULL;
CREATE INDEX reviews_newest_of_product ON reviews (product_id, created_at, id) WHERE product_id IS NOT NULL;
CREATE INDEX reviews_newest ON reviews (created_at, id);
CREATE INDEX reviews_of_buyer ON reviews (buyer_id);
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

-- ---------------------------------------------------------------------------------------------------------------------
-- Media cleanup (common.media.cleanup)
-- ---------------------------------------------------------------------------------------------------------------------

-- Images to remove from the media store at `leave_at`, unless their owner shows them by then. A vendor schedules the images of own products only.
CREATE TABLE leaving_pictures (
    picture_id uuid PRIMARY KEY,
    owner_id uuid NOT NULL,
    leave_at timestamptz NOT NULL,
    claimed_until timestamptz
);
CREATE INDEX leaving_pictures_due ON leaving_pictures (leave_at);
ALTER TABLE leaving_pictures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_orders_api;
CREATE POLICY leaving_pictures_own ON leaving_pictures
    USING (EXISTS (SELECT FROM products AS own WHERE own.id = owner_id AND own.vendor_id = app_vendor_id()));
