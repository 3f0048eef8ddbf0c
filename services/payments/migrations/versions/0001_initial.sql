-- The payments service's schema, one block for each table: the table, its indexes, row security, grants, policies and
-- triggers. The API role reads column by column where it matters: `charges`, `refunds` and the webhooks' bodies are
-- closed to it in part or in whole.

-- ---------------------------------------------------------------------------------------------------------------------
-- Projections of other services' events
-- ---------------------------------------------------------------------------------------------------------------------

-- Projected from identity: the gateway needs an address for the receipt.
CREATE TABLE buyers (
    user_id uuid PRIMARY KEY,
    email text NOT NULL,
    heard_at timestamptz NOT NULL
);
ALTER TABLE buyers ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON buyers TO campus_payments_api;
CREATE POLICY buyers_own ON buyers FOR SELECT USING (user_id = app_user_id());

-- Payments' own view of an order. Escrow is made from nothing else.
CREATE TABLE payable_orders (
    id uuid PRIMARY KEY,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    total_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    currency char(3) NOT NULL,
    status text NOT NULL,
    payment_due_at timestamptz NOT NULL,
    heard_at timestamptz NOT NULL,
    CONSTRAINT payable_orders_status_known CHECK (status IN ('Processing', 'cancelled', 'expired', 'paid_escrow')),
    CONSTRAINT payable_orders_total_above_zero CHECK (total_minor > 0),
    CONSTRAINT payable_orders_parts_within_total CHECK (
        commission_minor >= 0 AND delivery_fee_minor >= 0 AND commission_minor + delivery_fee_minor <= total_minor
    )
);
CREATE INDEX payable_orders_of_buyer ON payable_orders (buyer_id);
CREATE INDEX payable_orders_of_vendor ON payable_orders (vendor_id);
ALTER TABLE payable_orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payable_orders TO campus_payments_api;
CREATE POLICY payable_orders_visible ON payable_orders FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('escrow:release'));

-- ---------------------------------------------------------------------------------------------------------------------
-- Payment intents
-- ---------------------------------------------------------------------------------------------------------------------

-- `query_at`: when the gateway is queried about an attempt whose outcome has not arrived.
CREATE TABLE payment_intents (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    reference text NOT NULL,
    amount_minor bigint NOT NULL,
    currency char(3) NOT NULL,
    status text NOT NULL,
    channel text,
    callback_url text,
    authorization_url text,
    access_code text,
    opening_until timestamptz,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    paid_at timestamptz,
    failure_reason text,
    failed_at timestamptz,
    query_at timestamptz,
    queries integer NOT NULL DEFAULT 0,
    CONSTRAINT payment_intents_order FOREIGN KEY (order_id) REFERENCES payable_orders (id),
    CONSTRAINT payment_intents_reference_once UNIQUE (reference),
    CONSTRAINT payment_intents_open_has_address CHECK (status <> 'pending' OR authorization_url IS NOT NULL),
    CONSTRAINT payment_intents_status_known
        CHECK (status IN ('opening', 'pending', 'paid', 'quarantined', 'overpaid', 'closed', 'failed')),
    CONSTRAINT payment_intents_failure_has_words CHECK (status <> 'failed' OR failure_reason IS NOT NULL)
);
-- One live intent of an order, whoever asks at the same moment.
CREATE UNIQUE INDEX payment_intents_one_live ON payment_intents (order_id) WHERE status IN ('opening', 'pending');
CREATE INDEX payment_intents_of_buyer ON payment_intents (buyer_id, created_at);
CREATE INDEX payment_intents_of_order ON payment_intents (order_id);
CREATE INDEX payment_intents_newest ON payment_intents (created_at, id);
CREATE INDEX payment_intents_queried
    ON payment_intents (query_at)
    WHERE query_at IS NOT NULL AND status IN ('pending', 'failed');
ALTER TABLE payment_intents ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT,
    INSERT,
    UPDATE (reference, status, authorization_url, access_code, opening_until, query_at)
ON payment_intents TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON payment_intents FROM campus_payments_service;
GRANT
    UPDATE (
        reference, status, channel, callback_url, authorization_url, access_code, opening_until, paid_at,
        failure_reason, failed_at, query_at, queries
    )
ON payment_intents TO campus_payments_service;
CREATE POLICY payment_intents_visible ON payment_intents FOR SELECT
    USING (buyer_id = app_user_id() OR app_may('ledger:read') OR app_may('payments:read'));
