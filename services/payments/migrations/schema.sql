-- Generated from the migrated database by `make schemas`. Do not edit: tables/ and migrations/sql are the source.
-- Every table, view and sequence belongs to campus_payments_owner. PostgreSQL 15 wrote the expressions.

CREATE OR REPLACE FUNCTION public.app_campus_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.campus_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_may(permission text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$ SELECT permission = ANY (string_to_array(current_setting('app.permissions', true), ',')) $function$;

CREATE OR REPLACE FUNCTION public.app_user_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_vendor_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.vendor_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.copy_renamed_count()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF NEW.questions <> OLD.questions THEN
        NEW.poll_count := NEW.questions;
    ELSE
        NEW.questions := NEW.poll_count;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.escrows_refuse_above_charge()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
    IF (SELECT sum(held_minor - balance_minor) FROM escrows WHERE charge_id = NEW.charge_id)
        > (SELECT amount_minor - coalesce(surcharge_minor, 0) FROM charges WHERE id = NEW.charge_id) THEN
        RAISE EXCEPTION 'the escrows of charge % exceed what it took', NEW.charge_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $function$;
REVOKE EXECUTE ON FUNCTION escrows_refuse_above_charge FROM public;

CREATE OR REPLACE FUNCTION public.ledger_post(new_id uuid, new_type text, new_key text, new_currency text, new_hash bytea, accounts text[], sides text[], guards boolean[], amounts_minor bigint[])
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE standing_hash bytea; touched bigint; new_position bigint;
BEGIN
    INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash)
    VALUES (new_id, new_type, new_key, new_currency, new_hash)
    ON CONFLICT (posting_key) DO NOTHING
    RETURNING position INTO new_position;
    IF NOT FOUND THEN
        SELECT content_hash INTO standing_hash FROM ledger_transactions WHERE posting_key = new_key;
        IF standing_hash IS DISTINCT FROM new_hash THEN
            RAISE EXCEPTION 'posting key % stands with other content', new_key
                USING ERRCODE = 'unique_violation', CONSTRAINT = 'ledger_transactions_posting_key_once';
        END IF;
        RETURN false;
    END IF;
    INSERT INTO ledger_balances AS b (account, currency, side, balance_minor)
    SELECT line.account, new_currency, line.side, CASE line.side WHEN 'debit' THEN line.amount_minor ELSE -line.amount_minor END
    FROM unnest(accounts, sides, guards, amounts_minor) AS line (account, side, guarded, amount_minor)
    WHERE line.guarded ORDER BY line.account
    ON CONFLICT (account) DO UPDATE SET balance_minor = b.balance_minor + excluded.balance_minor
    WHERE b.currency = excluded.currency AND b.side = excluded.side;
    GET DIAGNOSTICS touched = ROW_COUNT;
    IF touched <> (SELECT count(*) FROM unnest(guards) AS guarded WHERE guarded) THEN
        RAISE EXCEPTION 'an account keeps its currency and its side' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency)
    SELECT new_id, line.account, line.amount_minor, new_currency
    FROM unnest(accounts, amounts_minor) AS line (account, amount_minor);
    -- Only an account's first posting writes here. A guarded one is ours alone, by the lock of its balance; for another one
    -- that somebody else is opening at this moment nobody waits: the sealing catches up. Asked one by one, so that the plan
    -- is a look into the index whatever the size of the table was when it was made.
    FOR number IN 1 .. cardinality(accounts) LOOP
        IF NOT EXISTS (SELECT FROM ledger_accounts known WHERE known.account = accounts[number])
            AND (guards[number] OR pg_try_advisory_xact_lock(hashtextextended(accounts[number], 0)))
        THEN
            INSERT INTO ledger_accounts (account, currency, opened_at) VALUES (accounts[number], new_currency, now())
            ON CONFLICT (account) DO NOTHING;
        END IF;
    END LOOP;
    INSERT INTO ledger_unsealed (position, transaction_id, posted_at) VALUES (new_position, new_id, now());
    RETURN true;
END $function$;
REVOKE EXECUTE ON FUNCTION ledger_post FROM public;
GRANT EXECUTE ON FUNCTION ledger_post TO campus_payments_api;
GRANT EXECUTE ON FUNCTION ledger_post TO campus_payments_service;

CREATE OR REPLACE FUNCTION public.ledger_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: history is answered by a new transaction, never edited'
        USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.ledger_refuse_overdraft()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'account % would fall below zero', NEW.account
        USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_balances_never_negative';
END $function$;

CREATE OR REPLACE FUNCTION public.ledger_refuse_unbalanced()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF EXISTS (SELECT FROM added GROUP BY transaction_id HAVING sum(amount_minor) <> 0 OR count(*) < 2) THEN
        RAISE EXCEPTION 'a ledger transaction must sum to zero' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.number_of_order(searched_order_id uuid)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT number FROM payable_orders WHERE id = searched_order_id
$function$;
REVOKE EXECUTE ON FUNCTION number_of_order FROM public;
GRANT EXECUTE ON FUNCTION number_of_order TO campus_payments_api;
GRANT EXECUTE ON FUNCTION number_of_order TO campus_payments_service;

