ALTER TABLE refunds ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        id, kind, charge_id, order_id, buyer_id, amount_minor, currency, status, reason, failure, created_at,
        settled_at, attempt_id, needs_account_at, balance_minor
    )
ON refunds TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON refunds FROM campus_payments_service;
GRANT
    UPDATE (
        amount_minor, status, reason, gateway_refund_id, failure, submitted_at, poll_count, questions, due_at, settled_at,
        attempt_id, recipient_code, needs_account_at, retry_recipient_code, transfer_fee_minor, balance_minor
    )
ON refunds TO campus_payments_service;
-- The previous version counts in `questions` during an upgrade. Drop the function in the next release (decision 109).
CREATE FUNCTION copy_renamed_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.questions <> OLD.questions THEN
        NEW.poll_count := NEW.questions;
    ELSE
        NEW.questions := NEW.poll_count;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refunds_copy_renamed_count BEFORE UPDATE OF poll_count, questions ON refunds
    FOR EACH ROW EXECUTE FUNCTION copy_renamed_count();
CREATE POLICY refunds_visible ON refunds FOR SELECT
    USING (
        buyer_id = app_user_id()
        OR app_may('ledger:read')
        OR app_may('refunds:prepare')
        OR app_may('refunds:approve')
        OR app_may('refunds:read')
    );

ALTER TABLE refund_decisions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON refund_decisions TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON refund_decisions FROM campus_payments_service;
GRANT
    UPDATE (
        reason, status, decided_by, decided_at, rejection, recipient_code, account_last4, bank_code, account_name,
        name_at_bank
    )
ON refund_decisions TO campus_payments_service;
CREATE POLICY refund_decisions_visible ON refund_decisions FOR SELECT
    USING (app_may('ledger:read') OR app_may('refunds:prepare') OR app_may('refunds:approve'));

ALTER TABLE failed_refund_attempts ENABLE ROW LEVEL SECURITY;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON failed_refund_attempts FROM campus_payments_service;
GRANT
    UPDATE (recipient_code, failure, confirmed_at, transfer_fee_minor)
ON failed_refund_attempts TO campus_payments_service;

ALTER TABLE quarantined_charges ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON quarantined_charges TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON quarantined_charges FROM campus_payments_service;
GRANT UPDATE (order_id, status, refund_id) ON quarantined_charges TO campus_payments_service;
CREATE POLICY quarantined_charges_visible ON quarantined_charges FOR SELECT
    USING (
        app_may('ledger:read')
        OR app_may('quarantine:prepare')
        OR app_may('quarantine:approve')
        OR app_may('quarantine:read')
    );

ALTER TABLE quarantine_decisions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON quarantine_decisions TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON quarantine_decisions FROM campus_payments_service;
GRANT UPDATE (reason, status, decided_by, decided_at, rejection) ON quarantine_decisions TO campus_payments_service;
CREATE POLICY quarantine_decisions_visible ON quarantine_decisions FOR SELECT
    USING (
        app_may('ledger:read')
        OR app_may('quarantine:prepare')
        OR app_may('quarantine:approve')
        OR app_may('quarantine:read')
    );

ALTER TABLE goodwill_refunds ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON goodwill_refunds TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON goodwill_refunds FROM campus_payments_service;
GRANT UPDATE (reason, status, decided_by, decided_at, rejection) ON goodwill_refunds TO campus_payments_service;
CREATE POLICY goodwill_refunds_visible ON goodwill_refunds FOR SELECT
    USING (app_may('ledger:read') OR app_may('goodwill:prepare') OR app_may('goodwill:approve'));