CREATE POLICY payment_intents_started ON payment_intents FOR INSERT WITH CHECK (buyer_id = app_user_id());
CREATE POLICY payment_intents_opened ON payment_intents FOR UPDATE USING (buyer_id = app_user_id());

-- Every reference that was recorded before a call: a payment by any of them finds its order.
CREATE TABLE payment_references (
    reference text PRIMARY KEY,
    intent_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    settlement text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT payment_references_intent FOREIGN KEY (intent_id) REFERENCES payment_intents (id)
);
CREATE INDEX payment_references_of_intent ON payment_references (intent_id);
ALTER TABLE payment_references ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payment_references TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON payment_references FROM campus_payments_service;
CREATE POLICY payment_references_own ON payment_references FOR SELECT USING (buyer_id = app_user_id());
CREATE POLICY payment_references_written ON payment_references FOR INSERT WITH CHECK (buyer_id = app_user_id());

-- The caller's key stays bound to its effect for good (contract section 3).
CREATE TABLE payment_intent_keys (
    caller_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    intent_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT payment_intent_keys_pkey PRIMARY KEY (caller_id, idempotency_key),
    CONSTRAINT payment_intent_keys_intent FOREIGN KEY (intent_id) REFERENCES payment_intents (id)
);
ALTER TABLE payment_intent_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payment_intent_keys TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON payment_intent_keys FROM campus_payments_service;
CREATE POLICY payment_intent_keys_own ON payment_intent_keys FOR SELECT USING (caller_id = app_user_id());
CREATE POLICY payment_intent_keys_bound ON payment_intent_keys FOR INSERT WITH CHECK (caller_id = app_user_id());

-- ---------------------------------------------------------------------------------------------------------------------
-- Webhooks
-- ---------------------------------------------------------------------------------------------------------------------

-- The specification's deduplication table, with the outcome and the received bytes.
CREATE TABLE processed_webhook_events (
    id text PRIMARY KEY,
    provider text NOT NULL,
    event_type text NOT NULL,
    payload jsonb NOT NULL,
    raw bytea NOT NULL,
    outcome text NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT processed_webhook_events_outcome_known CHECK (outcome IN ('queued', 'done', 'ignored', 'dead'))
);
-- Without the outcome: a finished webhook changes its row only, and no index.
CREATE INDEX processed_webhook_events_oldest ON processed_webhook_events (processed_at);
ALTER TABLE processed_webhook_events ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, event_type, outcome), UPDATE (outcome) ON processed_webhook_events TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON processed_webhook_events FROM campus_payments_service;
GRANT UPDATE (outcome) ON processed_webhook_events TO campus_payments_service;
CREATE POLICY processed_webhook_events_visible ON processed_webhook_events FOR SELECT
    USING (app_may('dead_letters:read') OR app_may('webhooks:replay'));
CREATE POLICY processed_webhook_events_replayed ON processed_webhook_events FOR UPDATE
    USING (app_may('webhooks:replay'));

CREATE TABLE dead_letter_webhooks (
    id uuid PRIMARY KEY,
    webhook_id text NOT NULL,
    event_type text NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    replayed_at timestamptz,
    CONSTRAINT dead_letter_webhooks_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id)
);
CREATE INDEX dead_letter_webhooks_newest ON dead_letter_webhooks (failed_at, id);
CREATE INDEX dead_letter_webhooks_of_webhook ON dead_letter_webhooks (webhook_id);
ALTER TABLE dead_letter_webhooks ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (replayed_at) ON dead_letter_webhooks TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dead_letter_webhooks FROM campus_payments_service;
GRANT UPDATE (replayed_at) ON dead_letter_webhooks TO campus_payments_service;
CREATE POLICY dead_letter_webhooks_visible ON dead_letter_webhooks FOR SELECT
    USING (app_may('dead_letters:read') OR app_may('webhooks:replay'));
CREATE POLICY dead_letter_webhooks_replayed ON dead_letter_webhooks FOR UPDATE USING (app_may('webhooks:replay'));

