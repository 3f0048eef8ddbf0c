-- Generated from the migrated database by `make schemas`. Do not edit: tables/ and migrations/sql are the source.
-- Every table, view and sequence belongs to campus_orders_owner. PostgreSQL 15 wrote the expressions.

CREATE OR REPLACE FUNCTION public.app_campus_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.campus_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_hub_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.hub_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_may(permission text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$ SELECT permission = ANY (string_to_array(current_setting('app.permissions', true), ',')) $function$;

CREATE OR REPLACE FUNCTION public.app_packing_vendor_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.packing_vendor_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_user_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_vendor_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.vendor_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.has_reported_message(conversation uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT EXISTS (
        SELECT FROM conversation_messages AS message JOIN reports AS report ON report.subject_id = message.id
        WHERE message.conversation_id = conversation AND report.kind = 'message'
    )
$function$;
REVOKE EXECUTE ON FUNCTION has_reported_message FROM public;
GRANT EXECUTE ON FUNCTION has_reported_message TO campus_orders_api;

CREATE OR REPLACE FUNCTION public.is_disputed_or_returned(conversation conversations)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT EXISTS (
        SELECT FROM orders AS placed
        WHERE placed.buyer_id = conversation.buyer_id
          AND placed.vendor_id = conversation.vendor_id
          AND (
              placed.id = conversation.order_id
              OR EXISTS (
                  SELECT FROM order_items AS item
                  WHERE item.order_id = placed.id AND item.product_id = conversation.product_id
              )
          )
          AND (
              EXISTS (SELECT FROM order_disputes AS dispute WHERE dispute.order_id = placed.id)
              OR EXISTS (SELECT FROM return_requests AS request WHERE request.order_id = placed.id)
          )
    )
$function$;
REVOKE EXECUTE ON FUNCTION is_disputed_or_returned FROM public;
GRANT EXECUTE ON FUNCTION is_disputed_or_returned TO campus_orders_api;

CREATE OR REPLACE FUNCTION public.joined_text(text text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT concat_ws(' ', words, regexp_replace(words, '(\S+) (\S+)', '\1\2', 'g'),
                     regexp_replace(regexp_replace(words, '^\S+ ', ''), '(\S+) (\S+)', '\1\2', 'g'))
    FROM btrim(public.search_text(text)) AS words
$function$;

CREATE OR REPLACE FUNCTION public.keep_rating()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
REVOKE EXECUTE ON FUNCTION keep_rating FROM public;

CREATE OR REPLACE FUNCTION public.mark_product_with_sales()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    UPDATE products SET has_sales = true WHERE id = NEW.product_id AND NOT has_sales;
    RETURN NULL;
END
$function$;
REVOKE EXECUTE ON FUNCTION mark_product_with_sales FROM public;

CREATE OR REPLACE FUNCTION public.plain(text text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT lower(normalize(regexp_replace(normalize(text, NFKD), '[\u0300-\u036f]+', '', 'g'), NFC))
$function$;

CREATE OR REPLACE FUNCTION public.record_saved_product_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
REVOKE EXECUTE ON FUNCTION record_saved_product_change FROM public;

CREATE OR REPLACE FUNCTION public.refuse_leaving_buyer()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('leaving:' || NEW.buyer_id, 0));
    IF EXISTS (SELECT FROM leaving_people WHERE user_id = NEW.buyer_id AND standing <> 'stays') THEN
        RAISE EXCEPTION 'this buyer leaves' USING ERRCODE = 'check_violation', CONSTRAINT = 'nobody_who_leaves';
    END IF;
    RETURN NULL;
END
$function$;
REVOKE EXECUTE ON FUNCTION refuse_leaving_buyer FROM public;

CREATE OR REPLACE FUNCTION public.refuse_leaving_vendor()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('leaving:' || NEW.vendor_id, 0));
    IF EXISTS (SELECT FROM leaving_people WHERE vendor_id = NEW.vendor_id AND standing <> 'stays') THEN
        RAISE EXCEPTION 'this vendor leaves' USING ERRCODE = 'check_violation', CONSTRAINT = 'nobody_who_leaves';
    END IF;
    RETURN NULL;
END
$function$;
REVOKE EXECUTE ON FUNCTION refuse_leaving_vendor FROM public;

CREATE OR REPLACE FUNCTION public.refuse_other_totals()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
REVOKE EXECUTE ON FUNCTION refuse_other_totals FROM public;

CREATE OR REPLACE FUNCTION public.reserve_stock(product_ids uuid[], quantities integer[], prices_minor bigint[])
 RETURNS TABLE(product_id uuid, stock_left integer)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT * FROM reserve_variants(product_ids, array_fill(NULL::uuid, ARRAY[cardinality(product_ids)]), quantities, prices_minor)
$function$;
REVOKE EXECUTE ON FUNCTION reserve_stock FROM public;
GRANT EXECUTE ON FUNCTION reserve_stock TO campus_orders_api;

CREATE OR REPLACE FUNCTION public.reserve_variants(product_ids uuid[], variant_ids uuid[], quantities integer[], prices_minor bigint[])
 RETURNS TABLE(product_id uuid, stock_left integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
REVOKE EXECUTE ON FUNCTION reserve_variants FROM public;
GRANT EXECUTE ON FUNCTION reserve_variants TO campus_orders_api;

CREATE OR REPLACE FUNCTION public.search_query(terms text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT CASE WHEN numnode(to_tsquery('pg_catalog.english', lower(terms))) > 0
           THEN to_tsquery('pg_catalog.english', lower(terms)) ELSE to_tsquery('public.every_word', lower(terms)) END
$function$;

CREATE OR REPLACE FUNCTION public.search_text(text text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT regexp_replace(translate(public.plain(text), 'ƁƊƘƳɓɗƙƴ', 'bdkybdky'),
                          '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u02b0-\u02ff\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u303f\ufe00-\ufe0f\ufe30-\ufe4f\U0001f000-\U0001faff]+', ' ', 'g')
$function$;

CREATE OR REPLACE FUNCTION public.shares_order_with(other_user_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER COST 10000
 SET search_path TO 'public', 'pg_temp'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM orders
        WHERE buyer_id = other_user_id
          AND (
              (vendor_id = app_vendor_id() AND app_may('orders:fulfil'))
              OR (hub_id = app_hub_id() AND app_may('orders:verify'))
              OR (campus_id = app_campus_id() AND app_may('campus_orders:read'))
          )
    ) OR EXISTS (
        SELECT FROM orders AS own JOIN vendors AS vendor ON vendor.id = own.vendor_id
        WHERE own.buyer_id = app_user_id() AND vendor.owner_user_id = other_user_id
    );
END
$function$;
REVOKE EXECUTE ON FUNCTION shares_order_with FROM public;
GRANT EXECUTE ON FUNCTION shares_order_with TO campus_orders_api;

CREATE OR REPLACE FUNCTION public.spellings_of(word text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT array_agg(DISTINCT spelling) FROM (
        SELECT word AS spelling
        UNION ALL
        SELECT left(word, place - 1) || substr(word, place + 1) FROM generate_series(1, length(word)) AS place
    ) AS spellings
$function$;

CREATE OR REPLACE FUNCTION public.take_sale_units(for_order uuid, sale_ids uuid[], quantities integer[], instant timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$;
REVOKE EXECUTE ON FUNCTION take_sale_units FROM public;
GRANT EXECUTE ON FUNCTION take_sale_units TO campus_orders_api;

CREATE OR REPLACE FUNCTION public.words_in(text text)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT DISTINCT word FROM regexp_split_to_table(search_text(text), ' +') AS word
    WHERE length(word) >= 3 AND octet_length(word) <= 24 AND word !~ '^[0-9]+$'
$function$;

CREATE TABLE buyer_addresses (
    user_id uuid NOT NULL,
    email_hash bytea,
    phone_hash bytea,
    sequence bigint NOT NULL,
    CONSTRAINT buyer_addresses_pkey PRIMARY KEY (user_id)
);
CREATE INDEX buyer_addresses_email ON buyer_addresses USING btree (email_hash) WHERE (email_hash IS NOT NULL);
CREATE INDEX buyer_addresses_phone ON buyer_addresses USING btree (phone_hash) WHERE (phone_hash IS NOT NULL);
ALTER TABLE buyer_addresses ENABLE ROW LEVEL SECURITY;
GRANT SELECT (user_id, email_hash, phone_hash) ON buyer_addresses TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON buyer_addresses TO campus_orders_service;
CREATE POLICY buyer_addresses_for_support ON buyer_addresses FOR SELECT
    USING (( SELECT app_may('orders:read'::text) AS app_may));
CREATE POLICY buyer_addresses_of_the_campus_admins_campus ON buyer_addresses FOR SELECT
    USING ((( SELECT app_may('campus_orders:read'::text) AS app_may) AND (EXISTS ( SELECT
   FROM orders
  WHERE ((orders.buyer_id = buyer_addresses.user_id) AND (orders.campus_id = ( SELECT app_campus_id() AS app_campus_id)))))));

CREATE TABLE campuses (
    id uuid NOT NULL,
    name text NOT NULL,
    active boolean NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT campuses_pkey PRIMARY KEY (id)
);
ALTER TABLE campuses ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON campuses TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON campuses TO campus_orders_service;
CREATE POLICY campuses_known ON campuses FOR SELECT
    USING (true);

CREATE TABLE cart_items (
    buyer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    name text NOT NULL,
    price_seen_minor bigint NOT NULL,
    quantity integer NOT NULL,
    added_at timestamp with time zone NOT NULL,
    CONSTRAINT cart_items_pkey PRIMARY KEY (buyer_id, product_id),
    CONSTRAINT cart_items_quantity_1_to_99 CHECK (((quantity >= 1) AND (quantity <= 99)))
);
CREATE INDEX cart_items_oldest ON cart_items USING btree (added_at);
ALTER TABLE cart_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON cart_items TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON cart_items TO campus_orders_service;
CREATE POLICY cart_items_of_the_buyer ON cart_items FOR ALL
    USING ((buyer_id = app_user_id()))
    WITH CHECK ((buyer_id = app_user_id()));
CREATE TRIGGER cart_items_refuse_leaving_buyer AFTER INSERT ON cart_items FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE cart_variants (
    buyer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    variant_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    name text NOT NULL,
    price_seen_minor bigint NOT NULL,
    quantity integer NOT NULL,
    added_at timestamp with time zone NOT NULL,
    CONSTRAINT cart_variants_pkey PRIMARY KEY (buyer_id, product_id, variant_id),
    CONSTRAINT cart_variants_quantity_1_to_99 CHECK (((quantity >= 1) AND (quantity <= 99)))
);
CREATE INDEX cart_variants_oldest ON cart_variants USING btree (added_at);
ALTER TABLE cart_variants ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON cart_variants TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON cart_variants TO campus_orders_service;
CREATE POLICY cart_variants_of_the_buyer ON cart_variants FOR ALL
    USING ((buyer_id = app_user_id()))
    WITH CHECK ((buyer_id = app_user_id()));
CREATE TRIGGER cart_variants_refuse_leaving_buyer AFTER INSERT ON cart_variants FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE conversation_images (
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    author_id uuid NOT NULL,
    message_id uuid,
    byte_count integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT conversation_images_pkey PRIMARY KEY (id),
    CONSTRAINT conversation_images_one_of_message UNIQUE (message_id),
    CONSTRAINT conversation_images_conversation FOREIGN KEY (conversation_id) REFERENCES conversations(id),
    CONSTRAINT conversation_images_message FOREIGN KEY (message_id) REFERENCES conversation_messages(id)
);
CREATE INDEX conversation_images_of_author ON conversation_images USING btree (author_id, created_at);
CREATE INDEX conversation_images_of_conversation ON conversation_images USING btree (conversation_id);
CREATE INDEX conversation_images_unsent ON conversation_images USING btree (created_at) WHERE (message_id IS NULL);
ALTER TABLE conversation_images ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON conversation_images TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversation_images TO campus_orders_service;
CREATE POLICY conversation_images_with_their_message ON conversation_images FOR SELECT
    USING ((EXISTS ( SELECT
   FROM conversation_messages message
  WHERE (message.id = conversation_images.message_id))));

CREATE TABLE conversation_messages (
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    author text NOT NULL,
    author_id uuid NOT NULL,
    text text NOT NULL,
    masked boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    hidden_at timestamp with time zone,
    hidden_because text,
    CONSTRAINT conversation_messages_pkey PRIMARY KEY (id),
    CONSTRAINT conversation_messages_conversation FOREIGN KEY (conversation_id) REFERENCES conversations(id),
    CONSTRAINT conversation_messages_author_known CHECK ((author = ANY (ARRAY['buyer'::text, 'vendor'::text]))),
    CONSTRAINT conversation_messages_hidden_for_a_reason CHECK (((hidden_at IS NULL) = (hidden_because IS NULL)))
);
CREATE INDEX conversation_messages_of_author ON conversation_messages USING btree (author_id, created_at);
CREATE INDEX conversation_messages_of_conversation ON conversation_messages USING btree (conversation_id, created_at, id);
CREATE INDEX conversation_messages_oldest ON conversation_messages USING btree (created_at);
ALTER TABLE conversation_messages ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON conversation_messages TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversation_messages TO campus_orders_service;
CREATE POLICY conversation_messages_with_their_conversation ON conversation_messages FOR SELECT
    USING ((EXISTS ( SELECT
   FROM conversations
  WHERE (conversations.id = conversation_messages.conversation_id))));

CREATE TABLE conversation_offers (
    id uuid NOT NULL,
    message_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    product_id uuid NOT NULL,
    variant_id uuid,
    quantity integer NOT NULL,
    unit_price_minor bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    withdrawn_at timestamp with time zone,
    accepted_at timestamp with time zone,
    order_id uuid,
    CONSTRAINT conversation_offers_pkey PRIMARY KEY (id),
    CONSTRAINT conversation_offers_one_of_message UNIQUE (message_id),
    CONSTRAINT conversation_offers_message FOREIGN KEY (message_id) REFERENCES conversation_messages(id),
    CONSTRAINT conversation_offers_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT conversation_offers_product FOREIGN KEY (product_id) REFERENCES products(id),
    CONSTRAINT conversation_offers_at_most_48_hours CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '48:00:00'::interval)))),
    CONSTRAINT conversation_offers_ended_once CHECK ((((order_id IS NULL) = (accepted_at IS NULL)) AND (num_nonnulls(withdrawn_at, accepted_at) <= 1))),
    CONSTRAINT conversation_offers_price_above_zero CHECK ((unit_price_minor > 0)),
    CONSTRAINT conversation_offers_quantity_1_to_99 CHECK (((quantity >= 1) AND (quantity <= 99)))
);
CREATE INDEX conversation_offers_of_buyer ON conversation_offers USING btree (buyer_id);
CREATE INDEX conversation_offers_of_vendor ON conversation_offers USING btree (vendor_id);
ALTER TABLE conversation_offers ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (accepted_at, order_id) ON conversation_offers TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversation_offers TO campus_orders_service;
CREATE POLICY conversation_offers_accepted_by_their_buyer ON conversation_offers FOR UPDATE
    USING (((buyer_id = app_user_id()) AND (order_id IS NULL) AND (withdrawn_at IS NULL)))
    WITH CHECK ((buyer_id = app_user_id()));
CREATE POLICY conversation_offers_with_their_message ON conversation_offers FOR SELECT
    USING ((EXISTS ( SELECT
   FROM conversation_messages message
  WHERE (message.id = conversation_offers.message_id))));

CREATE TABLE conversation_reads (
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    staff_id uuid NOT NULL,
    read_at timestamp with time zone NOT NULL,
    CONSTRAINT conversation_reads_pkey PRIMARY KEY (id)
);
CREATE INDEX conversation_reads_of_conversation ON conversation_reads USING btree (conversation_id, read_at);
GRANT SELECT, INSERT ON conversation_reads TO campus_orders_service;

CREATE TABLE conversations (
    id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    product_id uuid,
    order_id uuid,
    opened_by uuid NOT NULL,
    buyer_name text,
    blocked_by text,
    buyer_unread integer DEFAULT 0 NOT NULL,
    vendor_unread integer DEFAULT 0 NOT NULL,
    buyer_notified_at timestamp with time zone,
    vendor_notified_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    last_message_at timestamp with time zone NOT NULL,
    CONSTRAINT conversations_pkey PRIMARY KEY (id),
    CONSTRAINT conversations_one_of_buyer_and_product UNIQUE (buyer_id, product_id),
    CONSTRAINT conversations_one_of_order UNIQUE (order_id),
    CONSTRAINT conversations_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT conversations_product FOREIGN KEY (product_id) REFERENCES products(id),
    CONSTRAINT conversations_about_one_thing CHECK ((num_nonnulls(product_id, order_id) = 1)),
    CONSTRAINT conversations_blocked_by_a_party CHECK ((blocked_by = ANY (ARRAY['buyer'::text, 'vendor'::text])))
);
CREATE INDEX conversations_of_buyer ON conversations USING btree (buyer_id, created_at, id);
CREATE INDEX conversations_of_vendor ON conversations USING btree (vendor_id, created_at, id);
CREATE INDEX conversations_oldest ON conversations USING btree (last_message_at);
CREATE INDEX conversations_opened_by ON conversations USING btree (opened_by, created_at);
ALTER TABLE conversations ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON conversations TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversations TO campus_orders_service;
CREATE POLICY conversations_of_disputes_and_returns ON conversations FOR SELECT
    USING ((( SELECT app_may('disputes:prepare'::text) AS app_may) AND is_disputed_or_returned(conversations.*)));
CREATE POLICY conversations_of_reported_messages ON conversations FOR SELECT
    USING ((( SELECT app_may('reports:decide'::text) AS app_may) AND has_reported_message(id)));
CREATE POLICY conversations_of_their_parties ON conversations FOR SELECT
    USING (((buyer_id = ( SELECT app_user_id() AS app_user_id)) OR ((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('catalog:own'::text) AS app_may))));
CREATE TRIGGER conversations_refuse_leaving_buyer AFTER INSERT ON conversations FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();
CREATE TRIGGER conversations_refuse_leaving_vendor AFTER INSERT ON conversations FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();

CREATE TABLE dead_letter_actions (
    dead_letter_id uuid NOT NULL,
    action text NOT NULL,
    queue text NOT NULL,
    event_type text NOT NULL,
    acted_by uuid NOT NULL,
    reason text,
    acted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dead_letter_actions_pkey PRIMARY KEY (dead_letter_id, action),
    CONSTRAINT dead_letter_actions_known CHECK ((action = ANY (ARRAY['replayed'::text, 'closure_requested'::text]))),
    CONSTRAINT dead_letter_actions_request_has_its_reason CHECK (((reason IS NULL) = (action = 'replayed'::text)))
);
CREATE INDEX dead_letter_actions_of_staff ON dead_letter_actions USING btree (acted_by, acted_at);
GRANT SELECT, INSERT ON dead_letter_actions TO campus_orders_service;

CREATE TABLE dead_letter_closures (
    dead_letter_id uuid NOT NULL,
    queue text NOT NULL,
    event_type text NOT NULL,
    closed_by uuid NOT NULL,
    reason text NOT NULL,
    closed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dead_letter_closures_pkey PRIMARY KEY (dead_letter_id)
);
CREATE INDEX dead_letter_closures_of_staff ON dead_letter_closures USING btree (closed_by, closed_at);
GRANT SELECT, INSERT ON dead_letter_closures TO campus_orders_service;

CREATE TABLE dead_letters (
    id uuid NOT NULL,
    queue text NOT NULL,
    event_id uuid,
    event_type text NOT NULL,
    body bytea NOT NULL,
    headers jsonb NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    replayed_at timestamp with time zone,
    closed_at timestamp with time zone,
    resolved_at timestamp with time zone GENERATED ALWAYS AS (COALESCE(replayed_at, closed_at)) STORED,
    CONSTRAINT dead_letters_pkey PRIMARY KEY (id),
    CONSTRAINT dead_letters_resolved_once CHECK ((num_nulls(replayed_at, closed_at) > 0))
);
CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, id DESC);
CREATE INDEX dead_letters_of_event ON dead_letters USING btree (event_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letters TO campus_orders_service;

CREATE TABLE delivery_pins (
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    issue integer NOT NULL,
    digest bytea NOT NULL,
    sealed text NOT NULL,
    wrong_tries integer NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    CONSTRAINT delivery_pins_pkey PRIMARY KEY (order_id),
    CONSTRAINT delivery_pins_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT delivery_pins_issue_1_to_10 CHECK (((issue >= 1) AND (issue <= 10))),
    CONSTRAINT delivery_pins_wrong_tries_at_most_5 CHECK (((wrong_tries >= 0) AND (wrong_tries <= 5)))
);
CREATE INDEX delivery_pins_oldest ON delivery_pins USING btree (issued_at);
ALTER TABLE delivery_pins ENABLE ROW LEVEL SECURITY;
GRANT SELECT (order_id, buyer_id, issue, sealed, wrong_tries) ON delivery_pins TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON delivery_pins TO campus_orders_service;
CREATE POLICY delivery_pins_of_the_buyer ON delivery_pins FOR SELECT
    USING ((buyer_id = app_user_id()));

CREATE TABLE delivery_verifications (
    caller_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    order_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    attempts_remaining integer,
    tried_at timestamp with time zone NOT NULL,
    CONSTRAINT delivery_verifications_pkey PRIMARY KEY (caller_id, idempotency_key),
    CONSTRAINT delivery_verifications_order FOREIGN KEY (order_id) REFERENCES orders(id)
);
GRANT SELECT, INSERT ON delivery_verifications TO campus_orders_service;

CREATE TABLE dispute_evidence (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    author text NOT NULL,
    byte_count integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT dispute_evidence_pkey PRIMARY KEY (id),
    CONSTRAINT dispute_evidence_dispute FOREIGN KEY (order_id) REFERENCES order_disputes(order_id),
    CONSTRAINT dispute_evidence_author_known CHECK ((author = ANY (ARRAY['buyer'::text, 'vendor'::text])))
);
CREATE INDEX dispute_evidence_of_order ON dispute_evidence USING btree (order_id, created_at, id);
ALTER TABLE dispute_evidence ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispute_evidence TO campus_orders_api;
GRANT SELECT, INSERT, DELETE ON dispute_evidence TO campus_orders_service;
CREATE POLICY dispute_evidence_with_its_dispute ON dispute_evidence FOR SELECT
    USING ((EXISTS ( SELECT
   FROM order_disputes dispute
  WHERE (dispute.order_id = dispute_evidence.order_id))));

CREATE TABLE dispute_resolutions (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    outcome text NOT NULL,
    refund_minor bigint NOT NULL,
    release_minor bigint,
    refund_id uuid,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    reason text,
    CONSTRAINT dispute_resolutions_pkey PRIMARY KEY (id),
    CONSTRAINT dispute_resolutions_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT dispute_resolutions_decided_by_another_person CHECK ((decided_by <> prepared_by)),
    CONSTRAINT dispute_resolutions_decided_once CHECK ((((status = 'prepared'::text) = (decided_by IS NULL)) AND ((status = 'prepared'::text) = (decided_at IS NULL)))),
    CONSTRAINT dispute_resolutions_outcome_known CHECK ((outcome = ANY (ARRAY['buyer'::text, 'vendor'::text, 'split'::text]))),
    CONSTRAINT dispute_resolutions_refund_fits_outcome CHECK ((((outcome = 'vendor'::text) = (refund_minor = 0)) AND (refund_minor >= 0))),
    CONSTRAINT dispute_resolutions_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX dispute_resolutions_newest ON dispute_resolutions USING btree (prepared_at, id);
CREATE INDEX dispute_resolutions_of_order ON dispute_resolutions USING btree (order_id);
CREATE UNIQUE INDEX dispute_resolutions_one_approved ON dispute_resolutions USING btree (order_id) WHERE (status = 'approved'::text);
CREATE UNIQUE INDEX dispute_resolutions_one_prepared ON dispute_resolutions USING btree (order_id) WHERE (status = 'prepared'::text);
ALTER TABLE dispute_resolutions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispute_resolutions TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE (release_minor, refund_id, status, decided_by, decided_at, reason) ON dispute_resolutions TO campus_orders_service;
CREATE POLICY dispute_resolutions_of_staff ON dispute_resolutions FOR SELECT
    USING ((app_may('disputes:prepare'::text) OR app_may('disputes:approve'::text) OR app_may('orders:read'::text)));

CREATE TABLE document_counters (
    vendor_id uuid NOT NULL,
    kind text NOT NULL,
    last bigint NOT NULL,
    CONSTRAINT document_counters_pkey PRIMARY KEY (vendor_id, kind)
);
GRANT SELECT, INSERT, UPDATE ON document_counters TO campus_orders_service;

CREATE TABLE flash_sale_units (
    order_id uuid NOT NULL,
    sale_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    quantity integer NOT NULL,
    returned boolean DEFAULT false NOT NULL,
    CONSTRAINT flash_sale_units_pkey PRIMARY KEY (order_id, sale_id),
    CONSTRAINT flash_sale_units_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT flash_sale_units_sale FOREIGN KEY (sale_id) REFERENCES flash_sales(id),
    CONSTRAINT flash_sale_units_quantity_1_to_99 CHECK (((quantity >= 1) AND (quantity <= 99)))
);
CREATE INDEX flash_sale_units_of_buyer ON flash_sale_units USING btree (sale_id, buyer_id);
ALTER TABLE flash_sale_units ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON flash_sale_units TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON flash_sale_units TO campus_orders_service;
CREATE POLICY flash_sale_units_of_the_buyer ON flash_sale_units FOR SELECT
    USING ((buyer_id = app_user_id()));

CREATE TABLE flash_sales (
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    campus_id uuid NOT NULL,
    price_minor bigint NOT NULL,
    quantity integer NOT NULL,
    sold integer DEFAULT 0 NOT NULL,
    per_buyer_limit integer NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    approved_at timestamp with time zone,
    approved_by uuid,
    variant_id uuid,
    CONSTRAINT flash_sales_pkey PRIMARY KEY (id),
    CONSTRAINT flash_sales_product FOREIGN KEY (product_id) REFERENCES products(id),
    CONSTRAINT flash_sales_variant FOREIGN KEY (variant_id) REFERENCES product_variants(id),
    CONSTRAINT flash_sales_end_after_their_start CHECK ((ends_at >= starts_at)),
    CONSTRAINT flash_sales_limit_within_quantity CHECK (((per_buyer_limit >= 1) AND (per_buyer_limit <= quantity))),
    CONSTRAINT flash_sales_never_sold_out_twice CHECK (((sold >= 0) AND (sold <= quantity))),
    CONSTRAINT flash_sales_price_minor_positive CHECK ((price_minor > 0)),
    CONSTRAINT flash_sales_sold_with_consent CHECK (((sold = 0) OR (approved_at IS NOT NULL)))
);
CREATE INDEX flash_sales_newest ON flash_sales USING btree (created_at, id);
CREATE INDEX flash_sales_of_product ON flash_sales USING btree (product_id, ends_at);
CREATE INDEX flash_sales_prepared ON flash_sales USING btree (vendor_id, created_at, id) WHERE (approved_at IS NULL);
ALTER TABLE flash_sales ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (ends_at) ON flash_sales TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON flash_sales TO campus_orders_service;
CREATE POLICY flash_sales_begun_by_their_vendor ON flash_sales FOR INSERT
    WITH CHECK (((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('catalog:own'::text) AS app_may) AND (sold = 0) AND (EXISTS ( SELECT
   FROM products product
  WHERE ((product.id = flash_sales.product_id) AND (product.vendor_id = flash_sales.vendor_id) AND (product.campus_id = flash_sales.campus_id))))));
CREATE POLICY flash_sales_ended_by_their_keeper ON flash_sales FOR UPDATE
    USING ((((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('catalog:own'::text) AS app_may)) OR ((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('flash_sales:propose'::text) AS app_may))));
CREATE POLICY flash_sales_open_to_all_once_approved ON flash_sales FOR SELECT
    USING (((approved_at IS NOT NULL) OR ((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('catalog:own'::text) AS app_may)) OR ((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('flash_sales:propose'::text) AS app_may))));
CREATE POLICY flash_sales_proposed_by_campus_staff ON flash_sales FOR INSERT
    WITH CHECK (((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('flash_sales:propose'::text) AS app_may) AND (sold = 0) AND (approved_at IS NULL) AND (approved_by IS NULL) AND (EXISTS ( SELECT
   FROM products product
  WHERE ((product.id = flash_sales.product_id) AND (product.vendor_id = flash_sales.vendor_id) AND (product.campus_id = flash_sales.campus_id))))));
CREATE TRIGGER flash_sales_mark_their_product AFTER INSERT ON flash_sales FOR EACH ROW EXECUTE FUNCTION mark_product_with_sales();

CREATE TABLE followed_vendors (
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    followed_at timestamp with time zone NOT NULL,
    CONSTRAINT followed_vendors_pkey PRIMARY KEY (buyer_id, vendor_id),
    CONSTRAINT followed_vendors_vendor FOREIGN KEY (vendor_id) REFERENCES vendors(id)
);
CREATE INDEX followed_vendors_newest ON followed_vendors USING btree (buyer_id, followed_at, vendor_id);
ALTER TABLE followed_vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON followed_vendors TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON followed_vendors TO campus_orders_service;
CREATE POLICY followed_vendors_of_the_buyer ON followed_vendors FOR ALL
    USING ((buyer_id = app_user_id()))
    WITH CHECK ((buyer_id = app_user_id()));
CREATE TRIGGER followed_vendors_refuse_leaving_buyer AFTER INSERT ON followed_vendors FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE hash_keys (
    name text NOT NULL,
    key_encrypted text NOT NULL,
    CONSTRAINT hash_keys_pkey PRIMARY KEY (name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON hash_keys TO campus_orders_service;

CREATE TABLE hubs (
    id uuid NOT NULL,
    campus_id uuid NOT NULL,
    name text NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    active boolean NOT NULL,
    sequence bigint NOT NULL,
    address text,
    opening_hours jsonb,
    CONSTRAINT hubs_pkey PRIMARY KEY (id)
);
ALTER TABLE hubs ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON hubs TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON hubs TO campus_orders_service;
CREATE POLICY hubs_known ON hubs FOR SELECT
    USING (true);

CREATE TABLE idempotent_commands (
    user_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    resource_id uuid NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotent_commands_pkey PRIMARY KEY (user_id, idempotency_key)
);
GRANT SELECT, INSERT ON idempotent_commands TO campus_orders_service;

CREATE TABLE inbox (
    event_id uuid NOT NULL,
    consumer text NOT NULL,
    handled_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT inbox_pkey PRIMARY KEY (event_id, consumer)
);
CREATE INDEX inbox_handled ON inbox USING btree (handled_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON inbox TO campus_orders_service;

CREATE TABLE issued_documents (
    subject_id uuid NOT NULL,
    kind text NOT NULL,
    vendor_id uuid NOT NULL,
    number bigint NOT NULL,
    recipient_id uuid,
    content jsonb NOT NULL,
    recipient_encrypted text NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    CONSTRAINT issued_documents_pkey PRIMARY KEY (subject_id),
    CONSTRAINT issued_documents_number_once UNIQUE (vendor_id, kind, number)
);
CREATE INDEX issued_documents_of_recipient ON issued_documents USING btree (recipient_id) WHERE (recipient_id IS NOT NULL);
ALTER TABLE issued_documents ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON issued_documents TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE (content, recipient_encrypted) ON issued_documents TO campus_orders_service;
CREATE POLICY issued_documents_of_their_buyer ON issued_documents FOR SELECT
    USING ((recipient_id = ( SELECT app_user_id() AS app_user_id)));

CREATE TABLE leaving_people (
    user_id uuid NOT NULL,
    vendor_id uuid,
    standing text NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT leaving_people_pkey PRIMARY KEY (user_id),
    CONSTRAINT leaving_people_standing_known CHECK ((standing = ANY (ARRAY['stays'::text, 'leaves'::text, 'gone'::text])))
);
CREATE INDEX leaving_people_vendor ON leaving_people USING btree (vendor_id) WHERE (vendor_id IS NOT NULL);
ALTER TABLE leaving_people ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_people TO campus_orders_service;

CREATE TABLE leaving_pictures (
    picture_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    leave_at timestamp with time zone NOT NULL,
    claimed_until timestamp with time zone,
    CONSTRAINT leaving_pictures_pkey PRIMARY KEY (picture_id)
);
CREATE INDEX leaving_pictures_due ON leaving_pictures USING btree (leave_at);
ALTER TABLE leaving_pictures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_orders_service;
CREATE POLICY leaving_pictures_own ON leaving_pictures FOR ALL
    USING ((EXISTS ( SELECT
   FROM products own
  WHERE ((own.id = leaving_pictures.owner_id) AND (own.vendor_id = app_vendor_id())))));

CREATE TABLE operation_stops (
    id uuid NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    stopped_by uuid NOT NULL,
    stopped_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    lifted_by uuid,
    lifted_at timestamp with time zone,
    lift_reason text,
    CONSTRAINT operation_stops_pkey PRIMARY KEY (id),
    CONSTRAINT operation_stops_expires_later CHECK ((expires_at > stopped_at)),
    CONSTRAINT operation_stops_lifted_by CHECK ((num_nonnulls(lifted_by, lifted_at, lift_reason) = ANY (ARRAY[0, 3])))
);
CREATE INDEX operation_stops_newest ON operation_stops USING btree (stopped_at);
ALTER TABLE operation_stops ENABLE ROW LEVEL SECURITY;
GRANT SELECT (message, expires_at, lifted_at) ON operation_stops TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE (lifted_by, lifted_at, lift_reason) ON operation_stops TO campus_orders_service;
CREATE POLICY operation_stops_known ON operation_stops FOR SELECT
    USING (true);

CREATE TABLE order_disputes (
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    cause text NOT NULL,
    reason text NOT NULL,
    details text,
    raised_by uuid,
    raised_at timestamp with time zone NOT NULL,
    outcome text,
    ended_at timestamp with time zone,
    charge_outcome text,
    charge_sequence bigint DEFAULT 0 NOT NULL,
    refund_to text,
    CONSTRAINT order_disputes_pkey PRIMARY KEY (order_id),
    CONSTRAINT order_disputes_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT order_disputes_by_the_buyer_has_an_author CHECK (((cause = 'buyer'::text) = (raised_by IS NOT NULL))),
    CONSTRAINT order_disputes_cause_known CHECK ((cause = ANY (ARRAY['buyer'::text, 'pin_window'::text, 'chargeback'::text]))),
    CONSTRAINT order_disputes_charge_outcome_known CHECK ((charge_outcome = ANY (ARRAY['won'::text, 'lost'::text]))),
    CONSTRAINT order_disputes_ended_with_an_outcome CHECK (((outcome IS NULL) = (ended_at IS NULL))),
    CONSTRAINT order_disputes_outcome_known CHECK ((outcome = ANY (ARRAY['buyer'::text, 'vendor'::text, 'split'::text, 'released'::text])))
);
CREATE INDEX order_disputes_open ON order_disputes USING btree (raised_at) WHERE (ended_at IS NULL);
ALTER TABLE order_disputes ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON order_disputes TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON order_disputes TO campus_orders_service;
CREATE POLICY order_disputes_of_their_parties ON order_disputes FOR SELECT
    USING (((buyer_id = app_user_id()) OR ((vendor_id = app_vendor_id()) AND app_may('orders:fulfil'::text)) OR app_may('disputes:prepare'::text) OR app_may('disputes:approve'::text) OR app_may('orders:read'::text)));

CREATE TABLE order_history (
    order_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    event text NOT NULL,
    status text,
    actor_id uuid,
    occurred_at timestamp with time zone NOT NULL,
    actor_role text,
    CONSTRAINT order_history_pkey PRIMARY KEY (order_id, id),
    CONSTRAINT order_history_order FOREIGN KEY (order_id) REFERENCES orders(id)
);
CREATE INDEX order_history_of_actor ON order_history USING btree (actor_id) WHERE (actor_id IS NOT NULL);
ALTER TABLE order_history ENABLE ROW LEVEL SECURITY;
GRANT SELECT (order_id, id, event, status, occurred_at, actor_role) ON order_history TO campus_orders_api;
GRANT SELECT, INSERT ON order_history TO campus_orders_service;
CREATE POLICY order_history_with_its_order ON order_history FOR SELECT
    USING ((EXISTS ( SELECT
   FROM orders
  WHERE (orders.id = order_history.order_id))));

CREATE TABLE order_items (
    id uuid NOT NULL,
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
    variant_id uuid,
    cancelled_at timestamp with time zone,
    CONSTRAINT order_items_pkey PRIMARY KEY (id),
    CONSTRAINT order_items_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT order_items_variant FOREIGN KEY (variant_id) REFERENCES product_variants(id),
    CONSTRAINT order_items_line_total_minor_is_the_product CHECK ((line_total_minor = (unit_price_minor * quantity))),
    CONSTRAINT order_items_quantity_1_to_99 CHECK (((quantity >= 1) AND (quantity <= 99)))
);
CREATE UNIQUE INDEX order_items_of_order ON order_items USING btree (order_id, "position");
CREATE INDEX order_items_of_variant ON order_items USING btree (variant_id) WHERE (variant_id IS NOT NULL);
ALTER TABLE order_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON order_items TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON order_items TO campus_orders_service;
CREATE POLICY order_items_of_the_campus_admins_campus ON order_items FOR SELECT
    USING (((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('campus_orders:read'::text) AS app_may)));
CREATE POLICY order_items_of_their_parties ON order_items FOR SELECT
    USING (((buyer_id = ( SELECT app_user_id() AS app_user_id)) OR ((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('orders:fulfil'::text) AS app_may)) OR ( SELECT app_may('orders:read'::text) AS app_may)));
CREATE POLICY order_items_placed_by_their_buyer ON order_items FOR INSERT
    WITH CHECK ((buyer_id = app_user_id()));
CREATE POLICY order_items_with_their_order ON order_items FOR SELECT
    USING (((( SELECT app_may('charged_orders:read'::text) AS app_may) OR ( SELECT app_may('orders:verify'::text) AS app_may)) AND (EXISTS ( SELECT
   FROM orders
  WHERE (orders.id = order_items.order_id)))));

CREATE TABLE order_refunds (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    counted boolean NOT NULL,
    requested_at timestamp with time zone NOT NULL,
    sequence bigint DEFAULT 0 NOT NULL,
    CONSTRAINT order_refunds_pkey PRIMARY KEY (id),
    CONSTRAINT order_refunds_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT order_refunds_amount_minor_positive CHECK ((amount_minor > 0)),
    CONSTRAINT order_refunds_status_known CHECK ((status = ANY (ARRAY['requested'::text, 'posted'::text, 'failed'::text, 'settled'::text])))
);
CREATE INDEX order_refunds_of_order ON order_refunds USING btree (order_id);
GRANT SELECT, INSERT, UPDATE (reason, status, counted, sequence) ON order_refunds TO campus_orders_service;

CREATE TABLE order_timers (
    order_id uuid NOT NULL,
    kind text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    CONSTRAINT order_timers_pkey PRIMARY KEY (order_id, kind),
    CONSTRAINT order_timers_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT order_timers_kind_known CHECK ((kind = ANY (ARRAY['payment_window'::text, 'vendor_idle'::text, 'pin_window'::text])))
);
CREATE INDEX order_timers_due ON order_timers USING btree (due_at);
ALTER TABLE order_timers ENABLE ROW LEVEL SECURITY;
GRANT INSERT ON order_timers TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON order_timers TO campus_orders_service;
CREATE POLICY order_timers_started_by_checkout ON order_timers FOR INSERT
    WITH CHECK ((kind = 'payment_window'::text));

CREATE TABLE orders (
    id uuid NOT NULL,
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
    payment_due_at timestamp with time zone NOT NULL,
    delivered_at timestamp with time zone,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    revision integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    escrow_minor bigint DEFAULT 0 NOT NULL,
    escrow_sequence bigint DEFAULT 0 NOT NULL,
    return_due_at timestamp with time zone,
    charge_quarantined_at timestamp with time zone,
    purchase_id uuid,
    arrived_at timestamp with time zone,
    CONSTRAINT orders_pkey PRIMARY KEY (id),
    CONSTRAINT orders_idempotency_key_once_per_buyer UNIQUE (buyer_id, idempotency_key),
    CONSTRAINT orders_number_once UNIQUE (number),
    CONSTRAINT orders_purchase FOREIGN KEY (purchase_id) REFERENCES purchases(id),
    CONSTRAINT orders_escrow_minor_within_total CHECK (((escrow_minor >= 0) AND (escrow_minor <= total_amount))),
    CONSTRAINT orders_number_in_base_32 CHECK ((number ~ '^CM-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'::text)),
    CONSTRAINT orders_refunded_minor_within_total CHECK (((refunded_minor >= 0) AND (refunded_minor <= total_amount))),
    CONSTRAINT orders_status_known CHECK ((status = ANY (ARRAY['Processing'::text, 'expired'::text, 'cancelled'::text, 'paid_escrow'::text, 'dispatched'::text, 'delivered'::text, 'paid'::text, 'disputed'::text, 'refund_pending'::text, 'refunded'::text]))),
    CONSTRAINT orders_total_amount_is_the_sum CHECK ((total_amount = (subtotal_minor + delivery_fee_minor)))
);
CREATE INDEX orders_dearest ON orders USING btree (total_amount, id);
CREATE INDEX orders_newest ON orders USING btree (created_at, id);
CREATE INDEX orders_newest_of_buyer ON orders USING btree (buyer_id, created_at, id);
CREATE INDEX orders_newest_of_campus ON orders USING btree (campus_id, created_at, id);
CREATE INDEX orders_newest_of_hub ON orders USING btree (hub_id, created_at, id) WHERE (hub_id IS NOT NULL);
CREATE INDEX orders_newest_of_vendor ON orders USING btree (vendor_id, created_at, id);
CREATE INDEX orders_of_purchase ON orders USING btree (purchase_id, id) WHERE (purchase_id IS NOT NULL);
CREATE INDEX orders_to_dispatch ON orders USING btree (vendor_id, created_at, id) WHERE (status = 'paid_escrow'::text);
CREATE INDEX orders_unpaid_of_buyer ON orders USING btree (buyer_id) WHERE (status = 'Processing'::text);
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON orders TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON orders TO campus_orders_service;
CREATE POLICY orders_never_of_ones_own_vendor ON orders AS RESTRICTIVE FOR INSERT
    WITH CHECK (((vendor_id IS DISTINCT FROM ( SELECT app_vendor_id() AS app_vendor_id)) AND (vendor_id IS DISTINCT FROM ( SELECT app_packing_vendor_id() AS app_packing_vendor_id)) AND (NOT (EXISTS ( SELECT
   FROM vendors known
  WHERE ((known.id = orders.vendor_id) AND (known.owner_user_id = ( SELECT app_user_id() AS app_user_id))))))));
CREATE POLICY orders_of_the_campus_admins_campus ON orders FOR SELECT
    USING (((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('campus_orders:read'::text) AS app_may)));
CREATE POLICY orders_of_their_parties ON orders FOR SELECT
    USING (((buyer_id = ( SELECT app_user_id() AS app_user_id)) OR ((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('orders:fulfil'::text) AS app_may)) OR ((hub_id = ( SELECT app_hub_id() AS app_hub_id)) AND ( SELECT app_may('orders:verify'::text) AS app_may)) OR ( SELECT app_may('orders:read'::text) AS app_may)));
CREATE POLICY orders_placed_by_their_buyer ON orders FOR INSERT
    WITH CHECK (((buyer_id = app_user_id()) AND (status = 'Processing'::text) AND app_may('orders:place'::text)));
CREATE POLICY orders_with_a_charge ON orders FOR SELECT
    USING ((( SELECT app_may('charged_orders:read'::text) AS app_may) AND ((escrow_sequence > 0) OR (charge_quarantined_at IS NOT NULL))));
CREATE TRIGGER orders_refuse_leaving_buyer AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();
CREATE TRIGGER orders_refuse_leaving_vendor AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();

CREATE TABLE outbox (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id uuid NOT NULL,
    queue text,
    type text NOT NULL,
    source text NOT NULL,
    subject text NOT NULL,
    sequence bigint NOT NULL,
    payload bytea NOT NULL,
    trace jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    CONSTRAINT outbox_pkey PRIMARY KEY ("position")
);
CREATE INDEX outbox_published ON outbox USING btree (published_at) WHERE (published_at IS NOT NULL);
CREATE INDEX outbox_waiting ON outbox USING btree ("position") WHERE (published_at IS NULL);
GRANT INSERT ON outbox TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO campus_orders_service;

CREATE TABLE outbox_sequences (
    subject text NOT NULL,
    last bigint NOT NULL,
    used_at timestamp with time zone DEFAULT date_trunc('day'::text, now()) NOT NULL,
    CONSTRAINT outbox_sequences_pkey PRIMARY KEY (subject)
);
CREATE INDEX outbox_sequences_idle ON outbox_sequences USING btree (used_at);
GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_sequences TO campus_orders_service;

CREATE TABLE pin_reissues (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT pin_reissues_pkey PRIMARY KEY (id),
    CONSTRAINT pin_reissues_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT pin_reissues_by_two CHECK ((decided_by <> prepared_by)),
    CONSTRAINT pin_reissues_decided_once CHECK ((((status = ANY (ARRAY['prepared'::text, 'expired'::text])) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT pin_reissues_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text, 'expired'::text])))
);
CREATE INDEX pin_reissues_decided_by ON pin_reissues USING btree (decided_by) WHERE (decided_by IS NOT NULL);
CREATE INDEX pin_reissues_newest ON pin_reissues USING btree (prepared_at, id);
CREATE INDEX pin_reissues_of_order ON pin_reissues USING btree (order_id);
CREATE UNIQUE INDEX pin_reissues_one_prepared ON pin_reissues USING btree (order_id) WHERE (status = 'prepared'::text);
CREATE INDEX pin_reissues_prepared_by ON pin_reissues USING btree (prepared_by);
ALTER TABLE pin_reissues ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON pin_reissues TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE (reason, status, decided_by, decided_at, rejection) ON pin_reissues TO campus_orders_service;
CREATE POLICY pin_reissues_of_staff ON pin_reissues FOR SELECT
    USING ((app_may('pin_reissues:prepare'::text) OR app_may('pin_reissues:approve'::text) OR app_may('orders:read'::text)));

CREATE TABLE product_takedowns (
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    campus_id uuid NOT NULL,
    reason text NOT NULL,
    delisted_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    restored_by uuid,
    restored_at timestamp with time zone,
    restored_because text,
    CONSTRAINT product_takedowns_pkey PRIMARY KEY (id),
    CONSTRAINT product_takedowns_product FOREIGN KEY (product_id) REFERENCES products(id),
    CONSTRAINT product_takedowns_restored_once CHECK ((num_nonnulls(restored_by, restored_at, restored_because) = ANY (ARRAY[0, 3])))
);
CREATE INDEX product_takedowns_by ON product_takedowns USING btree (delisted_by);
CREATE INDEX product_takedowns_newest ON product_takedowns USING btree (created_at, id);
CREATE INDEX product_takedowns_of_campus ON product_takedowns USING btree (campus_id, created_at, id);
CREATE INDEX product_takedowns_of_product ON product_takedowns USING btree (product_id);
CREATE UNIQUE INDEX product_takedowns_one_open ON product_takedowns USING btree (product_id) WHERE (restored_at IS NULL);
CREATE INDEX product_takedowns_restored_by ON product_takedowns USING btree (restored_by) WHERE (restored_by IS NOT NULL);
ALTER TABLE product_takedowns ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON product_takedowns TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE (restored_by, restored_at, restored_because) ON product_takedowns TO campus_orders_service;
CREATE POLICY product_takedowns_of_the_campus_and_staff ON product_takedowns FOR SELECT
    USING ((( SELECT app_may('reports:read'::text) AS app_may) OR ((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('listings:delist'::text) AS app_may))));

CREATE TABLE product_variants (
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    position smallint,
    sku text,
    option_values jsonb NOT NULL,
    price_minor bigint NOT NULL,
    stock integer NOT NULL,
    image_id uuid,
    active boolean NOT NULL,
    CONSTRAINT product_variants_pkey PRIMARY KEY (id),
    CONSTRAINT product_variants_product FOREIGN KEY (product_id) REFERENCES products(id),
    CONSTRAINT product_variants_active_with_a_position CHECK ((("position" IS NOT NULL) OR (NOT active))),
    CONSTRAINT product_variants_at_most_100 CHECK ((("position" >= 0) AND ("position" <= 99))),
    CONSTRAINT product_variants_options_1_to_3 CHECK (((jsonb_array_length(option_values) >= 1) AND (jsonb_array_length(option_values) <= 3))),
    CONSTRAINT product_variants_price_minor_positive CHECK ((price_minor > 0)),
    CONSTRAINT product_variants_stock_never_negative CHECK ((stock >= 0))
);
CREATE UNIQUE INDEX product_variants_distinct ON product_variants USING btree (product_id, option_values) WHERE ("position" IS NOT NULL);
CREATE UNIQUE INDEX product_variants_of_product ON product_variants USING btree (product_id, "position");
CREATE UNIQUE INDEX product_variants_sku_once ON product_variants USING btree (product_id, sku) WHERE (("position" IS NOT NULL) AND (sku IS NOT NULL));
ALTER TABLE product_variants ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE, UPDATE (position, sku, option_values, price_minor, stock, image_id, active) ON product_variants TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON product_variants TO campus_orders_service;
CREATE POLICY product_variants_with_their_product ON product_variants FOR SELECT
    USING ((EXISTS ( SELECT
   FROM products
  WHERE (products.id = product_variants.product_id))));
CREATE POLICY product_variants_written_by_their_vendor ON product_variants FOR ALL
    USING ((app_may('catalog:own'::text) AND (EXISTS ( SELECT
   FROM products
  WHERE ((products.id = product_variants.product_id) AND (products.vendor_id = app_vendor_id()))))));
CREATE CONSTRAINT TRIGGER product_variants_match_their_product AFTER INSERT OR DELETE OR UPDATE ON product_variants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_other_totals();

CREATE TABLE products (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    vendor_name text NOT NULL,
    campus_id uuid NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    category text NOT NULL,
    price_minor bigint NOT NULL,
    currency text DEFAULT 'NGN'::text NOT NULL,
    stock integer NOT NULL,
    images jsonb DEFAULT '[]'::jsonb NOT NULL,
    rating_sum bigint DEFAULT 0 NOT NULL,
    rating_count integer DEFAULT 0 NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone,
    draft boolean DEFAULT false NOT NULL,
    has_sales boolean DEFAULT false NOT NULL,
    options jsonb DEFAULT '[]'::jsonb NOT NULL,
    condition text DEFAULT 'new'::text NOT NULL,
    variant_terms tsvector,
    hidden_at timestamp with time zone,
    hidden_because text,
    words tsvector GENERATED ALWAYS AS (((setweight(to_tsvector('english'::regconfig, plain(name)), 'A'::"char") || setweight(to_tsvector('english'::regconfig, plain(category)), 'B'::"char")) || setweight(to_tsvector('english'::regconfig, plain(description)), 'D'::"char"))) STORED,
    terms tsvector GENERATED ALWAYS AS (((setweight(to_tsvector('every_word'::regconfig, search_text(name)), 'A'::"char") || setweight(to_tsvector('every_word'::regconfig, search_text(category)), 'B'::"char")) || setweight(to_tsvector('every_word'::regconfig, search_text(description)), 'D'::"char"))) STORED,
    sku text,
    name_terms tsvector GENERATED ALWAYS AS (((setweight(to_tsvector('every_word'::regconfig, joined_text(name)), 'A'::"char") || setweight(to_tsvector('every_word'::regconfig, search_text(category)), 'B'::"char")) || setweight(to_tsvector('every_word'::regconfig, search_text(description)), 'D'::"char"))) STORED,
    CONSTRAINT products_pkey PRIMARY KEY (id),
    CONSTRAINT products_condition_known CHECK ((condition = ANY (ARRAY['new'::text, 'like_new'::text, 'good'::text, 'fair'::text]))),
    CONSTRAINT products_currency_ngn CHECK ((currency = 'NGN'::text)),
    CONSTRAINT products_hidden_for_a_reason CHECK (((hidden_at IS NULL) = (hidden_because IS NULL))),
    CONSTRAINT products_images_at_most_8 CHECK ((jsonb_array_length(images) <= 8)),
    CONSTRAINT products_options_at_most_3 CHECK ((jsonb_array_length(options) <= 3)),
    CONSTRAINT products_price_minor_positive CHECK ((price_minor > 0)),
    CONSTRAINT products_stock_never_negative CHECK ((stock >= 0))
);
CREATE INDEX products_name_terms ON products USING gin (COALESCE(variant_terms, name_terms)) WITH (fastupdate=off) WHERE ((removed_at IS NULL) AND (NOT draft));
CREATE INDEX products_newest ON products USING btree (created_at, id) WHERE ((removed_at IS NULL) AND (NOT draft));
CREATE INDEX products_newest_of_campus ON products USING btree (campus_id, created_at, id) WHERE ((removed_at IS NULL) AND (NOT draft));
CREATE INDEX products_newest_of_category ON products USING btree (category, created_at, id) WHERE ((removed_at IS NULL) AND (NOT draft));
CREATE INDEX products_newest_of_vendor ON products USING btree (vendor_id, created_at, id) WHERE ((removed_at IS NULL) AND (NOT draft));
CREATE INDEX products_own ON products USING btree (vendor_id, created_at, id);
CREATE INDEX products_priced ON products USING btree (price_minor, id) WHERE ((removed_at IS NULL) AND (NOT draft));
CREATE INDEX products_priced_of_category ON products USING btree (category, price_minor, id) WHERE ((removed_at IS NULL) AND (NOT draft));
CREATE UNIQUE INDEX products_sku_once ON products USING btree (vendor_id, sku) WHERE ((removed_at IS NULL) AND (sku IS NOT NULL));
ALTER TABLE products ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT (id, vendor_id, vendor_name, campus_id, name, description, category, price_minor, stock, created_at, updated_at, draft, options, condition), UPDATE (name, description, category, price_minor, stock, images, revision, updated_at, removed_at, draft, options, condition, variant_terms, sku) ON products TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON products TO campus_orders_service;
CREATE POLICY products_changed_by_their_vendor ON products FOR UPDATE
    USING (((vendor_id = app_vendor_id()) AND app_may('catalog:own'::text)))
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('catalog:own'::text)));
CREATE POLICY products_listed ON products FOR SELECT
    USING ((((removed_at IS NULL) AND (NOT draft) AND (hidden_at IS NULL)) OR (vendor_id = app_vendor_id()) OR ((hidden_at IS NOT NULL) AND (app_may('reports:read'::text) OR ((campus_id = app_campus_id()) AND app_may('listings:delist'::text))))));
CREATE POLICY products_written_by_their_vendor ON products FOR INSERT
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('catalog:own'::text)));
CREATE CONSTRAINT TRIGGER products_match_their_variants AFTER INSERT OR UPDATE ON products DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.options <> '[]'::jsonb)) EXECUTE FUNCTION refuse_other_totals();
CREATE TRIGGER products_record_saved_change AFTER UPDATE OF stock, price_minor ON products FOR EACH ROW WHEN ((((old.stock = 0) AND (new.stock > 0)) OR (new.price_minor < old.price_minor))) EXECUTE FUNCTION record_saved_product_change();
CREATE TRIGGER products_refuse_leaving_vendor AFTER INSERT ON products FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();

