-- `due_at`: the gateway decides for the payer when nobody has responded by then. `responded_at`: a response reached it.
ALTER TABLE chargebacks ADD COLUMN due_at timestamptz;
ALTER TABLE chargebacks ADD COLUMN due_alerted_at timestamptz;
ALTER TABLE chargebacks ADD COLUMN responded_at timestamptz;
CREATE INDEX IF NOT EXISTS chargebacks_due
    ON chargebacks (due_at) WHERE status = 'opened' AND due_alerted_at IS NULL AND responded_at IS NULL;
GRANT UPDATE (due_at, due_alerted_at, responded_at) ON chargebacks TO campus_payments_service;

-- What staff sent to the gateway about a dispute. `evidence` and `attachment` are personal data, kept until the gateway has
-- them; the rest is the permanent record. `due_at`: when the next attempt is due.
CREATE TABLE chargeback_responses (
    id uuid PRIMARY KEY,
    chargeback_id uuid NOT NULL,
    kind text NOT NULL,
    resolution text,
    message text,
    amount_minor bigint,
    evidence jsonb,
    attachment bytea,
    content_hash text NOT NULL,
    status text NOT NULL DEFAULT 'submitting',
    gateway_evidence_id text,
    failure text,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz,
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT chargeback_responses_chargeback FOREIGN KEY (chargeback_id) REFERENCES chargebacks (id),
    CONSTRAINT chargeback_responses_kind_known CHECK (kind IN ('evidence', 'resolution')),
    CONSTRAINT chargeback_responses_resolution_known CHECK (resolution IN ('accept', 'contest')),
    CONSTRAINT chargeback_responses_resolution_is_whole CHECK (
        (kind = 'resolution') = (resolution IS NOT NULL AND message IS NOT NULL AND amount_minor IS NOT NULL)
    ),
    CONSTRAINT chargeback_responses_amount_not_negative CHECK (amount_minor >= 0),
    CONSTRAINT chargeback_responses_status_known
        CHECK (status IN ('submitting', 'submitted', 'rejected', 'overtaken')),
    CONSTRAINT chargeback_responses_due_while_submitting CHECK ((status = 'submitting') = (due_at IS NOT NULL)),
    CONSTRAINT chargeback_responses_finished_once CHECK ((status = 'submitting') = (finished_at IS NULL)),
    CONSTRAINT chargeback_responses_personal_data_leaves
        CHECK (status = 'submitting' OR (evidence IS NULL AND attachment IS NULL))
);
-- One response of a dispute is on the way, and one resolution reaches the gateway.
CREATE UNIQUE INDEX chargeback_responses_one_submitting
    ON chargeback_responses (chargeback_id) WHERE status = 'submitting';
CREATE UNIQUE INDEX chargeback_responses_one_resolution
    ON chargeback_responses (chargeback_id) WHERE kind = 'resolution' AND status IN ('submitting', 'submitted');
CREATE INDEX chargeback_responses_of_chargeback ON chargeback_responses (chargeback_id, created_at);
CREATE INDEX chargeback_responses_due ON chargeback_responses (due_at) WHERE due_at IS NOT NULL;
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

ALTER TABLE reconciliation_cases DROP CONSTRAINT reconciliation_cases_kind_known;
ALTER TABLE reconciliation_cases ADD CONSTRAINT reconciliation_cases_kind_known CHECK (
    kind IN (
        'charge_not_in_book', 'charge_not_at_gateway', 'charge_differs', 'charge_without_escrow', 'fee_differs',
        'refund_not_in_book', 'refund_not_at_gateway', 'refund_differs', 'order_held_without_charge',
        'settlement_not_in_book', 'settlement_not_at_gateway', 'settlement_differs', 'unreadable_at_gateway'
    )
) NOT VALID;
ALTER TABLE reconciliation_cases VALIDATE CONSTRAINT reconciliation_cases_kind_known;