CREATE OR REPLACE FUNCTION public.remove_final_webhooks(until timestamp with time zone, rows_max integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE removed bigint;
BEGIN
    IF until > now() - interval '7 days' THEN
        RAISE EXCEPTION 'webhooks are kept for at least seven days' USING ERRCODE = 'restrict_violation';
    END IF;
    WITH old AS MATERIALIZED (
        SELECT id FROM processed_webhook_events AS event
        WHERE processed_at <= until AND outcome IN ('done', 'ignored') AND NOT EXISTS (
            SELECT FROM dead_letter_webhooks AS letter
            WHERE letter.webhook_id = event.id AND coalesce(letter.replayed_at, letter.closed_at, letter.failed_at) > until
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
END $function$;
REVOKE EXECUTE ON FUNCTION remove_final_webhooks FROM public;
GRANT EXECUTE ON FUNCTION remove_final_webhooks TO campus_payments_service;

CREATE TABLE audit_findings (
    audit_id uuid NOT NULL,
    position integer NOT NULL,
    check_name text NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    expected text NOT NULL,
    actual text NOT NULL,
    CONSTRAINT audit_findings_pkey PRIMARY KEY (audit_id, "position"),
    CONSTRAINT audit_findings_audit FOREIGN KEY (audit_id) REFERENCES audits(id),
    CONSTRAINT audit_findings_kind_known CHECK ((kind = ANY (ARRAY['broken'::text, 'open'::text, 'waiting'::text])))
);
ALTER TABLE audit_findings ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON audit_findings TO campus_payments_api;
GRANT SELECT, INSERT ON audit_findings TO campus_payments_service;
CREATE POLICY audit_findings_visible ON audit_findings FOR SELECT
    USING (app_may('audits:read'::text));

CREATE TABLE audits (
    id uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    verdict text NOT NULL,
    gateway_reason text,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT audits_pkey PRIMARY KEY (id),
    CONSTRAINT audits_end_after_their_start CHECK ((finished_at >= started_at)),
    CONSTRAINT audits_verdict_known CHECK ((verdict = ANY (ARRAY['clean'::text, 'open'::text, 'broken'::text])))
);
CREATE INDEX audits_newest ON audits USING btree (started_at, id);
ALTER TABLE audits ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON audits TO campus_payments_api;
GRANT SELECT, INSERT ON audits TO campus_payments_service;
CREATE POLICY audits_visible ON audits FOR SELECT
    USING (app_may('audits:read'::text));

CREATE TABLE balance_holds (
    intent_id uuid NOT NULL,
    user_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    rewards_minor bigint NOT NULL,
    status text NOT NULL,
    hold_count integer NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT balance_holds_pkey PRIMARY KEY (intent_id),
    CONSTRAINT balance_holds_balance FOREIGN KEY (user_id) REFERENCES buyer_balances(user_id),
    CONSTRAINT balance_holds_intent FOREIGN KEY (intent_id) REFERENCES payment_intents(id),
    CONSTRAINT balance_holds_rewards_within_amount CHECK (((amount_minor > 0) AND ((rewards_minor >= 0) AND (rewards_minor <= amount_minor)))),
    CONSTRAINT balance_holds_status_known CHECK ((status = ANY (ARRAY['held'::text, 'spent'::text, 'returned'::text])))
);
CREATE INDEX balance_holds_of_user ON balance_holds USING btree (user_id) WHERE (status = 'held'::text);
ALTER TABLE balance_holds ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON balance_holds TO campus_payments_service;

CREATE TABLE balance_lines (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    sequence bigint NOT NULL,
    kind text NOT NULL,
    order_id uuid,
    amount_minor bigint NOT NULL,
    rewards_minor bigint NOT NULL,
    balance_minor bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT balance_lines_pkey PRIMARY KEY (id),
    CONSTRAINT balance_lines_sequence_once UNIQUE (user_id, sequence),
    CONSTRAINT balance_lines_balance FOREIGN KEY (user_id) REFERENCES buyer_balances(user_id),
    CONSTRAINT balance_lines_balance_never_negative CHECK ((balance_minor >= 0)),
    CONSTRAINT balance_lines_kind_known CHECK ((kind = ANY (ARRAY['reward'::text, 'refund'::text, 'spent'::text, 'returned'::text, 'withdrawn'::text]))),
    CONSTRAINT balance_lines_sign_of_kind CHECK (((amount_minor <> 0) AND ((amount_minor < 0) = (kind = ANY (ARRAY['spent'::text, 'withdrawn'::text])))))
);
ALTER TABLE balance_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON balance_lines TO campus_payments_api;
GRANT SELECT, INSERT ON balance_lines TO campus_payments_service;
CREATE POLICY balance_lines_visible ON balance_lines FOR SELECT
    USING (((user_id = app_user_id()) OR app_may('payments:read'::text) OR app_may('ledger:read'::text)));

CREATE TABLE buyer_balances (
    user_id uuid NOT NULL,
    rewards_minor bigint NOT NULL,
    refunds_minor bigint NOT NULL,
    held_minor bigint NOT NULL,
    line_count bigint NOT NULL,
    CONSTRAINT buyer_balances_pkey PRIMARY KEY (user_id),
    CONSTRAINT buyer_balances_never_negative CHECK ((LEAST(rewards_minor, refunds_minor, held_minor) >= 0))
);
ALTER TABLE buyer_balances ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON buyer_balances TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE ON buyer_balances TO campus_payments_service;
CREATE POLICY buyer_balances_visible ON buyer_balances FOR SELECT
    USING (((user_id = app_user_id()) OR app_may('payments:read'::text) OR app_may('ledger:read'::text)));

CREATE TABLE buyers (
    user_id uuid NOT NULL,
    email text NOT NULL,
    heard_at timestamp with time zone NOT NULL,
    CONSTRAINT buyers_pkey PRIMARY KEY (user_id)
);
ALTER TABLE buyers ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON buyers TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON buyers TO campus_payments_service;
CREATE POLICY buyers_own ON buyers FOR SELECT
    USING ((user_id = app_user_id()));

CREATE TABLE chargeback_refunds (
    chargeback_id uuid NOT NULL,
    refund_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    CONSTRAINT chargeback_refunds_pkey PRIMARY KEY (chargeback_id, refund_id),
    CONSTRAINT chargeback_refunds_chargeback FOREIGN KEY (chargeback_id) REFERENCES chargebacks(id),
    CONSTRAINT chargeback_refunds_refund FOREIGN KEY (refund_id) REFERENCES refunds(id),
    CONSTRAINT chargeback_refunds_amount_above_zero CHECK ((amount_minor > 0))
);
CREATE INDEX chargeback_refunds_of_refund ON chargeback_refunds USING btree (refund_id);
ALTER TABLE chargeback_refunds ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON chargeback_refunds TO campus_payments_service;

CREATE TABLE chargeback_responses (
    id uuid NOT NULL,
    chargeback_id uuid NOT NULL,
    kind text NOT NULL,
    resolution text,
    message text,
    amount_minor bigint,
    evidence jsonb,
    attachment bytea,
    content_hash text NOT NULL,
    status text DEFAULT 'submitting'::text NOT NULL,
    gateway_evidence_id text,
    failure text,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT chargeback_responses_pkey PRIMARY KEY (id),
    CONSTRAINT chargeback_responses_chargeback FOREIGN KEY (chargeback_id) REFERENCES chargebacks(id),
    CONSTRAINT chargeback_responses_amount_not_negative CHECK ((amount_minor >= 0)),
    CONSTRAINT chargeback_responses_due_while_submitting CHECK (((status = 'submitting'::text) = (due_at IS NOT NULL))),
    CONSTRAINT chargeback_responses_finished_once CHECK (((status = 'submitting'::text) = (finished_at IS NULL))),
    CONSTRAINT chargeback_responses_kind_known CHECK ((kind = ANY (ARRAY['evidence'::text, 'resolution'::text]))),
    CONSTRAINT chargeback_responses_personal_data_leaves CHECK (((status = 'submitting'::text) OR ((evidence IS NULL) AND (attachment IS NULL)))),
    CONSTRAINT chargeback_responses_resolution_is_whole CHECK (((kind = 'resolution'::text) = ((resolution IS NOT NULL) AND (message IS NOT NULL) AND (amount_minor IS NOT NULL)))),
    CONSTRAINT chargeback_responses_resolution_known CHECK ((resolution = ANY (ARRAY['accept'::text, 'contest'::text]))),
    CONSTRAINT chargeback_responses_status_known CHECK ((status = ANY (ARRAY['submitting'::text, 'submitted'::text, 'rejected'::text, 'overtaken'::text])))
);
CREATE INDEX chargeback_responses_due ON chargeback_responses USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX chargeback_responses_of_chargeback ON chargeback_responses USING btree (chargeback_id, created_at);
CREATE UNIQUE INDEX chargeback_responses_one_resolution ON chargeback_responses USING btree (chargeback_id) WHERE ((kind = 'resolution'::text) AND (status = ANY (ARRAY['submitting'::text, 'submitted'::text])));
CREATE UNIQUE INDEX chargeback_responses_one_submitting ON chargeback_responses USING btree (chargeback_id) WHERE (status = 'submitting'::text);
ALTER TABLE chargeback_responses ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, chargeback_id, kind, resolution, message, amount_minor, content_hash, status, failure, created_by, created_at, finished_at) ON chargeback_responses TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (message, evidence, attachment, status, gateway_evidence_id, failure, attempts, due_at, finished_at) ON chargeback_responses TO campus_payments_service;
CREATE POLICY chargeback_responses_visible ON chargeback_responses FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('chargebacks:respond'::text)));

CREATE TABLE chargebacks (
    id uuid NOT NULL,
    identity text NOT NULL,
    charge_id uuid NOT NULL,
    order_id uuid,
    amount_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    status text NOT NULL,
    reason text,
    locked_vendor_minor bigint DEFAULT 0 NOT NULL,
    locked_commission_minor bigint DEFAULT 0 NOT NULL,
    locked_delivery_fee_minor bigint DEFAULT 0 NOT NULL,
    released_vendor_minor bigint DEFAULT 0 NOT NULL,
    released_commission_minor bigint DEFAULT 0 NOT NULL,
    released_delivery_fee_minor bigint DEFAULT 0 NOT NULL,
    loss_minor bigint DEFAULT 0 NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    due_at timestamp with time zone,
    due_alerted_at timestamp with time zone,
    responded_at timestamp with time zone,
    part_of uuid,
    CONSTRAINT chargebacks_pkey PRIMARY KEY (id),
    CONSTRAINT chargebacks_identity_once UNIQUE (identity),
    CONSTRAINT chargebacks_charge FOREIGN KEY (charge_id) REFERENCES charges(id),
    CONSTRAINT chargebacks_part_of FOREIGN KEY (part_of) REFERENCES chargebacks(id),
    CONSTRAINT chargebacks_amount_not_negative CHECK ((amount_minor >= 0)),
    CONSTRAINT chargebacks_decided_when_not_open CHECK (((status = 'opened'::text) = (decided_at IS NULL))),
    CONSTRAINT chargebacks_never_negative CHECK ((LEAST(locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor, released_commission_minor, released_delivery_fee_minor, loss_minor) >= 0)),
    CONSTRAINT chargebacks_status_known CHECK ((status = ANY (ARRAY['opened'::text, 'won'::text, 'lost'::text])))
);
CREATE INDEX chargebacks_due ON chargebacks USING btree (due_at) WHERE ((status = 'opened'::text) AND (due_alerted_at IS NULL) AND (responded_at IS NULL));
CREATE INDEX chargebacks_newest ON chargebacks USING btree (opened_at, id);
CREATE INDEX chargebacks_of_charge ON chargebacks USING btree (charge_id);
CREATE INDEX chargebacks_of_order ON chargebacks USING btree (order_id);
CREATE UNIQUE INDEX chargebacks_of_part ON chargebacks USING btree (part_of, order_id) WHERE (part_of IS NOT NULL);
CREATE INDEX chargebacks_open ON chargebacks USING btree (opened_at, id) WHERE (status = 'opened'::text);
ALTER TABLE chargebacks ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON chargebacks TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (amount_minor, status, locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor, released_commission_minor, released_delivery_fee_minor, loss_minor, decided_at, due_at, due_alerted_at, responded_at) ON chargebacks TO campus_payments_service;
CREATE POLICY chargebacks_visible ON chargebacks FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('escrow:release'::text)));