CREATE TABLE purchase_drafts (
    id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    lines jsonb NOT NULL,
    purchase_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT purchase_drafts_pkey PRIMARY KEY (id),
    CONSTRAINT purchase_drafts_purchase_id_key UNIQUE (purchase_id),
    CONSTRAINT purchase_drafts_purchase FOREIGN KEY (purchase_id) REFERENCES purchases(id)
);
CREATE INDEX purchase_drafts_of_buyer ON purchase_drafts USING btree (buyer_id);
CREATE INDEX purchase_drafts_oldest ON purchase_drafts USING btree (created_at);
ALTER TABLE purchase_drafts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (purchase_id) ON purchase_drafts TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON purchase_drafts TO campus_orders_service;
CREATE POLICY purchase_drafts_checked_out_by_the_buyer ON purchase_drafts FOR UPDATE
    USING ((buyer_id = app_user_id()))
    WITH CHECK ((buyer_id = app_user_id()));
CREATE POLICY purchase_drafts_of_the_buyer ON purchase_drafts FOR SELECT
    USING ((buyer_id = app_user_id()));
CREATE TRIGGER purchase_drafts_refuse_leaving_buyer AFTER INSERT ON purchase_drafts FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE purchases (
    id uuid NOT NULL,
    number text NOT NULL,
    buyer_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT purchases_pkey PRIMARY KEY (id),
    CONSTRAINT purchases_idempotency_key_once_per_buyer UNIQUE (buyer_id, idempotency_key),
    CONSTRAINT purchases_number_once UNIQUE (number),
    CONSTRAINT purchases_number_in_base_32 CHECK ((number ~ '^CP-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'::text))
);
CREATE INDEX purchases_newest ON purchases USING btree (created_at, id);
CREATE INDEX purchases_newest_of_buyer ON purchases USING btree (buyer_id, created_at, id);
ALTER TABLE purchases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON purchases TO campus_orders_api;
GRANT SELECT, INSERT ON purchases TO campus_orders_service;
CREATE POLICY purchases_of_their_buyer ON purchases FOR SELECT
    USING (((buyer_id = ( SELECT app_user_id() AS app_user_id)) OR ( SELECT app_may('orders:read'::text) AS app_may)));
