CREATE POLICY ledger_balances_select ON ledger_balances FOR SELECT TO campus_payouts_api
    USING (
        app_may('wallet:own')
        AND (
            account IN ('wallet:' || app_vendor_id(), 'vendor_debt:' || app_vendor_id(), 'held:' || app_vendor_id())
            OR account IN (SELECT 'in_transit:' || id FROM payout_requests WHERE vendor_id = app_vendor_id())
        )
    );
CREATE POLICY ledger_balances_select_staff ON ledger_balances FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:read')));