CREATE TABLE charges (
    id uuid NOT NULL,
    identity text NOT NULL,
    reference text NOT NULL,
    gateway_id text,
    webhook_id text NOT NULL,
    order_id uuid,
    amount_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    channel text,
    verdict text NOT NULL,
    settled_at timestamp with time zone NOT NULL,
    surcharge_minor bigint,
    surcharge_max_minor bigint,
    gateway text DEFAULT 'paystack'::text NOT NULL,
    CONSTRAINT charges_pkey PRIMARY KEY (id),
    CONSTRAINT charges_identity_once UNIQUE (identity),
    CONSTRAINT charges_amount_above_zero CHECK ((amount_minor > 0)),
    CONSTRAINT charges_surcharge_within_bound CHECK (((num_nulls(surcharge_minor, surcharge_max_minor) = ANY (ARRAY[0, 2])) AND ((surcharge_minor >= 0) AND (surcharge_minor <= surcharge_max_minor)))),
    CONSTRAINT charges_verdict_known CHECK ((verdict = ANY (ARRAY['covered'::text, 'second_charge'::text, 'quarantined'::text])))
);
CREATE INDEX charges_of_gateway ON charges USING btree (gateway_id);
CREATE INDEX charges_of_reference ON charges USING btree (reference);
CREATE UNIQUE INDEX charges_order_covered_once ON charges USING btree (order_id) WHERE (verdict = 'covered'::text);
CREATE INDEX charges_settled ON charges USING btree (settled_at, id);
GRANT SELECT, INSERT, UPDATE (order_id, verdict) ON charges TO campus_payments_service;

CREATE TABLE dead_letter_actions (
    dead_letter_id uuid NOT NULL,
    action text NOT NULL,
    queue text NOT NULL,
    event_type text NOT NULL,
    acted_by uuid NOT NULL,
    reason text,
    acted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dead_letter_actions_pkey PRIMARY KEY (dead_letter_id, action),
    CONSTRAINT dead_letter_actions_known CHECK ((action = ANY (ARRAY['replayed'::text, 'closure_requested'::text]))),
    CONSTRAINT dead_letter_actions_request_has_its_reason CHECK (((reason IS NULL) = (action = 'replayed'::text)))
);
CREATE INDEX dead_letter_actions_of_staff ON dead_letter_actions USING btree (acted_by, acted_at);
ALTER TABLE dead_letter_actions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON dead_letter_actions TO campus_payments_api;
GRANT SELECT, INSERT ON dead_letter_actions TO campus_payments_service;
CREATE POLICY dead_letter_actions_own ON dead_letter_actions FOR INSERT
    WITH CHECK (((acted_by = app_user_id()) AND app_may('webhooks:replay'::text)));
CREATE POLICY dead_letter_actions_visible ON dead_letter_actions FOR SELECT
    USING ((app_may('dead_letters:read'::text) OR app_may('webhooks:replay'::text)));

CREATE TABLE dead_letter_closures (
    dead_letter_id uuid NOT NULL,
    queue text NOT NULL,
    event_type text NOT NULL,
    closed_by uuid NOT NULL,
    reason text NOT NULL,
    closed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dead_letter_closures_pkey PRIMARY KEY (dead_letter_id)
);
CREATE INDEX dead_letter_closures_of_staff ON dead_letter_closures USING btree (closed_by, closed_at);
ALTER TABLE dead_letter_closures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON dead_letter_closures TO campus_payments_api;
GRANT SELECT, INSERT ON dead_letter_closures TO campus_payments_service;
CREATE POLICY dead_letter_closures_own ON dead_letter_closures FOR INSERT
    WITH CHECK (((closed_by = app_user_id()) AND app_may('webhooks:replay'::text)));
CREATE POLICY dead_letter_closures_visible ON dead_letter_closures FOR SELECT
    USING ((app_may('dead_letters:read'::text) OR app_may('webhooks:replay'::text)));

CREATE TABLE dead_letter_webhooks (
    id uuid NOT NULL,
    webhook_id text NOT NULL,
    event_type text NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    replayed_at timestamp with time zone,
    provider text DEFAULT 'paystack'::text NOT NULL,
    payload jsonb,
    closed_at timestamp with time zone,
    CONSTRAINT dead_letter_webhooks_pkey PRIMARY KEY (id),
    CONSTRAINT dead_letter_webhooks_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events(id),
    CONSTRAINT dead_letter_webhooks_provider_known CHECK ((provider = ANY (ARRAY['paystack'::text, 'flutterwave'::text]))),
    CONSTRAINT dead_letter_webhooks_resolved_once CHECK ((num_nulls(replayed_at, closed_at) > 0))
);
CREATE INDEX dead_letter_webhooks_newest ON dead_letter_webhooks USING btree (failed_at, id);
CREATE INDEX dead_letter_webhooks_of_webhook ON dead_letter_webhooks USING btree (webhook_id);
ALTER TABLE dead_letter_webhooks ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, webhook_id, event_type, error, attempts, failed_at, replayed_at, provider, payload, closed_at), UPDATE (replayed_at, closed_at) ON dead_letter_webhooks TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (replayed_at, closed_at) ON dead_letter_webhooks TO campus_payments_service;
CREATE POLICY dead_letter_webhooks_replayed ON dead_letter_webhooks FOR UPDATE
    USING (app_may('webhooks:replay'::text));
CREATE POLICY dead_letter_webhooks_visible ON dead_letter_webhooks FOR SELECT
    USING ((app_may('dead_letters:read'::text) OR app_may('webhooks:replay'::text)));

CREATE TABLE dead_letters (
    id uuid NOT NULL,
    queue text NOT NULL,
    event_id uuid,
    event_type text NOT NULL,
    body bytea NOT NULL,
    headers jsonb NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    replayed_at timestamp with time zone,
    closed_at timestamp with time zone,
    resolved_at timestamp with time zone GENERATED ALWAYS AS (COALESCE(replayed_at, closed_at)) STORED,
    CONSTRAINT dead_letters_pkey PRIMARY KEY (id),
    CONSTRAINT dead_letters_resolved_once CHECK ((num_nulls(replayed_at, closed_at) > 0))
);
CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, id DESC);
CREATE INDEX dead_letters_of_event ON dead_letters USING btree (event_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letters TO campus_payments_service;

CREATE TABLE escrows (
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    charge_id uuid,
    held_minor bigint NOT NULL,
    locked_vendor_minor bigint NOT NULL,
    locked_commission_minor bigint NOT NULL,
    locked_delivery_fee_minor bigint NOT NULL,
    released_vendor_minor bigint NOT NULL,
    released_commission_minor bigint NOT NULL,
    released_delivery_fee_minor bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    disputed_at timestamp with time zone,
    dispute_sequence bigint NOT NULL,
    held_at timestamp with time zone NOT NULL,
    charged_back_minor bigint DEFAULT 0 NOT NULL,
    balance_minor bigint DEFAULT 0 NOT NULL,
    rewards_minor bigint DEFAULT 0 NOT NULL,
    balance_refunded_minor bigint DEFAULT 0 NOT NULL,
    rewards_refunded_minor bigint DEFAULT 0 NOT NULL,
    CONSTRAINT escrows_pkey PRIMARY KEY (order_id),
    CONSTRAINT escrows_charge FOREIGN KEY (charge_id) REFERENCES charges(id),
    CONSTRAINT escrows_order FOREIGN KEY (order_id) REFERENCES payable_orders(id),
    CONSTRAINT escrows_account_for_all CHECK (((((((((locked_vendor_minor + locked_commission_minor) + locked_delivery_fee_minor) + released_vendor_minor) + released_commission_minor) + released_delivery_fee_minor) + refunded_minor) + charged_back_minor) = held_minor)),
    CONSTRAINT escrows_charged_back_never_negative CHECK ((charged_back_minor >= 0)),
    CONSTRAINT escrows_never_negative CHECK ((LEAST(locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor, released_commission_minor, released_delivery_fee_minor, refunded_minor) >= 0))
);
CREATE INDEX escrows_held ON escrows USING btree (held_at, order_id);
CREATE INDEX escrows_of_charge ON escrows USING btree (charge_id);
ALTER TABLE escrows ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor, released_commission_minor, released_delivery_fee_minor, refunded_minor) ON escrows TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor, released_commission_minor, released_delivery_fee_minor, refunded_minor, disputed_at, dispute_sequence, charged_back_minor, balance_refunded_minor, rewards_refunded_minor) ON escrows TO campus_payments_service;
CREATE POLICY escrows_released ON escrows FOR UPDATE
    USING (app_may('escrow:release'::text));
