ALTER TABLE chargebacks ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON chargebacks TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON chargebacks FROM campus_payments_service;
GRANT
    UPDATE (
        amount_minor, status, locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor,
        released_vendor_minor, released_commission_minor, released_delivery_fee_minor, loss_minor, decided_at,
        due_at, due_alerted_at, responded_at
    )
ON chargebacks TO campus_payments_service;
CREATE POLICY chargebacks_visible ON chargebacks FOR SELECT USING (app_may('ledger:read') OR app_may('escrow:release'));

ALTER TABLE chargeback_refunds ENABLE ROW LEVEL SECURITY;

ALTER TABLE chargeback_responses ENABLE ROW LEVEL SECURITY;
-- The API does not read what a response contains.
GRANT SELECT (
    id, chargeback_id, kind, resolution, message, amount_minor, content_hash, status, failure, created_by, created_at,
    finished_at
)
ON chargeback_responses TO campus_payments_api;
REVOKE UPDATE, DELETE ON chargeback_responses FROM campus_payments_service;
GRANT
    UPDATE (
        message, evidence, attachment, status, gateway_evidence_id, failure, attempts, due_at, finished_at
    )
ON chargeback_responses TO campus_payments_service;
CREATE POLICY chargeback_responses_visible ON chargeback_responses FOR SELECT
    USING (app_may('ledger:read') OR app_may('chargebacks:respond'));