-- A known key that arrived with other content. `due_at`: when the gateway is queried for the present state.
CREATE TABLE revised_webhooks (
    webhook_id text PRIMARY KEY,
    revisions bigint NOT NULL,
    kept integer NOT NULL,
    revised_at timestamptz NOT NULL,
    due_at timestamptz,
    queried_at timestamptz,
    queries integer NOT NULL DEFAULT 0,
    answered_at timestamptz,
    CONSTRAINT revised_webhooks_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id),
    CONSTRAINT revised_webhooks_kept_is_bounded CHECK (kept BETWEEN 0 AND least(revisions, 10))
);
CREATE INDEX revised_webhooks_due ON revised_webhooks (due_at) WHERE due_at IS NOT NULL;

-- Their bytes, each content once; removed with their webhook.
CREATE TABLE webhook_revisions (
    webhook_id text NOT NULL,
    content_hash bytea NOT NULL,
    raw bytea NOT NULL,
    received_at timestamptz NOT NULL,
    CONSTRAINT webhook_revisions_pkey PRIMARY KEY (webhook_id, content_hash),
    CONSTRAINT webhook_revisions_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id)
);

-- The condition of `payments.store.retention`, under the owner's rights: the service itself cannot remove what is
-- younger than seven days, the least value of WEBHOOKS_KEEP_DAYS.
CREATE FUNCTION remove_final_webhooks(until timestamptz, rows_max integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE removed bigint;
BEGIN
    IF until > now() - interval '7 days' THEN
        RAISE EXCEPTION 'webhooks are kept for at least seven days' USING ERRCODE = 'restrict_violation';
    END IF;
    WITH old AS MATERIALIZED (
        SELECT id FROM processed_webhook_events AS event
        WHERE processed_at <= until AND outcome IN ('done', 'ignored') AND NOT EXISTS (
            SELECT FROM dead_letter_webhooks AS letter
            WHERE letter.webhook_id = event.id AND coalesce(letter.replayed_at, letter.failed_at) > until
        ) AND NOT EXISTS (
            SELECT FROM revised_webhooks AS revised
            WHERE revised.webhook_id = event.id AND (revised.due_at IS NOT NULL OR revised.revised_at > until)
        )
        ORDER BY processed_at LIMIT rows_max FOR UPDATE OF event SKIP LOCKED
    ), letters AS (DELETE FROM dead_letter_webhooks USING old WHERE dead_letter_webhooks.webhook_id = old.id),
    revisions AS (DELETE FROM webhook_revisions USING old WHERE webhook_revisions.webhook_id = old.id),
    revised AS (DELETE FROM revised_webhooks USING old WHERE revised_webhooks.webhook_id = old.id)
    DELETE FROM processed_webhook_events AS going USING old WHERE going.id = old.id;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;
REVOKE EXECUTE ON FUNCTION remove_final_webhooks FROM public;
GRANT EXECUTE ON FUNCTION remove_final_webhooks TO campus_payments_service;

-- ---------------------------------------------------------------------------------------------------------------------
-- Charges and escrow
-- ---------------------------------------------------------------------------------------------------------------------

-- Each charge that the gateway reported, once, with its verdict. The surcharge's bound is recorded: settings may
-- change.
CREATE TABLE charges (
    id uuid PRIMARY KEY,
    identity text NOT NULL,
    reference text NOT NULL,
    gateway_id text,
    webhook_id text NOT NULL,
    order_id uuid,
    amount_minor bigint NOT NULL,
    currency char(3) NOT NULL,
    channel text,
    verdict text NOT NULL,
    settled_at timestamptz NOT NULL,
    surcharge_minor bigint,
    surcharge_max_minor bigint,
    CONSTRAINT charges_identity_once UNIQUE (identity),
    CONSTRAINT charges_amount_above_zero CHECK (amount_minor > 0),
    CONSTRAINT charges_verdict_known CHECK (verdict IN ('covered', 'second_charge', 'quarantined')),
    CONSTRAINT charges_surcharge_within_bound CHECK (
        num_nulls(surcharge_minor, surcharge_max_minor) IN (0, 2) AND surcharge_minor BETWEEN 0 AND surcharge_max_minor
    )
);
CREATE INDEX charges_of_reference ON charges (reference);
-- An order is covered once: a second covering charge fails here.
CREATE UNIQUE INDEX charges_order_covered_once ON charges (order_id) WHERE verdict = 'covered';
-- A dispute names the transaction by the gateway's id or by our reference.
CREATE INDEX charges_of_gateway ON charges (gateway_id);
CREATE INDEX charges_settled ON charges (settled_at, id);
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON charges FROM campus_payments_service;
GRANT UPDATE (order_id, verdict) ON charges TO campus_payments_service;

CREATE TABLE escrows (
    order_id uuid PRIMARY KEY,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    charge_id uuid NOT NULL,
    held_minor bigint NOT NULL,
    locked_vendor_minor bigint NOT NULL,
    locked_commission_minor bigint NOT NULL,
    locked_delivery_fee_minor bigint NOT NULL,
    released_vendor_minor bigint NOT NULL,
    released_commission_minor bigint NOT NULL,
    released_delivery_fee_minor bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    disputed_at timestamptz,
    dispute_sequence bigint NOT NULL,
    held_at timestamptz NOT NULL,
    charged_back_minor bigint NOT NULL DEFAULT 0,
    CONSTRAINT escrows_order FOREIGN KEY (order_id) REFERENCES payable_orders (id),
    CONSTRAINT escrows_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
    CONSTRAINT escrows_never_negative CHECK (
        least(
            locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
            released_commission_minor, released_delivery_fee_minor, refunded_minor
        ) >= 0
    ),
    CONSTRAINT escrows_charged_back_never_negative CHECK (charged_back_minor >= 0),
    CONSTRAINT escrows_account_for_all CHECK (
        locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor + released_vendor_minor +
        released_commission_minor + released_delivery_fee_minor + refunded_minor + charged_back_minor = held_minor
    )
);
CREATE INDEX escrows_held ON escrows (held_at, order_id);
ALTER TABLE escrows ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT,
    UPDATE (
        locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
        released_commission_minor, released_delivery_fee_minor, refunded_minor
    )
ON escrows TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON escrows FROM campus_payments_service;
GRANT
    UPDATE (
        locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
        released_commission_minor, released_delivery_fee_minor, refunded_minor, disputed_at, dispute_sequence,
        charged_back_minor
    )
ON escrows TO campus_payments_service;
CREATE POLICY escrows_visible ON escrows FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY escrows_released ON escrows FOR UPDATE USING (app_may('escrow:release'));

CREATE TABLE releases (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    gross_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    cause text NOT NULL,
    released_by uuid,
    released_at timestamptz NOT NULL,
    CONSTRAINT releases_order FOREIGN KEY (order_id) REFERENCES escrows (order_id),
    CONSTRAINT releases_cause_known CHECK (cause IN ('delivery', 'staff', 'resolution')),
    CONSTRAINT releases_parts_make_gross CHECK (commission_minor + delivery_fee_minor + net_minor = gross_minor)
);
CREATE INDEX releases_of_order ON releases (order_id);
ALTER TABLE releases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON releases TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON releases FROM campus_payments_service;
CREATE POLICY releases_visible ON releases FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY releases_made ON releases FOR INSERT WITH CHECK (app_may('escrow:release'));

-- `key_id`: the key that signed the newest statement. The worker signs for vendors without a row or under another key.
-- A release by hand acts under row policies and signs in the same transaction.
CREATE TABLE vendor_statements (
    vendor_id uuid PRIMARY KEY,
    sequence bigint NOT NULL CONSTRAINT vendor_statements_counts_from_one CHECK (sequence >= 1),
    key_id text NOT NULL
);
ALTER TABLE vendor_statements ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON vendor_statements TO campus_payments_api;
CREATE POLICY vendor_statements_select ON vendor_statements FOR SELECT USING (app_may('escrow:release'));
CREATE POLICY vendor_statements_insert ON vendor_statements FOR INSERT WITH CHECK (app_may('escrow:release'));
CREATE POLICY vendor_statements_update ON vendor_statements FOR UPDATE USING (app_may('escrow:release'));

-- ---------------------------------------------------------------------------------------------------------------------
-- Refunds
-- ---------------------------------------------------------------------------------------------------------------------

-- `attempt_id` is the gateway's name of the present attempt; `recipient_code` is set when it goes to a bank account.
CREATE TABLE refunds (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    charge_id uuid NOT NULL,
    order_id uuid,
    buyer_id uuid,
    amount_minor bigint NOT NULL,
    currency char(3) NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    gateway_refund_id text,
    failure text,
    submitted_at timestamptz,
    questions integer NOT NULL DEFAULT 0,
    due_at timestamptz,
    created_at timestamptz NOT NULL,
    settled_at timestamptz,
    attempt_id uuid NOT NULL,
    recipient_code text,
    CONSTRAINT refunds_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
    CONSTRAINT refunds_amount_above_zero CHECK (amount_minor > 0),
    CONSTRAINT refunds_kind_known CHECK (kind IN ('order', 'overpayment', 'quarantine')),
    CONSTRAINT refunds_attempt_once UNIQUE (attempt_id),
    CONSTRAINT refunds_status_known
        CHECK (status IN ('pending', 'submitting', 'submitted', 'settled', 'failed', 'prepared'))
);
CREATE INDEX refunds_of_gateway ON refunds (gateway_refund_id);
CREATE INDEX refunds_of_order ON refunds (order_id);
CREATE INDEX refunds_due ON refunds (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX refunds_newest ON refunds (created_at, id);
-- Refunds of a disputed charge are held.
CREATE INDEX refunds_of_charge ON refunds (charge_id);
CREATE INDEX refunds_settled ON refunds (settled_at, id) WHERE status = 'settled';
-- Buyers see their own refunds; decisions about them are for finance.
CREATE INDEX refunds_of_buyer ON refunds (buyer_id, created_at);
ALTER TABLE refunds ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        id, kind, charge_id, order_id, buyer_id, amount_minor, currency, status, reason, failure, created_at,
        settled_at, attempt_id
    )
ON refunds TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON refunds FROM campus_payments_service;
GRANT
    UPDATE (
        amount_minor, status, reason, gateway_refund_id, failure, submitted_at, questions, due_at, settled_at,
        attempt_id, recipient_code
    )
ON refunds TO campus_payments_service;
CREATE POLICY refunds_visible ON refunds FOR SELECT
    USING (
        buyer_id = app_user_id()
        OR app_may('ledger:read')
        OR app_may('refunds:prepare')
        OR app_may('refunds:approve')
        OR app_may('refunds:read')
    );

-- The gateway alone keeps the full account number: here are its code, and what two people must see of it.
CREATE TABLE refund_decisions (
    id uuid PRIMARY KEY,
    refund_id uuid NOT NULL,
    action text NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamptz NOT NULL,
    decided_by uuid,
    decided_at timestamptz,
    rejection text,
    recipient_code text,
    account_last4 text,
    bank_code text,
    account_name text,
    name_at_bank text,
    CONSTRAINT refund_decisions_refund FOREIGN KEY (refund_id) REFERENCES refunds (id),
    CONSTRAINT refund_decisions_action_known CHECK (action IN ('retry', 'other_destination')),
    CONSTRAINT refund_decisions_status_known CHECK (status IN ('prepared', 'approved', 'rejected', 'overtaken')),
    CONSTRAINT refund_decisions_by_two CHECK (decided_by <> prepared_by),
    CONSTRAINT refund_decisions_decided_by_somebody CHECK (
        (status IN ('prepared', 'overtaken')) = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
    ),
    CONSTRAINT refund_decisions_destination_when_other CHECK (
        (action = 'other_destination') = (num_nulls(recipient_code, account_last4, bank_code, account_name) = 0)
    )
);
CREATE UNIQUE INDEX refund_decisions_one_waits ON refund_decisions (refund_id) WHERE status = 'prepared';
CREATE INDEX refund_decisions_of_refund ON refund_decisions (refund_id, prepared_at);
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

-- Attempts that failed before the present one. No other is made until the gateway confirms that one as dead.
CREATE TABLE failed_refund_attempts (
    id uuid PRIMARY KEY,
    refund_id uuid NOT NULL,
    gateway_refund_id text,
    recipient_code text,
    failure text,
    replaced_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    CONSTRAINT failed_refund_attempts_refund FOREIGN KEY (refund_id) REFERENCES refunds (id)
);
CREATE INDEX failed_refund_attempts_of_refund ON failed_refund_attempts (refund_id);
CREATE INDEX failed_refund_attempts_of_gateway ON failed_refund_attempts (gateway_refund_id);
ALTER TABLE failed_refund_attempts ENABLE ROW LEVEL SECURITY;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON failed_refund_attempts FROM campus_payments_service;
GRANT UPDATE (recipient_code, failure, confirmed_at) ON failed_refund_attempts TO campus_payments_service;

-- ---------------------------------------------------------------------------------------------------------------------
-- Quarantine
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE quarantined_charges (
    id uuid PRIMARY KEY,
    charge_id uuid NOT NULL,
    reference text NOT NULL,
    order_id uuid,
    amount_minor bigint NOT NULL,
    currency char(3) NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    created_at timestamptz NOT NULL,
    refund_id uuid,
    CONSTRAINT quarantined_charges_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
    CONSTRAINT quarantined_charges_charge_once UNIQUE (charge_id),
    CONSTRAINT quarantined_charges_status_known CHECK (status IN ('quarantined', 'prepared', 'accepted', 'returned'))
);
CREATE INDEX quarantined_charges_newest ON quarantined_charges (created_at, id);
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

-- Every prepared decision and who answered it. Maker and checker are two user ids.
CREATE TABLE quarantine_decisions (
    id uuid PRIMARY KEY,
    quarantined_charge_id uuid NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamptz NOT NULL,
    decided_by uuid,
    decided_at timestamptz,
    rejection text,
    CONSTRAINT quarantine_decisions_charge FOREIGN KEY (quarantined_charge_id) REFERENCES quarantined_charges (id),
    CONSTRAINT quarantine_decisions_outcome_known CHECK (outcome IN ('accept', 'return')),
    CONSTRAINT quarantine_decisions_status_known CHECK (status IN ('prepared', 'approved', 'rejected')),
    CONSTRAINT quarantine_decisions_by_two CHECK (decided_by <> prepared_by),
    CONSTRAINT quarantine_decisions_decided_by_somebody
        CHECK ((status = 'prepared') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL))
);
-- One decision of a charge waits or holds; rejected ones stay as history.
CREATE UNIQUE INDEX quarantine_decisions_one_stands
    ON quarantine_decisions (quarantined_charge_id)
    WHERE status <> 'rejected';