CREATE POLICY escrows_visible ON escrows FOR SELECT
    USING (app_may('escrow:release'::text));
CREATE TRIGGER escrows_within_charge AFTER INSERT ON escrows FOR EACH ROW EXECUTE FUNCTION escrows_refuse_above_charge();

CREATE TABLE failed_refund_attempts (
    id uuid NOT NULL,
    refund_id uuid NOT NULL,
    gateway_refund_id text,
    recipient_code text,
    failure text,
    replaced_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    transfer_fee_minor bigint,
    CONSTRAINT failed_refund_attempts_pkey PRIMARY KEY (id),
    CONSTRAINT failed_refund_attempts_refund FOREIGN KEY (refund_id) REFERENCES refunds(id)
);
CREATE INDEX failed_refund_attempts_of_gateway ON failed_refund_attempts USING btree (gateway_refund_id);
CREATE INDEX failed_refund_attempts_of_refund ON failed_refund_attempts USING btree (refund_id);
ALTER TABLE failed_refund_attempts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (recipient_code, failure, confirmed_at, transfer_fee_minor) ON failed_refund_attempts TO campus_payments_service;

CREATE TABLE goodwill_refunds (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    CONSTRAINT goodwill_refunds_pkey PRIMARY KEY (id),
    CONSTRAINT goodwill_refunds_amount_above_zero CHECK ((amount_minor > 0)),
    CONSTRAINT goodwill_refunds_by_two CHECK ((decided_by <> prepared_by)),
    CONSTRAINT goodwill_refunds_decided_once CHECK ((((status = 'prepared'::text) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT goodwill_refunds_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX goodwill_refunds_decided_by ON goodwill_refunds USING btree (decided_by) WHERE (decided_by IS NOT NULL);
CREATE INDEX goodwill_refunds_newest ON goodwill_refunds USING btree (prepared_at, id);
CREATE INDEX goodwill_refunds_of_buyer ON goodwill_refunds USING btree (buyer_id);
CREATE INDEX goodwill_refunds_of_order ON goodwill_refunds USING btree (order_id);
CREATE UNIQUE INDEX goodwill_refunds_one_prepared ON goodwill_refunds USING btree (order_id) WHERE (status = 'prepared'::text);
CREATE INDEX goodwill_refunds_prepared_by ON goodwill_refunds USING btree (prepared_by);
ALTER TABLE goodwill_refunds ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON goodwill_refunds TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (reason, status, decided_by, decided_at, rejection) ON goodwill_refunds TO campus_payments_service;
CREATE POLICY goodwill_refunds_visible ON goodwill_refunds FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('goodwill:prepare'::text) OR app_may('goodwill:approve'::text)));

CREATE TABLE idempotent_commands (
    user_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    resource_id uuid NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotent_commands_pkey PRIMARY KEY (user_id, idempotency_key)
);
GRANT SELECT, INSERT ON idempotent_commands TO campus_payments_service;

CREATE TABLE inbox (
    event_id uuid NOT NULL,
    consumer text NOT NULL,
    handled_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT inbox_pkey PRIMARY KEY (event_id, consumer)
);
CREATE INDEX inbox_handled ON inbox USING btree (handled_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON inbox TO campus_payments_service;

CREATE TABLE intent_orders (
    intent_id uuid NOT NULL,
    order_id uuid NOT NULL,
    position integer NOT NULL,
    amount_minor bigint NOT NULL,
    buyer_id uuid NOT NULL,
    CONSTRAINT intent_orders_pkey PRIMARY KEY (intent_id, order_id),
    CONSTRAINT intent_orders_intent FOREIGN KEY (intent_id) REFERENCES payment_intents(id),
    CONSTRAINT intent_orders_order FOREIGN KEY (order_id) REFERENCES purchase_orders(order_id),
    CONSTRAINT intent_orders_amount_above_zero CHECK ((amount_minor > 0))
);
CREATE INDEX intent_orders_of_order ON intent_orders USING btree (order_id);
ALTER TABLE intent_orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON intent_orders TO campus_payments_api;
GRANT SELECT, INSERT ON intent_orders TO campus_payments_service;
CREATE POLICY intent_orders_visible ON intent_orders FOR SELECT
    USING (((buyer_id = app_user_id()) OR app_may('ledger:read'::text) OR app_may('payments:read'::text)));
CREATE POLICY intent_orders_written ON intent_orders FOR INSERT
    WITH CHECK ((buyer_id = app_user_id()));

CREATE TABLE ledger_accounts (
    account text NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    currency character(3) NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_accounts_pkey PRIMARY KEY (account)
);
CREATE INDEX ledger_accounts_by_prefix ON ledger_accounts USING btree (account text_pattern_ops);
CREATE INDEX ledger_accounts_in_order ON ledger_accounts USING btree ("position");
ALTER TABLE ledger_accounts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_accounts TO campus_payments_api;
GRANT SELECT, INSERT ON ledger_accounts TO campus_payments_service;
CREATE POLICY ledger_accounts_visible ON ledger_accounts FOR SELECT
    USING (( SELECT (app_may('ledger:read'::text) OR app_may('ledger:export'::text))));

CREATE TABLE ledger_balances (
    account text NOT NULL,
    currency character(3) NOT NULL,
    side text NOT NULL,
    balance_minor bigint NOT NULL,
    CONSTRAINT ledger_balances_pkey PRIMARY KEY (account),
    CONSTRAINT ledger_balances_side_known CHECK ((side = ANY (ARRAY['debit'::text, 'credit'::text])))
);
CREATE INDEX ledger_balances_of_vendors ON ledger_balances USING btree (account) WHERE (account ~~ 'vendor\_payable:%'::text);
ALTER TABLE ledger_balances ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_balances TO campus_payments_api;
GRANT SELECT ON ledger_balances TO campus_payments_service;
CREATE POLICY ledger_balances_of_vendors_signed ON ledger_balances FOR SELECT
    USING ((app_may('escrow:release'::text) AND (account ~~ 'vendor\_payable:%'::text)));
CREATE POLICY ledger_balances_visible ON ledger_balances FOR SELECT
    USING (( SELECT (app_may('ledger:read'::text) OR app_may('ledger:export'::text))));
CREATE TRIGGER ledger_balances_never_negative AFTER INSERT OR UPDATE ON ledger_balances FOR EACH ROW WHEN ((new.balance_minor < 0)) EXECUTE FUNCTION ledger_refuse_overdraft();

CREATE TABLE ledger_chain (
    the_only boolean DEFAULT true NOT NULL,
    length bigint DEFAULT 0 NOT NULL,
    head bytea DEFAULT sha256('\x'::bytea) NOT NULL,
    verify_at timestamp with time zone,
    CONSTRAINT ledger_chain_pkey PRIMARY KEY (the_only),
    CONSTRAINT ledger_chain_is_one CHECK (the_only)
);
GRANT SELECT, UPDATE ON ledger_chain TO campus_payments_service;

CREATE TABLE ledger_entries (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    transaction_id uuid NOT NULL,
    account text NOT NULL,
    amount_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    CONSTRAINT ledger_entries_pkey PRIMARY KEY ("position"),
    CONSTRAINT ledger_entries_transaction FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id),
    CONSTRAINT ledger_entries_say_something CHECK ((amount_minor <> 0))
);
CREATE INDEX ledger_entries_of_account ON ledger_entries USING btree (account) INCLUDE (amount_minor);
CREATE INDEX ledger_entries_of_transaction ON ledger_entries USING btree (transaction_id);
ALTER TABLE ledger_entries ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_entries TO campus_payments_api;
GRANT SELECT ON ledger_entries TO campus_payments_service;
CREATE POLICY ledger_entries_visible ON ledger_entries FOR SELECT
    USING ((( SELECT (app_may('ledger:read'::text) OR app_may('ledger:export'::text))) OR (account = ( SELECT ('buyer_reward:'::text || (app_user_id())::text)))));
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_unbalanced();

CREATE TABLE ledger_links (
    sequence bigint NOT NULL,
    transaction_id uuid NOT NULL,
    link bytea NOT NULL,
    sealed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ledger_links_pkey PRIMARY KEY (sequence),
    CONSTRAINT ledger_links_transaction_once UNIQUE (transaction_id)
);
ALTER TABLE ledger_links ENABLE ROW LEVEL SECURITY;
GRANT SELECT (sequence, transaction_id) ON ledger_links TO campus_payments_api;
GRANT SELECT, INSERT ON ledger_links TO campus_payments_service;
CREATE POLICY ledger_links_visible ON ledger_links FOR SELECT
    USING (( SELECT app_may('ledger:read'::text) AS app_may));
CREATE TRIGGER ledger_links_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_links FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TABLE ledger_totals (
    day date NOT NULL,
    kind text NOT NULL,
    currency character(3) NOT NULL,
    accounts bigint NOT NULL,
    debit_minor bigint NOT NULL,
    credit_minor bigint NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT ledger_totals_pkey PRIMARY KEY (day, kind, currency),
    CONSTRAINT ledger_totals_not_below_zero CHECK (((accounts >= 0) AND (debit_minor >= 0) AND (credit_minor >= 0)))
);
ALTER TABLE ledger_totals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_totals TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON ledger_totals TO campus_payments_service;
CREATE POLICY ledger_totals_visible ON ledger_totals FOR SELECT
    USING (( SELECT app_may('ledger:read'::text) AS app_may));

CREATE TABLE ledger_transactions (
    id uuid NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    type text NOT NULL,
    posting_key text NOT NULL,
    currency character(3) NOT NULL,
    content_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ledger_transactions_pkey PRIMARY KEY (id),
    CONSTRAINT ledger_transactions_posting_key_once UNIQUE (posting_key)
);
CREATE INDEX ledger_transactions_newest ON ledger_transactions USING btree (created_at DESC, id DESC);
CREATE INDEX ledger_transactions_of_type ON ledger_transactions USING btree (type, created_at, "position");
ALTER TABLE ledger_transactions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_transactions TO campus_payments_api;
GRANT SELECT ON ledger_transactions TO campus_payments_service;
CREATE POLICY ledger_transactions_visible ON ledger_transactions FOR SELECT
    USING (( SELECT (app_may('ledger:read'::text) OR app_may('ledger:export'::text))));
CREATE TRIGGER ledger_transactions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_transactions FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TABLE ledger_unsealed (
    position bigint NOT NULL,
    transaction_id uuid NOT NULL,
    posted_at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_unsealed_pkey PRIMARY KEY ("position")
);
ALTER TABLE ledger_unsealed ENABLE ROW LEVEL SECURITY;
GRANT SELECT (transaction_id) ON ledger_unsealed TO campus_payments_api;
GRANT SELECT, DELETE ON ledger_unsealed TO campus_payments_service;
CREATE POLICY ledger_unsealed_visible ON ledger_unsealed FOR SELECT
    USING (( SELECT app_may('ledger:read'::text) AS app_may));

CREATE TABLE outbox (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id uuid NOT NULL,
    queue text,
    type text NOT NULL,
    source text NOT NULL,
    subject text NOT NULL,
    sequence bigint NOT NULL,
    payload bytea NOT NULL,
    trace jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    CONSTRAINT outbox_pkey PRIMARY KEY ("position")
);
CREATE INDEX outbox_published ON outbox USING btree (published_at) WHERE (published_at IS NOT NULL);
CREATE INDEX outbox_waiting ON outbox USING btree ("position") WHERE (published_at IS NULL);
GRANT INSERT ON outbox TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO campus_payments_service;

CREATE TABLE outbox_sequences (
    subject text NOT NULL,
    last bigint NOT NULL,
    used_at timestamp with time zone DEFAULT date_trunc('day'::text, now()) NOT NULL,
    CONSTRAINT outbox_sequences_pkey PRIMARY KEY (subject)
);
CREATE INDEX outbox_sequences_idle ON outbox_sequences USING btree (used_at);
GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_sequences TO campus_payments_service;

CREATE TABLE payable_orders (
    id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    total_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    status text NOT NULL,
    payment_due_at timestamp with time zone NOT NULL,
    heard_at timestamp with time zone NOT NULL,
    number text,
    purchase_id uuid,
    CONSTRAINT payable_orders_pkey PRIMARY KEY (id),
    CONSTRAINT payable_orders_parts_within_total CHECK (((commission_minor >= 0) AND (delivery_fee_minor >= 0) AND ((commission_minor + delivery_fee_minor) <= total_minor))),
    CONSTRAINT payable_orders_status_known CHECK ((status = ANY (ARRAY['Processing'::text, 'cancelled'::text, 'expired'::text, 'paid_escrow'::text]))),
    CONSTRAINT payable_orders_total_above_zero CHECK ((total_minor > 0))
);
CREATE INDEX payable_orders_of_buyer ON payable_orders USING btree (buyer_id);
CREATE INDEX payable_orders_of_vendor ON payable_orders USING btree (vendor_id);
ALTER TABLE payable_orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payable_orders TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON payable_orders TO campus_payments_service;
CREATE POLICY payable_orders_visible ON payable_orders FOR SELECT
    USING (((buyer_id = app_user_id()) OR app_may('escrow:release'::text)));

CREATE TABLE payment_intent_keys (
    caller_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    intent_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT payment_intent_keys_pkey PRIMARY KEY (caller_id, idempotency_key),
    CONSTRAINT payment_intent_keys_intent FOREIGN KEY (intent_id) REFERENCES payment_intents(id)
);
ALTER TABLE payment_intent_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payment_intent_keys TO campus_payments_api;
GRANT SELECT, INSERT ON payment_intent_keys TO campus_payments_service;
CREATE POLICY payment_intent_keys_bound ON payment_intent_keys FOR INSERT
    WITH CHECK ((caller_id = app_user_id()));
CREATE POLICY payment_intent_keys_own ON payment_intent_keys FOR SELECT
    USING ((caller_id = app_user_id()));

CREATE TABLE payment_intents (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    reference text NOT NULL,
    amount_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    status text NOT NULL,
    channel text,
    callback_url text,
    authorization_url text,
    access_code text,
    opening_until timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    paid_at timestamp with time zone,
    failure_reason text,
    failed_at timestamp with time zone,
    query_at timestamp with time zone,
    queries integer DEFAULT 0 NOT NULL,
    gateway text DEFAULT 'paystack'::text NOT NULL,
    purchase_id uuid,
    transfer_bank_name text,
    transfer_account_number text,
    transfer_account_name text,
    transfer_amount_minor bigint,
    transfer_expires_at timestamp with time zone,
    received_minor bigint,
    balance_minor bigint DEFAULT 0 NOT NULL,
    CONSTRAINT payment_intents_pkey PRIMARY KEY (id),
    CONSTRAINT payment_intents_reference_once UNIQUE (reference),
    CONSTRAINT payment_intents_order FOREIGN KEY (order_id) REFERENCES payable_orders(id),
    CONSTRAINT payment_intents_account_whole CHECK ((num_nonnulls(transfer_bank_name, transfer_account_number, transfer_amount_minor, transfer_expires_at) = ANY (ARRAY[0, 4]))),
    CONSTRAINT payment_intents_failure_has_words CHECK (((status <> 'failed'::text) OR (failure_reason IS NOT NULL))),
    CONSTRAINT payment_intents_open_has_address CHECK (((status <> 'pending'::text) OR (authorization_url IS NOT NULL))),
    CONSTRAINT payment_intents_received_above_zero CHECK ((received_minor > 0)),
    CONSTRAINT payment_intents_status_known CHECK ((status = ANY (ARRAY['opening'::text, 'pending'::text, 'paid'::text, 'quarantined'::text, 'overpaid'::text, 'closed'::text, 'failed'::text]))),
    CONSTRAINT payment_intents_transfer_above_zero CHECK ((transfer_amount_minor > 0))
);
CREATE INDEX payment_intents_newest ON payment_intents USING btree (created_at, id);
CREATE INDEX payment_intents_of_buyer ON payment_intents USING btree (buyer_id, created_at);
CREATE INDEX payment_intents_of_order ON payment_intents USING btree (order_id);
CREATE INDEX payment_intents_of_purchase ON payment_intents USING btree (purchase_id) WHERE (purchase_id IS NOT NULL);
CREATE UNIQUE INDEX payment_intents_one_live ON payment_intents USING btree (order_id) WHERE (status = ANY (ARRAY['opening'::text, 'pending'::text]));
CREATE INDEX payment_intents_queried ON payment_intents USING btree (query_at) WHERE ((query_at IS NOT NULL) AND (status = ANY (ARRAY['pending'::text, 'failed'::text])));
ALTER TABLE payment_intents ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (reference, status, authorization_url, access_code, opening_until, query_at, gateway, transfer_bank_name, transfer_account_number, transfer_account_name, transfer_amount_minor, transfer_expires_at) ON payment_intents TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (reference, status, channel, callback_url, authorization_url, access_code, opening_until, paid_at, failure_reason, failed_at, query_at, queries, gateway, transfer_bank_name, transfer_account_number, transfer_account_name, transfer_amount_minor, transfer_expires_at, received_minor) ON payment_intents TO campus_payments_service;
CREATE POLICY payment_intents_opened ON payment_intents FOR UPDATE
    USING ((buyer_id = app_user_id()));
CREATE POLICY payment_intents_started ON payment_intents FOR INSERT
    WITH CHECK ((buyer_id = app_user_id()));
CREATE POLICY payment_intents_visible ON payment_intents FOR SELECT
    USING (((buyer_id = app_user_id()) OR app_may('ledger:read'::text) OR app_may('payments:read'::text)));

CREATE TABLE payment_references (
    reference text NOT NULL,
    intent_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    settlement text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    gateway text DEFAULT 'paystack'::text NOT NULL,
    CONSTRAINT payment_references_pkey PRIMARY KEY (reference),
    CONSTRAINT payment_references_intent FOREIGN KEY (intent_id) REFERENCES payment_intents(id)
);
CREATE INDEX payment_references_of_intent ON payment_references USING btree (intent_id);
ALTER TABLE payment_references ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payment_references TO campus_payments_api;
GRANT SELECT, INSERT ON payment_references TO campus_payments_service;
CREATE POLICY payment_references_own ON payment_references FOR SELECT
    USING ((buyer_id = app_user_id()));
CREATE POLICY payment_references_written ON payment_references FOR INSERT
    WITH CHECK ((buyer_id = app_user_id()));

CREATE TABLE processed_webhook_events (
    id text NOT NULL,
    provider text NOT NULL,
    event_type text NOT NULL,
    payload jsonb NOT NULL,
    raw bytea NOT NULL,
    outcome text NOT NULL,
    processed_at timestamp with time zone DEFAULT now() NOT NULL,
    gateway text DEFAULT 'paystack'::text NOT NULL,
    CONSTRAINT processed_webhook_events_pkey PRIMARY KEY (id),
    CONSTRAINT processed_webhook_events_outcome_known CHECK ((outcome = ANY (ARRAY['queued'::text, 'done'::text, 'ignored'::text, 'dead'::text])))
);
CREATE INDEX processed_webhook_events_oldest ON processed_webhook_events USING btree (processed_at);
ALTER TABLE processed_webhook_events ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, event_type, outcome), UPDATE (outcome) ON processed_webhook_events TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (outcome) ON processed_webhook_events TO campus_payments_service;
CREATE POLICY processed_webhook_events_replayed ON processed_webhook_events FOR UPDATE
    USING (app_may('webhooks:replay'::text));
CREATE POLICY processed_webhook_events_visible ON processed_webhook_events FOR SELECT
    USING ((app_may('dead_letters:read'::text) OR app_may('webhooks:replay'::text)));

CREATE TABLE purchase_orders (
    purchase_id uuid NOT NULL,
    position integer NOT NULL,
    order_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    CONSTRAINT purchase_orders_pkey PRIMARY KEY (purchase_id, "position"),
    CONSTRAINT purchase_orders_order_once UNIQUE (order_id),
    CONSTRAINT purchase_orders_purchase FOREIGN KEY (purchase_id) REFERENCES purchases(id),
    CONSTRAINT purchase_orders_position_from_zero CHECK (("position" >= 0))
);
ALTER TABLE purchase_orders ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON purchase_orders TO campus_payments_api;
GRANT SELECT, INSERT ON purchase_orders TO campus_payments_service;
CREATE POLICY purchase_orders_visible ON purchase_orders FOR SELECT
    USING (((buyer_id = app_user_id()) OR app_may('ledger:read'::text) OR app_may('payments:read'::text)));

CREATE TABLE purchases (
    id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    number text NOT NULL,
    heard_at timestamp with time zone NOT NULL,
    CONSTRAINT purchases_pkey PRIMARY KEY (id)
);
CREATE INDEX purchases_of_buyer ON purchases USING btree (buyer_id);
ALTER TABLE purchases ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON purchases TO campus_payments_api;
GRANT SELECT, INSERT ON purchases TO campus_payments_service;
CREATE POLICY purchases_visible ON purchases FOR SELECT
    USING (((buyer_id = app_user_id()) OR app_may('ledger:read'::text) OR app_may('payments:read'::text)));

CREATE TABLE quarantine_decisions (
    id uuid NOT NULL,
    quarantined_charge_id uuid NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    CONSTRAINT quarantine_decisions_pkey PRIMARY KEY (id),
    CONSTRAINT quarantine_decisions_charge FOREIGN KEY (quarantined_charge_id) REFERENCES quarantined_charges(id),
    CONSTRAINT quarantine_decisions_by_two CHECK ((decided_by <> prepared_by)),
    CONSTRAINT quarantine_decisions_decided_by_somebody CHECK ((((status = 'prepared'::text) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT quarantine_decisions_outcome_known CHECK ((outcome = ANY (ARRAY['accept'::text, 'return'::text]))),
    CONSTRAINT quarantine_decisions_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX quarantine_decisions_of_charge ON quarantine_decisions USING btree (quarantined_charge_id, prepared_at);
CREATE UNIQUE INDEX quarantine_decisions_one_stands ON quarantine_decisions USING btree (quarantined_charge_id) WHERE (status <> 'rejected'::text);
ALTER TABLE quarantine_decisions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON quarantine_decisions TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (reason, status, decided_by, decided_at, rejection) ON quarantine_decisions TO campus_payments_service;
CREATE POLICY quarantine_decisions_visible ON quarantine_decisions FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('quarantine:prepare'::text) OR app_may('quarantine:approve'::text) OR app_may('quarantine:read'::text)));

CREATE TABLE quarantined_accounts (
    vendor_id uuid NOT NULL,
    bank_code text NOT NULL,
    account_last4 text NOT NULL,
    CONSTRAINT quarantined_accounts_pkey PRIMARY KEY (vendor_id, bank_code, account_last4)
);
CREATE INDEX quarantined_accounts_of_number ON quarantined_accounts USING btree (bank_code, account_last4);
ALTER TABLE quarantined_accounts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON quarantined_accounts TO campus_payments_service;

CREATE TABLE quarantined_charges (
    id uuid NOT NULL,
    charge_id uuid NOT NULL,
    reference text NOT NULL,
    order_id uuid,
    amount_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    refund_id uuid,
    CONSTRAINT quarantined_charges_pkey PRIMARY KEY (id),
    CONSTRAINT quarantined_charges_charge_once UNIQUE (charge_id),
    CONSTRAINT quarantined_charges_charge FOREIGN KEY (charge_id) REFERENCES charges(id),
    CONSTRAINT quarantined_charges_status_known CHECK ((status = ANY (ARRAY['quarantined'::text, 'prepared'::text, 'accepted'::text, 'returned'::text])))
);
CREATE INDEX quarantined_charges_newest ON quarantined_charges USING btree (created_at, id);
CREATE INDEX quarantined_charges_undecided ON quarantined_charges USING btree (created_at, id) WHERE (status = 'quarantined'::text);
ALTER TABLE quarantined_charges ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON quarantined_charges TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (order_id, status, refund_id) ON quarantined_charges TO campus_payments_service;
CREATE POLICY quarantined_charges_visible ON quarantined_charges FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('quarantine:prepare'::text) OR app_may('quarantine:approve'::text) OR app_may('quarantine:read'::text)));

CREATE TABLE reconciliation_cases (
    id uuid NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    reference text,
    order_id uuid,
    ours_minor bigint NOT NULL,
    theirs_minor bigint NOT NULL,
    unexplained_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    detail text NOT NULL,
    status text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    alerted_at timestamp with time zone,
    closed_at timestamp with time zone,
    closed_by uuid,
    evidence text,
    gateway text DEFAULT 'paystack'::text NOT NULL,
    CONSTRAINT reconciliation_cases_pkey PRIMARY KEY (id),
    CONSTRAINT reconciliation_cases_closed_with_evidence CHECK (((status = 'closed'::text) = ((closed_by IS NOT NULL) AND (evidence IS NOT NULL)))),
    CONSTRAINT reconciliation_cases_ends_once CHECK (((status = 'open'::text) = (closed_at IS NULL))),
    CONSTRAINT reconciliation_cases_kind_known CHECK ((kind = ANY (ARRAY['charge_not_in_book'::text, 'charge_not_at_gateway'::text, 'charge_differs'::text, 'charge_without_escrow'::text, 'fee_differs'::text, 'refund_not_in_book'::text, 'refund_not_at_gateway'::text, 'refund_differs'::text, 'order_held_without_charge'::text, 'settlement_not_in_book'::text, 'settlement_not_at_gateway'::text, 'settlement_differs'::text, 'unreadable_at_gateway'::text]))),
    CONSTRAINT reconciliation_cases_status_known CHECK ((status = ANY (ARRAY['open'::text, 'explained'::text, 'closed'::text])))
);
CREATE INDEX reconciliation_cases_newest ON reconciliation_cases USING btree (opened_at, id);
CREATE INDEX reconciliation_cases_of_subject ON reconciliation_cases USING btree (subject, kind, opened_at);
CREATE UNIQUE INDEX reconciliation_cases_one_open ON reconciliation_cases USING btree (subject, kind) WHERE (status = 'open'::text);
ALTER TABLE reconciliation_cases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (status, closed_at, closed_by, evidence) ON reconciliation_cases TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (ours_minor, theirs_minor, unexplained_minor, currency, detail, status, seen_at, alerted_at, closed_at, closed_by, evidence) ON reconciliation_cases TO campus_payments_service;
CREATE POLICY reconciliation_cases_closed ON reconciliation_cases FOR UPDATE
    USING (app_may('exceptions:classify'::text));
CREATE POLICY reconciliation_cases_visible ON reconciliation_cases FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('exceptions:read'::text)));

