-- Images about a dispute by its buyer or its vendor. The service inserts and deletes; a row's content never changes.
CREATE TABLE dispute_evidence (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    author text NOT NULL,
    byte_count integer NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT dispute_evidence_dispute FOREIGN KEY (order_id) REFERENCES order_disputes (order_id),
    CONSTRAINT dispute_evidence_author_known CHECK (author IN ('buyer', 'vendor'))
);
CREATE INDEX dispute_evidence_of_order ON dispute_evidence (order_id, created_at, id);
ALTER TABLE dispute_evidence ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispute_evidence TO campus_orders_api;
REVOKE UPDATE ON dispute_evidence FROM campus_orders_service;
-- Visible with their dispute, whose own policy holds.
CREATE POLICY dispute_evidence_with_its_dispute ON dispute_evidence FOR SELECT
    USING (EXISTS (SELECT FROM order_disputes AS dispute WHERE dispute.order_id = dispute_evidence.order_id));

CREATE INDEX IF NOT EXISTS return_requests_newest ON return_requests (created_at, id);
CREATE INDEX IF NOT EXISTS return_requests_newest_of_status ON return_requests (status, created_at, id);
CREATE INDEX IF NOT EXISTS return_requests_newest_of_buyer ON return_requests (buyer_id, created_at, id);
CREATE INDEX IF NOT EXISTS return_requests_newest_of_vendor ON return_requests (vendor_id, created_at, id);

-- The names and proven numbers of users, as identity's events report them. `contact_encrypted` is name and number under
-- PIN_KEY, empty without either. The row of an erased user stays empty and rejects older events.
CREATE TABLE user_contacts (
    user_id uuid PRIMARY KEY,
    short_name text,
    contact_encrypted text NOT NULL,
    sequence bigint NOT NULL
);
ALTER TABLE user_contacts ENABLE ROW LEVEL SECURITY;
GRANT SELECT (user_id, short_name, contact_encrypted) ON user_contacts TO campus_orders_api;
-- Whether the caller sees orders that the user bought, or bought from the user's vendor. With the owner's rights: under the
-- policies of `orders` the planner would expand all of them for each name in a list of orders. Without bitmap scans, so that
-- the first shared order ends the search, and planned once for a connection.
CREATE FUNCTION shares_order_with(other_user_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
    SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM orders
        WHERE buyer_id = other_user_id
          AND (
              (vendor_id = app_vendor_id() AND app_may('orders:fulfil'))
              OR (campus_id = app_campus_id() AND (app_may('orders:verify') OR app_may('campus_orders:read')))
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

-- The share of each item in the money of its paid order, as payments' events state it (decision 52). Payments has the books;
-- this is their projection, which the next event of the order or `python -m payments publish-escrows` makes good.
CREATE TABLE sale_lines (
    item_id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    product_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    campus_id uuid NOT NULL,
    category text NOT NULL,
    name text NOT NULL,
    quantity integer NOT NULL,
    sold_at timestamptz NOT NULL,
    sequence bigint NOT NULL,
    gross_minor bigint NOT NULL,
    locked_minor bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    CONSTRAINT sale_lines_item FOREIGN KEY (item_id) REFERENCES order_items (id),
    CONSTRAINT sale_lines_balanced CHECK (
        gross_minor = locked_minor + refunded_minor + delivery_fee_minor + commission_minor + net_minor
    )
);
CREATE INDEX sale_lines_of_vendor ON sale_lines (vendor_id, sold_at);
CREATE INDEX sale_lines_of_campus ON sale_lines (campus_id, sold_at);
CREATE INDEX sale_lines_newest ON sale_lines (sold_at);
ALTER TABLE sale_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON sale_lines TO campus_orders_api;
REVOKE DELETE ON sale_lines FROM campus_orders_service;
CREATE POLICY sale_lines_of_vendor_campus_and_finance ON sale_lines FOR SELECT
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('campus_orders:read')))
        OR (SELECT app_may('ledger:read'))
    );