CREATE INDEX quarantine_decisions_of_charge ON quarantine_decisions (quarantined_charge_id, prepared_at);
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

-- ---------------------------------------------------------------------------------------------------------------------
-- Chargebacks
-- ---------------------------------------------------------------------------------------------------------------------

-- Each dispute that the gateway reported, once, and where a lost one took its money from. Fees are in the ledger only.
CREATE TABLE chargebacks (
    id uuid PRIMARY KEY,
    identity text NOT NULL,
    charge_id uuid NOT NULL,
    order_id uuid,
    amount_minor bigint NOT NULL,
    currency char(3) NOT NULL,
    status text NOT NULL,
    reason text,
    locked_vendor_minor bigint NOT NULL DEFAULT 0,
    locked_commission_minor bigint NOT NULL DEFAULT 0,
    locked_delivery_fee_minor bigint NOT NULL DEFAULT 0,
    released_vendor_minor bigint NOT NULL DEFAULT 0,
    released_commission_minor bigint NOT NULL DEFAULT 0,
    released_delivery_fee_minor bigint NOT NULL DEFAULT 0,
    loss_minor bigint NOT NULL DEFAULT 0,
    opened_at timestamptz NOT NULL,
    decided_at timestamptz,
    CONSTRAINT chargebacks_identity_once UNIQUE (identity),
    CONSTRAINT chargebacks_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
    CONSTRAINT chargebacks_amount_above_zero CHECK (amount_minor > 0),
    CONSTRAINT chargebacks_status_known CHECK (status IN ('opened', 'won', 'lost')),
    CONSTRAINT chargebacks_decided_when_not_open CHECK ((status = 'opened') = (decided_at IS NULL)),
    CONSTRAINT chargebacks_never_negative CHECK (
        least(
            locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
            released_commission_minor, released_delivery_fee_minor, loss_minor
        ) >= 0
    )
);
CREATE INDEX chargebacks_of_charge ON chargebacks (charge_id);
CREATE INDEX chargebacks_of_order ON chargebacks (order_id);
CREATE INDEX chargebacks_newest ON chargebacks (opened_at, id);
ALTER TABLE chargebacks ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON chargebacks TO campus_payments_api;
-- Written once.
REVOKE UPDATE, DELETE ON chargebacks FROM campus_payments_service;
GRANT
    UPDATE (
        amount_minor, status, locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor,
        released_vendor_minor, released_commission_minor, released_delivery_fee_minor, loss_minor, decided_at
    )
