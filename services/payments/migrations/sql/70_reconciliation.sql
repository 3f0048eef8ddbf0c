ALTER TABLE reconciliation_cases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (status, closed_at, closed_by, evidence) ON reconciliation_cases TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON reconciliation_cases FROM campus_payments_service;
GRANT
    UPDATE (
        ours_minor, theirs_minor, unexplained_minor, currency, detail, status, seen_at, alerted_at, closed_at,
        closed_by, evidence
    )
ON reconciliation_cases TO campus_payments_service;
CREATE POLICY reconciliation_cases_visible ON reconciliation_cases FOR SELECT
    USING (app_may('ledger:read') OR app_may('exceptions:read'));
CREATE POLICY reconciliation_cases_closed ON reconciliation_cases FOR UPDATE USING (app_may('exceptions:classify'));

INSERT INTO reconciliation_runs DEFAULT VALUES;
