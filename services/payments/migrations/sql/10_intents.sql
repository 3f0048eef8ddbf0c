ALTER TABLE buyers ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON buyers TO campus_payments_api;
CREATE POLICY buyers_own ON buyers FOR SELECT USING (user_id = app_user_id());

ALTER TABLE payable_orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payable_orders TO campus_payments_api;
CREATE POLICY payable_orders_visible ON payable_orders FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('escrow:release'));

ALTER TABLE purchases ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON purchases TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON purchases FROM campus_payments_service;
CREATE POLICY purchases_visible ON purchases FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'));

ALTER TABLE purchase_orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON purchase_orders TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON purchase_orders FROM campus_payments_service;
CREATE POLICY purchase_orders_visible ON purchase_orders FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'));

ALTER TABLE payment_intents ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT,
    INSERT,
    UPDATE (
        reference, status, authorization_url, access_code, opening_until, query_at, gateway, transfer_bank_name,
        transfer_account_number, transfer_account_name, transfer_amount_minor, transfer_expires_at
    )
ON payment_intents TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON payment_intents FROM campus_payments_service;
GRANT
    UPDATE (
        reference, status, channel, callback_url, authorization_url, access_code, opening_until, paid_at,
        failure_reason, failed_at, query_at, queries, gateway, transfer_bank_name, transfer_account_number,
        transfer_account_name, transfer_amount_minor, transfer_expires_at, received_minor
    )
ON payment_intents TO campus_payments_service;
CREATE POLICY payment_intents_visible ON payment_intents FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'));
CREATE POLICY payment_intents_started ON payment_intents FOR INSERT WITH CHECK (buyer_id = app_user_id());
CREATE POLICY payment_intents_opened ON payment_intents FOR UPDATE USING (buyer_id = app_user_id());

ALTER TABLE intent_orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON intent_orders TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON intent_orders FROM campus_payments_service;
CREATE POLICY intent_orders_visible ON intent_orders FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'));
CREATE POLICY intent_orders_written ON intent_orders FOR INSERT WITH CHECK (buyer_id = app_user_id());

ALTER TABLE payment_references ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payment_references TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON payment_references FROM campus_payments_service;
CREATE POLICY payment_references_own ON payment_references FOR SELECT USING (buyer_id = app_user_id());
CREATE POLICY payment_references_written ON payment_references FOR INSERT WITH CHECK (buyer_id = app_user_id());

ALTER TABLE payment_intent_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payment_intent_keys TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON payment_intent_keys FROM campus_payments_service;
CREATE POLICY payment_intent_keys_own ON payment_intent_keys FOR SELECT USING (caller_id = app_user_id());
CREATE POLICY payment_intent_keys_bound ON payment_intent_keys FOR INSERT WITH CHECK (caller_id = app_user_id());

CREATE FUNCTION number_of_order(searched_order_id uuid) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT number FROM payable_orders WHERE id = searched_order_id
$$;
REVOKE EXECUTE ON FUNCTION number_of_order FROM public;
GRANT EXECUTE ON FUNCTION number_of_order TO campus_payments_api, campus_payments_service;
