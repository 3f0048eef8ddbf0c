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
$$;
REVOKE EXECUTE ON FUNCTION take_sale_units FROM public;
GRANT EXECUTE ON FUNCTION take_sale_units TO campus_orders_api;

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

ALTER TABLE dispute_resolutions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispute_resolutions TO campus_orders_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dispute_resolutions FROM campus_orders_service;
-- An erasure removes the reason; the hash of a prepared resolution contains it.
GRANT UPDATE (release_minor, refund_id, status, decided_by, decided_at, reason)
    ON dispute_resolutions TO campus_orders_service;
CREATE POLICY dispute_resolutions_of_staff ON dispute_resolutions FOR SELECT
    USING (app_may('disputes:prepare') OR app_may('disputes:approve') OR app_may('orders:read'));

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

ALTER TABLE return_request_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON return_request_items TO campus_orders_api;
-- Visible with their request, whose own policy holds.
CREATE POLICY return_request_items_with_their_request ON return_request_items FOR SELECT
    USING (EXISTS (SELECT FROM return_requests AS request WHERE request.id = return_request_id));

ALTER TABLE dispute_evidence ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispute_evidence TO campus_orders_api;
REVOKE UPDATE ON dispute_evidence FROM campus_orders_service;
-- Visible with their dispute, whose own policy holds.
CREATE POLICY dispute_evidence_with_its_dispute ON dispute_evidence FOR SELECT
    USING (EXISTS (SELECT FROM order_disputes AS dispute WHERE dispute.order_id = dispute_evidence.order_id));
