ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON vendors TO campus_payouts_api;
CREATE POLICY vendors_select ON vendors FOR SELECT TO campus_payouts_api USING (id = app_vendor_id());
CREATE POLICY vendors_select_staff ON vendors FOR SELECT TO campus_payouts_api USING ((SELECT app_may('payouts:read')));
-- Exceptions name their vendor.
CREATE POLICY vendors_select_observed ON vendors FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('exceptions:read')));

ALTER TABLE order_shares ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON order_shares TO campus_payouts_api;
CREATE POLICY order_shares_select ON order_shares FOR SELECT TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY order_shares_select_staff ON order_shares FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:read')));

ALTER TABLE chargebacks ENABLE ROW LEVEL SECURITY;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON chargebacks FROM campus_payouts_service;
GRANT UPDATE (status, held_minor, sequence, uncovered_minor) ON chargebacks TO campus_payouts_service;

ALTER TABLE wallets ENABLE ROW LEVEL SECURITY;
-- PostgreSQL requires UPDATE to lock a row; the policy keeps the row with its vendor.
GRANT SELECT, INSERT (vendor_id), UPDATE (vendor_id) ON wallets TO campus_payouts_api;
CREATE POLICY wallets_select ON wallets FOR SELECT TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallets_insert ON wallets FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallets_update ON wallets FOR UPDATE TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'))
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));

ALTER TABLE wallet_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON wallet_lines TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON wallet_lines FROM campus_payouts_service;
CREATE POLICY wallet_lines_select ON wallet_lines FOR SELECT TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallet_lines_insert ON wallet_lines FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallet_lines_select_staff ON wallet_lines FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:read')));

ALTER TABLE payout_schedules ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON payout_schedules TO campus_payouts_api;
CREATE POLICY payout_schedules_insert ON payout_schedules FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY payout_schedules_update ON payout_schedules FOR UPDATE TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY payout_schedules_select ON payout_schedules FOR SELECT TO campus_payouts_api
    USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'));

ALTER TABLE scheduled_payouts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON scheduled_payouts TO campus_payouts_api;
CREATE POLICY scheduled_payouts_select ON scheduled_payouts FOR SELECT TO campus_payouts_api
    USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'));