CREATE TABLE reconciliation_runs (
    the_only boolean DEFAULT true NOT NULL,
    due_at timestamp with time zone,
    CONSTRAINT reconciliation_runs_pkey PRIMARY KEY (the_only),
    CONSTRAINT reconciliation_runs_is_one CHECK (the_only)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON reconciliation_runs TO campus_payments_service;

CREATE TABLE refund_decisions (
    id uuid NOT NULL,
    refund_id uuid NOT NULL,
    action text NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    recipient_code text,
    account_last4 text,
    bank_code text,
    account_name text,
    name_at_bank text,
    CONSTRAINT refund_decisions_pkey PRIMARY KEY (id),
    CONSTRAINT refund_decisions_refund FOREIGN KEY (refund_id) REFERENCES refunds(id),
    CONSTRAINT refund_decisions_action_known CHECK ((action = ANY (ARRAY['retry'::text, 'other_destination'::text, 'correct'::text]))),
    CONSTRAINT refund_decisions_by_two CHECK ((decided_by <> prepared_by)),
    CONSTRAINT refund_decisions_decided_by_somebody CHECK ((((status = ANY (ARRAY['prepared'::text, 'overtaken'::text])) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT refund_decisions_destination_when_other CHECK (((action = 'other_destination'::text) = (num_nulls(recipient_code, account_last4, bank_code, account_name) = 0))),
    CONSTRAINT refund_decisions_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text, 'overtaken'::text])))
);
CREATE INDEX refund_decisions_of_refund ON refund_decisions USING btree (refund_id, prepared_at);
CREATE UNIQUE INDEX refund_decisions_one_waits ON refund_decisions USING btree (refund_id) WHERE (status = 'prepared'::text);
ALTER TABLE refund_decisions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON refund_decisions TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (reason, status, decided_by, decided_at, rejection, recipient_code, account_last4, bank_code, account_name, name_at_bank) ON refund_decisions TO campus_payments_service;
CREATE POLICY refund_decisions_visible ON refund_decisions FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('refunds:prepare'::text) OR app_may('refunds:approve'::text)));