CREATE POLICY purchases_placed_by_their_buyer ON purchases FOR INSERT
    WITH CHECK (((buyer_id = app_user_id()) AND app_may('orders:place'::text)));
CREATE POLICY purchases_with_a_charge ON purchases FOR SELECT
    USING ((( SELECT app_may('charged_orders:read'::text) AS app_may) AND (EXISTS ( SELECT
   FROM orders
  WHERE (orders.purchase_id = purchases.id)))));

CREATE TABLE reports (
    id uuid NOT NULL,
    reporter_id uuid NOT NULL,
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    campus_id uuid NOT NULL,
    reason text NOT NULL,
    details text,
    created_at timestamp with time zone NOT NULL,
    outcome text,
    decided_by uuid,
    decided_at timestamp with time zone,
    CONSTRAINT reports_pkey PRIMARY KEY (id),
    CONSTRAINT reports_decided_by_another_person CHECK ((decided_by <> reporter_id)),
    CONSTRAINT reports_decided_once CHECK ((((outcome IS NULL) = (decided_by IS NULL)) AND ((outcome IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT reports_kind_known CHECK ((kind = ANY (ARRAY['product'::text, 'review'::text, 'vendor'::text, 'message'::text]))),
    CONSTRAINT reports_outcome_known CHECK ((outcome = ANY (ARRAY['dismiss'::text, 'hide'::text, 'suspend_vendor'::text])))
);
CREATE INDEX reports_newest ON reports USING btree (created_at, id);
CREATE INDEX reports_newest_of_campus ON reports USING btree (campus_id, created_at, id);
CREATE INDEX reports_of_subject ON reports USING btree (kind, subject_id);
CREATE UNIQUE INDEX reports_one_open ON reports USING btree (reporter_id, kind, subject_id) WHERE (outcome IS NULL);
CREATE INDEX reports_waiting ON reports USING btree (created_at) WHERE (outcome IS NULL);
ALTER TABLE reports ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON reports TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE ON reports TO campus_orders_service;
CREATE POLICY reports_made_by_their_reporter ON reports FOR INSERT
    WITH CHECK (((reporter_id = app_user_id()) AND (outcome IS NULL)));
CREATE POLICY reports_of_their_reporter_and_staff ON reports FOR SELECT
    USING (((reporter_id = ( SELECT app_user_id() AS app_user_id)) OR ( SELECT app_may('reports:read'::text) AS app_may) OR ((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('vendors:suspend'::text) AS app_may))));

CREATE TABLE return_request_items (
    return_request_id uuid NOT NULL,
    item_id uuid NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT return_request_items_pkey PRIMARY KEY (return_request_id, item_id),
    CONSTRAINT return_request_items_item FOREIGN KEY (item_id) REFERENCES order_items(id),
    CONSTRAINT return_request_items_request FOREIGN KEY (return_request_id) REFERENCES return_requests(id),
    CONSTRAINT return_request_items_quantity_positive CHECK ((quantity > 0))
);
CREATE INDEX return_request_items_of_item ON return_request_items USING btree (item_id);
ALTER TABLE return_request_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON return_request_items TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON return_request_items TO campus_orders_service;
CREATE POLICY return_request_items_with_their_request ON return_request_items FOR SELECT
    USING ((EXISTS ( SELECT
   FROM return_requests request
  WHERE (request.id = return_request_items.return_request_id))));

CREATE TABLE return_requests (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    refund_minor bigint,
    refund_id uuid,
    decided_by uuid,
    decision_reason text,
    decided_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    refund_to text,
    cancels_lines boolean DEFAULT false NOT NULL,
    CONSTRAINT return_requests_pkey PRIMARY KEY (id),
    CONSTRAINT return_requests_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT return_requests_decided_once CHECK ((((status = 'requested'::text) = (decided_by IS NULL)) AND ((status = 'requested'::text) = (decided_at IS NULL)))),
    CONSTRAINT return_requests_not_decided_by_the_buyer CHECK ((decided_by <> buyer_id)),
    CONSTRAINT return_requests_refund_of_an_approval CHECK (((status = 'approved'::text) = (refund_minor IS NOT NULL))),
    CONSTRAINT return_requests_status_known CHECK ((status = ANY (ARRAY['requested'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX return_requests_decided ON return_requests USING btree (decided_by) WHERE (decided_by IS NOT NULL);
CREATE INDEX return_requests_newest ON return_requests USING btree (created_at, id);
CREATE INDEX return_requests_newest_of_buyer ON return_requests USING btree (buyer_id, created_at, id);
CREATE INDEX return_requests_newest_of_status ON return_requests USING btree (status, created_at, id);
CREATE INDEX return_requests_newest_of_vendor ON return_requests USING btree (vendor_id, created_at, id);
CREATE INDEX return_requests_of_buyer ON return_requests USING btree (buyer_id);
CREATE INDEX return_requests_of_order ON return_requests USING btree (order_id, created_at, id);
ALTER TABLE return_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON return_requests TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON return_requests TO campus_orders_service;
CREATE POLICY return_requests_of_their_parties ON return_requests FOR SELECT
    USING (((buyer_id = app_user_id()) OR ((vendor_id = app_vendor_id()) AND app_may('orders:fulfil'::text)) OR app_may('returns:decide'::text) OR app_may('orders:read'::text)));
CREATE TRIGGER return_requests_refuse_leaving_buyer AFTER INSERT ON return_requests FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE reviews (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    product_id uuid,
    rating smallint NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    hidden_at timestamp with time zone,
    hidden_by uuid,
    hidden_because text,
    reply_text text,
    replied_at timestamp with time zone,
    CONSTRAINT reviews_pkey PRIMARY KEY (id),
    CONSTRAINT reviews_order FOREIGN KEY (order_id) REFERENCES orders(id),
    CONSTRAINT reviews_hidden_by_somebody_for_a_reason CHECK ((((hidden_at IS NULL) = (hidden_by IS NULL)) AND ((hidden_at IS NULL) = (hidden_because IS NULL)))),
    CONSTRAINT reviews_rating_1_to_5 CHECK (((rating >= 1) AND (rating <= 5))),
    CONSTRAINT reviews_reply_has_a_time CHECK (((reply_text IS NULL) = (replied_at IS NULL)))
);
CREATE INDEX reviews_hidden ON reviews USING btree (hidden_by) WHERE (hidden_by IS NOT NULL);
CREATE INDEX reviews_newest ON reviews USING btree (created_at, id);
CREATE INDEX reviews_newest_of_product ON reviews USING btree (product_id, created_at, id) WHERE (product_id IS NOT NULL);
CREATE INDEX reviews_newest_of_vendor ON reviews USING btree (vendor_id, created_at, id) WHERE (product_id IS NULL);
CREATE INDEX reviews_of_buyer ON reviews USING btree (buyer_id);
CREATE UNIQUE INDEX reviews_one_of_each_product ON reviews USING btree (order_id, product_id) WHERE (product_id IS NOT NULL);
CREATE UNIQUE INDEX reviews_one_of_the_vendor ON reviews USING btree (order_id) WHERE (product_id IS NULL);
ALTER TABLE reviews ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (hidden_at, hidden_by, hidden_because, reply_text, replied_at) ON reviews TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON reviews TO campus_orders_service;
CREATE POLICY reviews_by_the_buyer_of_a_delivered_order ON reviews FOR INSERT
    WITH CHECK (((buyer_id = app_user_id()) AND app_may('orders:place'::text) AND (hidden_at IS NULL) AND (EXISTS ( SELECT
   FROM orders
  WHERE ((orders.id = reviews.order_id) AND (orders.buyer_id = app_user_id()) AND (orders.vendor_id = reviews.vendor_id) AND ((orders.delivered_at IS NOT NULL) OR (orders.status = 'paid'::text))))) AND ((product_id IS NULL) OR (EXISTS ( SELECT
   FROM order_items item
  WHERE ((item.order_id = reviews.order_id) AND (item.product_id = reviews.product_id)))))));
CREATE POLICY reviews_moderated ON reviews FOR UPDATE
    USING (app_may('reviews:moderate'::text));
CREATE POLICY reviews_never_of_ones_own_vendor ON reviews AS RESTRICTIVE FOR INSERT
    WITH CHECK (((vendor_id IS DISTINCT FROM ( SELECT app_vendor_id() AS app_vendor_id)) AND (vendor_id IS DISTINCT FROM ( SELECT app_packing_vendor_id() AS app_packing_vendor_id)) AND (NOT (EXISTS ( SELECT
   FROM vendors known
  WHERE ((known.id = reviews.vendor_id) AND (known.owner_user_id = ( SELECT app_user_id() AS app_user_id))))))));
CREATE POLICY reviews_replied_to_by_their_vendor ON reviews FOR UPDATE
    USING (((vendor_id = app_vendor_id()) AND app_may('catalog:own'::text) AND (hidden_at IS NULL) AND (replied_at IS NULL)))
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('catalog:own'::text) AND (hidden_at IS NULL)));
CREATE POLICY reviews_shown ON reviews FOR SELECT
    USING (((hidden_at IS NULL) OR (buyer_id = app_user_id()) OR app_may('reviews:read'::text)));
CREATE TRIGGER reviews_keep_rating AFTER INSERT OR UPDATE OF hidden_at ON reviews FOR EACH ROW EXECUTE FUNCTION keep_rating();
CREATE TRIGGER reviews_refuse_leaving_buyer AFTER INSERT ON reviews FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE sale_lines (
    item_id uuid NOT NULL,
    order_id uuid NOT NULL,
    product_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    campus_id uuid NOT NULL,
    category text NOT NULL,
    name text NOT NULL,
    quantity integer NOT NULL,
    sold_at timestamp with time zone NOT NULL,
    sequence bigint NOT NULL,
    gross_minor bigint NOT NULL,
    locked_minor bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    variant_id uuid,
    CONSTRAINT sale_lines_pkey PRIMARY KEY (item_id),
    CONSTRAINT sale_lines_item FOREIGN KEY (item_id) REFERENCES order_items(id),
    CONSTRAINT sale_lines_balanced CHECK ((gross_minor = ((((locked_minor + refunded_minor) + delivery_fee_minor) + commission_minor) + net_minor)))
);
CREATE INDEX sale_lines_newest ON sale_lines USING btree (sold_at);
CREATE INDEX sale_lines_of_campus ON sale_lines USING btree (campus_id, sold_at);
CREATE INDEX sale_lines_of_vendor ON sale_lines USING btree (vendor_id, sold_at);
ALTER TABLE sale_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON sale_lines TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE ON sale_lines TO campus_orders_service;
CREATE POLICY sale_lines_of_vendor_campus_and_finance ON sale_lines FOR SELECT
    USING ((((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('orders:fulfil'::text) AS app_may)) OR ((campus_id = ( SELECT app_campus_id() AS app_campus_id)) AND ( SELECT app_may('campus_orders:read'::text) AS app_may)) OR ( SELECT app_may('ledger:read'::text) AS app_may)));

CREATE TABLE saved_product_changes (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    product_id uuid NOT NULL,
    kind text NOT NULL,
    price_minor bigint NOT NULL,
    published_to uuid,
    CONSTRAINT saved_product_changes_pkey PRIMARY KEY (id),
    CONSTRAINT saved_product_changes_product FOREIGN KEY (product_id) REFERENCES products(id),
    CONSTRAINT saved_product_changes_kind_known CHECK ((kind = ANY (ARRAY['back_in_stock'::text, 'price_drop'::text])))
);
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_product_changes TO campus_orders_service;

CREATE TABLE saved_products (
    buyer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    CONSTRAINT saved_products_pkey PRIMARY KEY (buyer_id, product_id),
    CONSTRAINT saved_products_product FOREIGN KEY (product_id) REFERENCES products(id)
);
CREATE INDEX saved_products_newest ON saved_products USING btree (buyer_id, saved_at, product_id);
CREATE INDEX saved_products_savers ON saved_products USING btree (product_id, buyer_id);
ALTER TABLE saved_products ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON saved_products TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_products TO campus_orders_service;
CREATE POLICY saved_products_of_the_buyer ON saved_products FOR ALL
    USING ((buyer_id = app_user_id()))
    WITH CHECK ((buyer_id = app_user_id()));
CREATE TRIGGER saved_products_refuse_leaving_buyer AFTER INSERT ON saved_products FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();

CREATE TABLE search_words (
    word text COLLATE "C" NOT NULL,
    spellings text[] GENERATED ALWAYS AS (spellings_of(word)) STORED NOT NULL,
    CONSTRAINT search_words_pkey PRIMARY KEY (word)
);
CREATE INDEX search_words_spelled ON search_words USING gin (spellings) WITH (fastupdate=off);
ALTER TABLE search_words ENABLE ROW LEVEL SECURITY;
GRANT SELECT (word, spellings), INSERT (word) ON search_words TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON search_words TO campus_orders_service;
CREATE POLICY search_words_known ON search_words FOR SELECT
    USING (true);
CREATE POLICY search_words_of_merchants ON search_words FOR INSERT
    WITH CHECK (app_may('catalog:own'::text));

CREATE TABLE session_revocations (
    user_id uuid NOT NULL,
    session_id uuid,
    not_before timestamp with time zone NOT NULL,
    heard_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX session_revocations_heard ON session_revocations USING btree (heard_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON session_revocations TO campus_orders_service;

CREATE TABLE user_contacts (
    user_id uuid NOT NULL,
    short_name text,
    contact_encrypted text NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT user_contacts_pkey PRIMARY KEY (user_id)
);
ALTER TABLE user_contacts ENABLE ROW LEVEL SECURITY;
GRANT SELECT (user_id, short_name, contact_encrypted) ON user_contacts TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON user_contacts TO campus_orders_service;
CREATE POLICY user_contacts_of_orders ON user_contacts FOR SELECT
    USING (((user_id = ( SELECT app_user_id() AS app_user_id)) OR ( SELECT app_may('orders:read'::text) AS app_may) OR shares_order_with(user_id)));

CREATE TABLE vendors (
    id uuid NOT NULL,
    business_name text NOT NULL,
    campus_id uuid NOT NULL,
    commission_basis_points integer,
    sequence bigint NOT NULL,
    suspended boolean DEFAULT false NOT NULL,
    standing_sequence bigint DEFAULT 0 NOT NULL,
    rating_sum bigint DEFAULT 0 NOT NULL,
    rating_count integer DEFAULT 0 NOT NULL,
    owner_user_id uuid,
    absent_until timestamp with time zone,
    absence_message text,
    CONSTRAINT vendors_pkey PRIMARY KEY (id)
);
CREATE INDEX vendors_absent ON vendors USING btree (id) WHERE (absent_until IS NOT NULL);
CREATE INDEX vendors_suspended ON vendors USING btree (id) WHERE suspended;
ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON vendors TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON vendors TO campus_orders_service;
CREATE POLICY vendors_known ON vendors FOR SELECT
    USING (true);

CREATE VIEW listed_products AS
 SELECT products.id,
    products.vendor_id,
    products.vendor_name,
    products.campus_id,
    products.name,
    products.description,
    products.category,
    products.price_minor,
    products.currency,
    products.stock,
    products.images,
    products.rating_sum,
    products.rating_count,
    products.revision,
    products.words,
    products.created_at,
    products.has_sales,
    COALESCE(products.variant_terms, products.name_terms) AS terms,
    products.options,
    products.condition
   FROM products
  WHERE products.removed_at IS NULL AND NOT products.draft AND products.hidden_at IS NULL AND NOT (products.vendor_id IN ( SELECT vendors.id
           FROM vendors
          WHERE vendors.suspended));
GRANT SELECT ON listed_products TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON listed_products TO campus_orders_service;

CREATE VIEW orders_to_pack WITH (security_barrier=true) AS
 SELECT orders.id,
    orders.number,
    orders.status,
    orders.hub_id,
    hub.name AS hub_name,
    buyer.short_name AS buyer_name,
    orders.delivery_note,
    orders.created_at,
    orders.updated_at,
    orders.arrived_at,
    orders.delivered_at,
    orders.revision,
    COALESCE(( SELECT json_agg(item.*) AS json_agg
           FROM ( SELECT order_items.id,
                    order_items.product_id AS "productId",
                    order_items.variant_id AS "variantId",
                    order_items.name,
                    order_items.quantity
                   FROM order_items
                  WHERE order_items.order_id = orders.id AND order_items.cancelled_at IS NULL
                  ORDER BY order_items."position") item), '[]'::json) AS items,
    orders.vendor_id
   FROM orders
     LEFT JOIN hubs hub ON hub.id = orders.hub_id
     LEFT JOIN user_contacts buyer ON buyer.user_id = orders.buyer_id;
GRANT SELECT, INSERT, UPDATE, DELETE ON orders_to_pack TO campus_orders_service;

CREATE VIEW packing_orders WITH (security_barrier=true) AS
 SELECT orders_to_pack.id,
    orders_to_pack.number,
    orders_to_pack.status,
    orders_to_pack.hub_id,
    orders_to_pack.hub_name,
    orders_to_pack.buyer_name,
    orders_to_pack.delivery_note,
    orders_to_pack.created_at,
    orders_to_pack.updated_at,
    orders_to_pack.arrived_at,
    orders_to_pack.delivered_at,
    orders_to_pack.revision,
    orders_to_pack.items
   FROM orders_to_pack
  WHERE orders_to_pack.vendor_id = (( SELECT app_packing_vendor_id() AS app_packing_vendor_id)) AND ( SELECT app_may('orders:pack'::text) AS app_may) AND (orders_to_pack.status = ANY (ARRAY['paid_escrow'::text, 'dispatched'::text, 'delivered'::text, 'paid'::text]));
GRANT SELECT ON packing_orders TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON packing_orders TO campus_orders_service;

CREATE VIEW shelf AS
 SELECT listed_products.id,
    listed_products.vendor_id,
    listed_products.vendor_name,
    listed_products.campus_id,
    listed_products.name,
    listed_products.description,
    listed_products.category,
    listed_products.price_minor,
    listed_products.currency,
    listed_products.stock,
    listed_products.images,
    listed_products.rating_sum,
    listed_products.rating_count,
    listed_products.revision,
    listed_products.words,
    listed_products.created_at,
    listed_products.has_sales,
    listed_products.terms,
    listed_products.options,
    listed_products.condition
   FROM listed_products;
GRANT SELECT ON shelf TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON shelf TO campus_orders_service;

CREATE VIEW shop_actions WITH (security_barrier=true) AS
 SELECT history.order_id,
    history.id,
    actor.short_name
   FROM order_history history
     JOIN orders ON orders.id = history.order_id
     JOIN user_contacts actor ON actor.user_id = history.actor_id
  WHERE history.actor_id = (( SELECT app_user_id() AS app_user_id)) OR ( SELECT app_may('orders:read'::text) AS app_may) OR orders.vendor_id = (( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('orders:fulfil'::text) AS app_may) AND COALESCE(history.actor_role = ANY (ARRAY['buyer'::text, 'vendor'::text]), history.event = ANY (ARRAY['vendor_dispatches'::text, 'pin_accepted'::text]));
GRANT SELECT ON shop_actions TO campus_orders_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON shop_actions TO campus_orders_service;
