ALTER TABLE withdrawals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON withdrawals TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON withdrawals FROM campus_payments_service;
GRANT
    UPDATE (
        rewards_minor, loss_minor, round, status, recipient_code, account_last4, bank_code, account_name, failure,
        submitted_at, paid_at, ended_at, due_at, poll_count, transfer_fee_minor
    )
ON withdrawals TO campus_payments_service;
CREATE POLICY withdrawals_visible ON withdrawals FOR SELECT
    USING (
        user_id = app_user_id()
        OR app_may('ledger:read')
        OR app_may('refunds:prepare')
        OR app_may('refunds:approve')
    );

ALTER TABLE withdrawal_decisions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON withdrawal_decisions TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON withdrawal_decisions FROM campus_payments_service;
GRANT UPDATE (reason, status, decided_by, decided_at, rejection) ON withdrawal_decisions TO campus_payments_service;
CREATE POLICY withdrawal_decisions_visible ON withdrawal_decisions FOR SELECT
    USING (app_may('ledger:read') OR app_may('refunds:prepare') OR app_may('refunds:approve'));

ALTER TABLE quarantined_accounts ENABLE ROW LEVEL SECURITY;