ON chargebacks TO campus_payments_service;
CREATE POLICY chargebacks_visible ON chargebacks FOR SELECT USING (app_may('ledger:read') OR app_may('escrow:release'));

-- What a lost chargeback gave the payer in place of a refund.
CREATE TABLE chargeback_refunds (
    chargeback_id uuid NOT NULL,
    refund_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    CONSTRAINT chargeback_refunds_pkey PRIMARY KEY (chargeback_id, refund_id),
    CONSTRAINT chargeback_refunds_chargeback FOREIGN KEY (chargeback_id) REFERENCES chargebacks (id),
    CONSTRAINT chargeback_refunds_refund FOREIGN KEY (refund_id) REFERENCES refunds (id),
    CONSTRAINT chargeback_refunds_amount_above_zero CHECK (amount_minor > 0)
);
CREATE INDEX chargeback_refunds_of_refund ON chargeback_refunds (refund_id);
ALTER TABLE chargeback_refunds ENABLE ROW LEVEL SECURITY;

-- ---------------------------------------------------------------------------------------------------------------------
-- Reconciliation
-- ---------------------------------------------------------------------------------------------------------------------

-- `explained`: a later run found no difference. `closed`: a person explained it, with evidence.
CREATE TABLE reconciliation_cases (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    subject text NOT NULL,
    reference text,
    order_id uuid,
    ours_minor bigint NOT NULL,
    theirs_minor bigint NOT NULL,
    unexplained_minor bigint NOT NULL,
    currency char(3) NOT NULL,
    detail text NOT NULL,
    status text NOT NULL,
    opened_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    alerted_at timestamptz,
    closed_at timestamptz,
    closed_by uuid,
    evidence text,
    CONSTRAINT reconciliation_cases_kind_known CHECK (
        kind IN (
            'charge_not_in_book', 'charge_not_at_gateway', 'charge_differs', 'charge_without_escrow',
            'refund_not_in_book', 'refund_not_at_gateway', 'refund_differs', 'order_held_without_charge'
        )
    ),
    CONSTRAINT reconciliation_cases_status_known CHECK (status IN ('open', 'explained', 'closed')),
    CONSTRAINT reconciliation_cases_ends_once CHECK ((status = 'open') = (closed_at IS NULL)),
    CONSTRAINT reconciliation_cases_closed_with_evidence
        CHECK ((status = 'closed') = (closed_by IS NOT NULL AND evidence IS NOT NULL))
);
-- One open case of a subject, however often and by how many workers it is found.
CREATE UNIQUE INDEX reconciliation_cases_one_open ON reconciliation_cases (subject, kind) WHERE status = 'open';
CREATE INDEX reconciliation_cases_of_subject ON reconciliation_cases (subject, kind, opened_at);
CREATE INDEX reconciliation_cases_newest ON reconciliation_cases (opened_at, id);
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