CREATE TABLE refunds (
    id uuid NOT NULL,
    kind text NOT NULL,
    charge_id uuid,
    order_id uuid,
    buyer_id uuid,
    amount_minor bigint NOT NULL,
    currency character(3) NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    gateway_refund_id text,
    failure text,
    submitted_at timestamp with time zone,
    questions integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    settled_at timestamp with time zone,
    attempt_id uuid NOT NULL,
    recipient_code text,
    needs_account_at timestamp with time zone,
    retry_recipient_code text,
    transfer_fee_minor bigint,
    poll_count integer DEFAULT 0 NOT NULL,
    balance_minor bigint DEFAULT 0 NOT NULL,
    CONSTRAINT refunds_pkey PRIMARY KEY (id),
    CONSTRAINT refunds_attempt_once UNIQUE (attempt_id),
    CONSTRAINT refunds_charge FOREIGN KEY (charge_id) REFERENCES charges(id),
    CONSTRAINT refunds_kind_known CHECK ((kind = ANY (ARRAY['order'::text, 'overpayment'::text, 'quarantine'::text, 'outside'::text]))),
    CONSTRAINT refunds_parts_above_zero CHECK (((LEAST(amount_minor, balance_minor) >= 0) AND ((amount_minor + balance_minor) > 0))),
    CONSTRAINT refunds_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'submitting'::text, 'submitted'::text, 'settled'::text, 'failed'::text, 'prepared'::text])))
);
CREATE INDEX refunds_due ON refunds USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX refunds_failed ON refunds USING btree (created_at, id) WHERE (status = 'failed'::text);
CREATE INDEX refunds_newest ON refunds USING btree (created_at, id);
CREATE INDEX refunds_of_buyer ON refunds USING btree (buyer_id, created_at);
CREATE INDEX refunds_of_charge ON refunds USING btree (charge_id);
CREATE INDEX refunds_of_gateway ON refunds USING btree (gateway_refund_id);
CREATE INDEX refunds_of_order ON refunds USING btree (order_id);
CREATE INDEX refunds_settled ON refunds USING btree (settled_at, id) WHERE (status = 'settled'::text);
ALTER TABLE refunds ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, kind, charge_id, order_id, buyer_id, amount_minor, currency, status, reason, failure, created_at, settled_at, attempt_id, needs_account_at, balance_minor) ON refunds TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (amount_minor, status, reason, gateway_refund_id, failure, submitted_at, questions, due_at, settled_at, attempt_id, recipient_code, needs_account_at, retry_recipient_code, transfer_fee_minor, poll_count, balance_minor) ON refunds TO campus_payments_service;
CREATE POLICY refunds_visible ON refunds FOR SELECT
    USING (((buyer_id = app_user_id()) OR app_may('ledger:read'::text) OR app_may('refunds:prepare'::text) OR app_may('refunds:approve'::text) OR app_may('refunds:read'::text)));
