ALTER TABLE vendor_statements ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON vendor_statements TO campus_payments_api;
CREATE POLICY vendor_statements_select ON vendor_statements FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY vendor_statements_insert ON vendor_statements FOR INSERT WITH CHECK (app_may('escrow:release'));
CREATE POLICY vendor_statements_update ON vendor_statements FOR UPDATE USING (app_may('escrow:release'));

-- A subquery is evaluated once for a statement, not for each of its rows.
CREATE POLICY ledger_transactions_visible ON ledger_transactions FOR SELECT
    USING ((SELECT app_may('ledger:read') OR app_may('ledger:export')));

-- A trial balance adds to the totals the transactions that they do not include yet.
ALTER TABLE ledger_totals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_totals TO campus_payments_api;
CREATE POLICY ledger_totals_visible ON ledger_totals FOR SELECT USING ((SELECT app_may('ledger:read')));
ALTER TABLE ledger_links ENABLE ROW LEVEL SECURITY;
GRANT SELECT (sequence, transaction_id) ON ledger_links TO campus_payments_api;
CREATE POLICY ledger_links_visible ON ledger_links FOR SELECT USING ((SELECT app_may('ledger:read')));
ALTER TABLE ledger_unsealed ENABLE ROW LEVEL SECURITY;
GRANT SELECT (transaction_id) ON ledger_unsealed TO campus_payments_api;
CREATE POLICY ledger_unsealed_visible ON ledger_unsealed FOR SELECT USING ((SELECT app_may('ledger:read')));

-- A user reads the entries of own rewards; everything else is for staff.
CREATE POLICY ledger_entries_visible ON ledger_entries FOR SELECT
    USING (
        (SELECT app_may('ledger:read') OR app_may('ledger:export'))
        OR account = (SELECT 'buyer_reward:' || app_user_id()::text)
    );

-- The specification's name for the ledger. The reader's own rights and row policies hold behind it.
CREATE VIEW transactions WITH (security_invoker = true) AS
SELECT t.id, t.type, t.posting_key, t.currency, t.created_at, (
    SELECT jsonb_agg(jsonb_build_object('account', e.account, 'amountMinor', e.amount_minor) ORDER BY e.position)
    FROM ledger_entries e WHERE e.transaction_id = t.id
) AS entries
FROM ledger_transactions t;
GRANT SELECT ON transactions TO campus_payments_api;
REVOKE INSERT, UPDATE, DELETE ON transactions FROM campus_payments_service;

CREATE POLICY ledger_balances_visible ON ledger_balances FOR SELECT
    USING ((SELECT app_may('ledger:read') OR app_may('ledger:export')));
CREATE POLICY ledger_balances_of_vendors_signed ON ledger_balances FOR SELECT
    USING (app_may('escrow:release') AND account LIKE 'vendor\_payable:%');

CREATE POLICY ledger_accounts_visible ON ledger_accounts FOR SELECT
    USING ((SELECT app_may('ledger:read') OR app_may('ledger:export')));
