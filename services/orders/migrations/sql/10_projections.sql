ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON vendors TO campus_orders_api;
-- Checkout reads vendors, campuses and hubs; none of it is private.
CREATE POLICY vendors_known ON vendors FOR SELECT USING (true);

ALTER TABLE campuses ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON campuses TO campus_orders_api;
CREATE POLICY campuses_known ON campuses FOR SELECT USING (true);

ALTER TABLE hubs ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON hubs TO campus_orders_api;
CREATE POLICY hubs_known ON hubs FOR SELECT USING (true);

ALTER TABLE buyer_addresses ENABLE ROW LEVEL SECURITY;
GRANT SELECT (user_id, email_hash, phone_hash) ON buyer_addresses TO campus_orders_api;
CREATE POLICY buyer_addresses_for_support ON buyer_addresses FOR SELECT USING ((SELECT app_may('orders:read')));
CREATE POLICY buyer_addresses_of_the_campus_admins_campus ON buyer_addresses FOR SELECT
    USING (
        (SELECT app_may('campus_orders:read'))
        AND EXISTS (
            SELECT FROM orders
            WHERE orders.buyer_id = buyer_addresses.user_id AND orders.campus_id = (SELECT app_campus_id())
        )
    );

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

ALTER TABLE user_contacts ENABLE ROW LEVEL SECURITY;
GRANT SELECT (user_id, short_name, contact_encrypted) ON user_contacts TO campus_orders_api;

-- The hub of a hub agent (decision 193).
CREATE FUNCTION app_hub_id() RETURNS uuid STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('app.hub_id', true), '')::uuid $$;

-- The shop of a packer, which no policy of a vendor compares (decision 206).
CREATE FUNCTION app_packing_vendor_id() RETURNS uuid STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('app.packing_vendor_id', true), '')::uuid $$;

-- Whether the caller sees orders that the user bought, or bought from the user's vendor. With the owner's rights: under the
-- policies of `orders` the planner would expand all of them for each name in a list of orders. Without bitmap scans, so that
-- the first shared order ends the search, and planned once for a connection. A call costs 25 index pages by its estimate, so
-- that the planner finds a contact by its index before it calls: of a table of one page it would read and check every row.
CREATE FUNCTION shares_order_with(other_user_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER COST 10000 SET search_path = public, pg_temp
    SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
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
$$;
REVOKE EXECUTE ON FUNCTION shares_order_with FROM public;
GRANT EXECUTE ON FUNCTION shares_order_with TO campus_orders_api;

CREATE POLICY user_contacts_of_orders ON user_contacts FOR SELECT
    USING (
        user_id = (SELECT app_user_id())
        OR (SELECT app_may('orders:read'))
        OR shares_order_with(user_id)
    );