-- One row: when the next daily run is due. One of two workers claims it.
CREATE TABLE reconciliation_runs (
    the_only boolean PRIMARY KEY DEFAULT true,
    due_at timestamptz,
    CONSTRAINT reconciliation_runs_is_one CHECK (the_only)
);
INSERT INTO reconciliation_runs DEFAULT VALUES;

-- ---------------------------------------------------------------------------------------------------------------------
-- Ledger: the tables are made by create_ledger_v1
-- ---------------------------------------------------------------------------------------------------------------------

CREATE INDEX ledger_transactions_of_type ON ledger_transactions (type, created_at, position);
-- A subquery is evaluated once for a statement, not for each of its rows.
CREATE POLICY ledger_transactions_visible ON ledger_transactions FOR SELECT
    USING ((SELECT app_may('ledger:read') OR app_may('ledger:export')));

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

CREATE INDEX ledger_balances_of_vendors ON ledger_balances (account) WHERE account LIKE 'vendor\_payable:%';
CREATE POLICY ledger_balances_visible ON ledger_balances FOR SELECT
    USING ((SELECT app_may('ledger:read') OR app_may('ledger:export')));
CREATE POLICY ledger_balances_of_vendors_signed ON ledger_balances FOR SELECT
    USING (app_may('escrow:release') AND account LIKE 'vendor\_payable:%');

CREATE POLICY ledger_accounts_visible ON ledger_accounts FOR SELECT
    USING ((SELECT app_may('ledger:read') OR app_may('ledger:export')));
