ALTER TABLE buyer_balances ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON buyer_balances TO campus_payments_api;
REVOKE DELETE ON buyer_balances FROM campus_payments_service;
CREATE POLICY buyer_balances_visible ON buyer_balances FOR SELECT
    USING (user_id = app_user_id() OR app_may('payments:read') OR app_may('ledger:read'));

ALTER TABLE balance_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON balance_lines TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON balance_lines FROM campus_payments_service;
CREATE POLICY balance_lines_visible ON balance_lines FOR SELECT
    USING (user_id = app_user_id() OR app_may('payments:read') OR app_may('ledger:read'));

ALTER TABLE balance_holds ENABLE ROW LEVEL SECURITY;
REVOKE DELETE ON balance_holds FROM campus_payments_service;
