ALTER TABLE purchases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON purchases TO campus_orders_api;
-- Written once.
REVOKE UPDATE, DELETE ON purchases FROM campus_orders_service;
-- A vendor and a hub agent see their order of it, not the purchase.
CREATE POLICY purchases_of_their_buyer ON purchases FOR SELECT
    USING (buyer_id = (SELECT app_user_id()) OR (SELECT app_may('orders:read')));
CREATE POLICY purchases_placed_by_their_buyer ON purchases FOR INSERT
    WITH CHECK (buyer_id = app_user_id() AND app_may('orders:place'));

ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON orders TO campus_orders_api;
-- Orders and items carry their parties, and these never change. A subquery is evaluated once for a statement, so that
-- the planner walks an index up to the page's last row.
CREATE POLICY orders_of_their_parties ON orders FOR SELECT
    USING (
        buyer_id = (SELECT app_user_id())
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
        OR (hub_id = (SELECT app_hub_id()) AND (SELECT app_may('orders:verify')))
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
        AND vendor_id IS DISTINCT FROM (SELECT app_packing_vendor_id())
        AND NOT EXISTS (
            SELECT FROM vendors AS known
            WHERE known.id = orders.vendor_id
              AND known.owner_user_id = (SELECT app_user_id())
        )
    );
CREATE TRIGGER orders_refuse_leaving_buyer AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse_leaving_buyer();
CREATE TRIGGER orders_refuse_leaving_vendor AFTER INSERT ON orders
    FOR EACH ROW EXECUTE FUNCTION refuse_leaving_vendor();
-- Payments reports an escrow with its first charge.
CREATE POLICY orders_with_a_charge ON orders FOR SELECT
    USING ((SELECT app_may('charged_orders:read')) AND (escrow_sequence > 0 OR charge_quarantined_at IS NOT NULL));
-- With a charged order, which this caller sees.
CREATE POLICY purchases_with_a_charge ON purchases FOR SELECT
    USING ((SELECT app_may('charged_orders:read')) AND EXISTS (SELECT FROM orders WHERE orders.purchase_id = purchases.id));

ALTER TABLE order_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON order_items TO campus_orders_api;
CREATE POLICY order_items_of_their_parties ON order_items FOR SELECT
    USING (
        buyer_id = (SELECT app_user_id())
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
        OR (SELECT app_may('orders:read'))
    );
CREATE POLICY order_items_placed_by_their_buyer ON order_items FOR INSERT WITH CHECK (buyer_id = app_user_id());
CREATE POLICY order_items_of_the_campus_admins_campus ON order_items FOR SELECT
    USING (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('campus_orders:read')));
-- An item has no hub and no charge of its own: these callers see it with its order, whose own policies hold.
CREATE POLICY order_items_with_their_order ON order_items FOR SELECT
    USING (
        ((SELECT app_may('charged_orders:read')) OR (SELECT app_may('orders:verify')))
        AND EXISTS (SELECT FROM orders WHERE orders.id = order_items.order_id)
    );

ALTER TABLE order_timers ENABLE ROW LEVEL SECURITY;
GRANT INSERT ON order_timers TO campus_orders_api;
-- A checkout starts the payment window; no caller sees or stops a timer.
CREATE POLICY order_timers_started_by_checkout ON order_timers FOR INSERT WITH CHECK (kind = 'payment_window');

-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON order_refunds FROM campus_orders_service;
GRANT UPDATE (reason, status, counted, sequence) ON order_refunds TO campus_orders_service;

ALTER TABLE delivery_pins ENABLE ROW LEVEL SECURITY;
-- Not the digest: only the service compares it.
GRANT SELECT (order_id, buyer_id, issue, sealed, wrong_tries) ON delivery_pins TO campus_orders_api;
CREATE POLICY delivery_pins_of_the_buyer ON delivery_pins FOR SELECT USING (buyer_id = app_user_id());

-- Written once.
REVOKE UPDATE, DELETE ON delivery_verifications FROM campus_orders_service;

ALTER TABLE sale_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON sale_lines TO campus_orders_api;
REVOKE DELETE ON sale_lines FROM campus_orders_service;
CREATE POLICY sale_lines_of_vendor_campus_and_finance ON sale_lines FOR SELECT
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
        OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('campus_orders:read')))
        OR (SELECT app_may('ledger:read'))
    );

ALTER TABLE order_history ENABLE ROW LEVEL SECURITY;
GRANT SELECT (order_id, id, event, status, occurred_at, actor_role) ON order_history TO campus_orders_api;
REVOKE UPDATE, DELETE ON order_history FROM campus_orders_service;
-- Visible with their order, whose own policies hold.
CREATE POLICY order_history_with_its_order ON order_history FOR SELECT
    USING (EXISTS (SELECT FROM orders WHERE orders.id = order_history.order_id));

ALTER TABLE pin_reissues ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON pin_reissues TO campus_orders_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON pin_reissues FROM campus_orders_service;
GRANT UPDATE (reason, status, decided_by, decided_at, rejection) ON pin_reissues TO campus_orders_service;
CREATE POLICY pin_reissues_of_staff ON pin_reissues FOR SELECT
    USING (app_may('pin_reissues:prepare') OR app_may('pin_reissues:approve') OR app_may('orders:read'));

-- Orders without any amount. The service reads each of them.
CREATE VIEW orders_to_pack WITH (security_barrier) AS
SELECT orders.id, orders.number, orders.status, orders.hub_id, hub.name AS hub_name, buyer.short_name AS buyer_name,
       orders.delivery_note, orders.created_at, orders.updated_at, orders.arrived_at, orders.delivered_at,
       orders.revision,
       coalesce((
           SELECT json_agg(item) FROM (
               SELECT order_items.id, order_items.product_id AS "productId", order_items.variant_id AS "variantId",
                      order_items.name, order_items.quantity
               FROM order_items
               WHERE order_items.order_id = orders.id AND order_items.cancelled_at IS NULL
               ORDER BY order_items.position
           ) AS item
       ), '[]') AS items,
       orders.vendor_id
FROM orders
    LEFT JOIN hubs AS hub ON hub.id = orders.hub_id
    LEFT JOIN user_contacts AS buyer ON buyer.user_id = orders.buyer_id;
-- Those of a packer's shop. No other relation shows a packer an order of the shop.
CREATE VIEW packing_orders WITH (security_barrier) AS
SELECT id, number, status, hub_id, hub_name, buyer_name, delivery_note, created_at, updated_at, arrived_at, delivered_at,
       revision, items
FROM orders_to_pack
WHERE vendor_id = (SELECT app_packing_vendor_id()) AND (SELECT app_may('orders:pack'))
  AND status IN ('paid_escrow', 'dispatched', 'delivered', 'paid');
GRANT SELECT ON packing_orders TO campus_orders_api;
-- The name of the person who caused an event, for the shop, for staff who read every order, and for that person. Rows of
-- earlier versions have no role: their dispatches and deliveries name a person of the shop.
CREATE VIEW shop_actions WITH (security_barrier) AS
SELECT history.order_id, history.id, actor.short_name
FROM order_history AS history
    JOIN orders ON orders.id = history.order_id
    JOIN user_contacts AS actor ON actor.user_id = history.actor_id
WHERE history.actor_id = (SELECT app_user_id())
   OR (SELECT app_may('orders:read'))
   OR (
        orders.vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil'))
        AND coalesce(history.actor_role IN ('buyer', 'vendor'), history.event IN ('vendor_dispatches', 'pin_accepted'))
    );
GRANT SELECT ON shop_actions TO campus_orders_api;