CREATE TRIGGER refunds_copy_renamed_count BEFORE UPDATE OF poll_count, questions ON refunds FOR EACH ROW EXECUTE FUNCTION copy_renamed_count();

CREATE TABLE releases (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    gross_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    cause text NOT NULL,
    released_by uuid,
    released_at timestamp with time zone NOT NULL,
    CONSTRAINT releases_pkey PRIMARY KEY (id),
    CONSTRAINT releases_order FOREIGN KEY (order_id) REFERENCES escrows(order_id),
    CONSTRAINT releases_cause_known CHECK ((cause = ANY (ARRAY['delivery'::text, 'staff'::text, 'resolution'::text]))),
    CONSTRAINT releases_parts_make_gross CHECK ((((commission_minor + delivery_fee_minor) + net_minor) = gross_minor))
);
CREATE INDEX releases_of_order ON releases USING btree (order_id);
ALTER TABLE releases ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON releases TO campus_payments_api;
GRANT SELECT, INSERT ON releases TO campus_payments_service;
CREATE POLICY releases_made ON releases FOR INSERT
    WITH CHECK (app_may('escrow:release'::text));
CREATE POLICY releases_visible ON releases FOR SELECT
    USING (app_may('escrow:release'::text));

CREATE TABLE revised_webhooks (
    webhook_id text NOT NULL,
    revisions bigint NOT NULL,
    kept integer NOT NULL,
    revised_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    queried_at timestamp with time zone,
    queries integer DEFAULT 0 NOT NULL,
    answered_at timestamp with time zone,
    CONSTRAINT revised_webhooks_pkey PRIMARY KEY (webhook_id),
    CONSTRAINT revised_webhooks_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events(id),
    CONSTRAINT revised_webhooks_kept_is_bounded CHECK (((kept >= 0) AND (kept <= LEAST(revisions, (10)::bigint))))
);
CREATE INDEX revised_webhooks_due ON revised_webhooks USING btree (due_at) WHERE (due_at IS NOT NULL);
GRANT SELECT, INSERT, UPDATE, DELETE ON revised_webhooks TO campus_payments_service;

CREATE TABLE session_revocations (
    user_id uuid NOT NULL,
    session_id uuid,
    not_before timestamp with time zone NOT NULL,
    heard_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX session_revocations_heard ON session_revocations USING btree (heard_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON session_revocations TO campus_payments_service;

CREATE TABLE standing_alerts (
    dedup_key text NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    CONSTRAINT standing_alerts_pkey PRIMARY KEY (dedup_key)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON standing_alerts TO campus_payments_service;

CREATE TABLE vendor_statements (
    vendor_id uuid NOT NULL,
    sequence bigint NOT NULL,
    key_id text NOT NULL,
    CONSTRAINT vendor_statements_pkey PRIMARY KEY (vendor_id),
    CONSTRAINT vendor_statements_counts_from_one CHECK ((sequence >= 1))
);
ALTER TABLE vendor_statements ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON vendor_statements TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON vendor_statements TO campus_payments_service;
CREATE POLICY vendor_statements_insert ON vendor_statements FOR INSERT
    WITH CHECK (app_may('escrow:release'::text));
CREATE POLICY vendor_statements_select ON vendor_statements FOR SELECT
    USING (app_may('escrow:release'::text));
CREATE POLICY vendor_statements_update ON vendor_statements FOR UPDATE
    USING (app_may('escrow:release'::text));

CREATE TABLE webhook_revisions (
    webhook_id text NOT NULL,
    content_hash bytea NOT NULL,
    raw bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_revisions_pkey PRIMARY KEY (webhook_id, content_hash),
    CONSTRAINT webhook_revisions_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events(id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_revisions TO campus_payments_service;

CREATE TABLE withdrawal_decisions (
    id uuid NOT NULL,
    withdrawal_id uuid NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    status text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    CONSTRAINT withdrawal_decisions_pkey PRIMARY KEY (id),
    CONSTRAINT withdrawal_decisions_withdrawal FOREIGN KEY (withdrawal_id) REFERENCES withdrawals(id),
    CONSTRAINT withdrawal_decisions_by_two CHECK ((decided_by <> prepared_by)),
    CONSTRAINT withdrawal_decisions_decided_once CHECK ((((status = 'prepared'::text) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT withdrawal_decisions_outcome_known CHECK ((outcome = ANY (ARRAY['pay'::text, 'return'::text]))),
    CONSTRAINT withdrawal_decisions_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX withdrawal_decisions_of_withdrawal ON withdrawal_decisions USING btree (withdrawal_id, prepared_at);
CREATE UNIQUE INDEX withdrawal_decisions_one_stands ON withdrawal_decisions USING btree (withdrawal_id) WHERE (status <> 'rejected'::text);
ALTER TABLE withdrawal_decisions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON withdrawal_decisions TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (reason, status, decided_by, decided_at, rejection) ON withdrawal_decisions TO campus_payments_service;
CREATE POLICY withdrawal_decisions_visible ON withdrawal_decisions FOR SELECT
    USING ((app_may('ledger:read'::text) OR app_may('refunds:prepare'::text) OR app_may('refunds:approve'::text)));

CREATE TABLE withdrawals (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    rewards_minor bigint DEFAULT 0 NOT NULL,
    loss_minor bigint DEFAULT 0 NOT NULL,
    round integer DEFAULT 1 NOT NULL,
    status text NOT NULL,
    gateway text NOT NULL,
    recipient_code text NOT NULL,
    account_last4 text NOT NULL,
    bank_code text NOT NULL,
    account_name text NOT NULL,
    failure text,
    created_at timestamp with time zone NOT NULL,
    submitted_at timestamp with time zone,
    paid_at timestamp with time zone,
    ended_at timestamp with time zone,
    due_at timestamp with time zone,
    poll_count integer DEFAULT 0 NOT NULL,
    transfer_fee_minor bigint,
    CONSTRAINT withdrawals_pkey PRIMARY KEY (id),
    CONSTRAINT withdrawals_balance FOREIGN KEY (user_id) REFERENCES buyer_balances(user_id),
    CONSTRAINT withdrawals_parts_within_amount CHECK (((amount_minor > 0) AND (LEAST(rewards_minor, loss_minor) >= 0) AND ((rewards_minor + loss_minor) <= amount_minor))),
    CONSTRAINT withdrawals_status_known CHECK ((status = ANY (ARRAY['waiting'::text, 'prepared'::text, 'pending'::text, 'submitting'::text, 'submitted'::text, 'paid'::text, 'failed'::text, 'rejected'::text])))
);
CREATE INDEX withdrawals_due ON withdrawals USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX withdrawals_newest ON withdrawals USING btree (created_at, id);
CREATE INDEX withdrawals_of_user ON withdrawals USING btree (user_id, created_at, id);
CREATE INDEX withdrawals_undecided ON withdrawals USING btree (created_at, id) WHERE (status = ANY (ARRAY['waiting'::text, 'prepared'::text]));
ALTER TABLE withdrawals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON withdrawals TO campus_payments_api;
GRANT SELECT, INSERT, UPDATE (rewards_minor, loss_minor, round, status, recipient_code, account_last4, bank_code, account_name, failure, submitted_at, paid_at, ended_at, due_at, poll_count, transfer_fee_minor) ON withdrawals TO campus_payments_service;
CREATE POLICY withdrawals_visible ON withdrawals FOR SELECT
    USING (((user_id = app_user_id()) OR app_may('ledger:read'::text) OR app_may('refunds:prepare'::text) OR app_may('refunds:approve'::text)));

CREATE VIEW transactions WITH (security_invoker=true) AS
 SELECT t.id,
    t.type,
    t.posting_key,
    t.currency,
    t.created_at,
    ( SELECT jsonb_agg(jsonb_build_object('account', e.account, 'amountMinor', e.amount_minor) ORDER BY e."position") AS jsonb_agg
           FROM ledger_entries e
          WHERE e.transaction_id = t.id) AS entries
   FROM ledger_transactions t;
GRANT SELECT ON transactions TO campus_payments_api;
GRANT SELECT ON transactions TO campus_payments_service;
