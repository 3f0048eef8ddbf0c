-- Generated from the migrated database by `make schemas`. Do not edit: tables/ and migrations/sql are the source.
-- Every table, view and sequence belongs to campus_payouts_owner. PostgreSQL 15 wrote the expressions.

CREATE OR REPLACE FUNCTION public.account_is_quarantined(fingerprint text)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$ SELECT EXISTS (SELECT FROM bank_detail_quarantines WHERE account_fingerprint = fingerprint AND NOT quarantine_is_released(id)) $function$;
REVOKE EXECUTE ON FUNCTION account_is_quarantined FROM public;
GRANT EXECUTE ON FUNCTION account_is_quarantined TO campus_payouts_api;
GRANT EXECUTE ON FUNCTION account_is_quarantined TO campus_payouts_service;

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
    IF NEW.asks <> OLD.asks THEN
        NEW.poll_count := NEW.asks;
    ELSE
        NEW.asks := NEW.poll_count;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.copy_renamed_source()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    NEW.heard_from := coalesce(NEW.heard_from, NEW.update_source);
    NEW.update_source := NEW.heard_from;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.exception_acts_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'what was done about an exception is never edited' USING ERRCODE = 'restrict_violation';
END $function$;

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
GRANT EXECUTE ON FUNCTION ledger_post TO campus_payouts_api;
GRANT EXECUTE ON FUNCTION ledger_post TO campus_payouts_service;

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

CREATE OR REPLACE FUNCTION public.new_payout_number()
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE drawn bytea; symbols text;
BEGIN
    LOOP
        drawn := uuid_send(gen_random_uuid());
        -- Bytes 6 and 8 of a random UUID hold its version and its variant.
        SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(drawn, place) % 32 + 1, 1), '')
        INTO symbols FROM unnest(ARRAY[0, 1, 2, 3, 4, 5, 9, 10]) AS place;
        symbols := 'PO-' || substr(symbols, 1, 4) || '-' || substr(symbols, 5);
        EXIT WHEN NOT EXISTS (SELECT FROM payout_requests WHERE number = symbols);
    END LOOP;
    RETURN symbols;
END $function$;
REVOKE EXECUTE ON FUNCTION new_payout_number FROM public;
GRANT EXECUTE ON FUNCTION new_payout_number TO campus_payouts_api;
GRANT EXECUTE ON FUNCTION new_payout_number TO campus_payouts_service;

CREATE OR REPLACE FUNCTION public.observations_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'what the gateway said is never edited' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.payout_acts_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'who did what to a payout is never edited' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.quarantine_is_released(quarantine_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$ SELECT EXISTS (SELECT FROM bank_detail_releases WHERE status = 'approved' AND quarantine_ids @> ARRAY[quarantine_id]) $function$;
REVOKE EXECUTE ON FUNCTION quarantine_is_released FROM public;
GRANT EXECUTE ON FUNCTION quarantine_is_released TO campus_payouts_api;
GRANT EXECUTE ON FUNCTION quarantine_is_released TO campus_payouts_service;

CREATE OR REPLACE FUNCTION public.quarantines_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'who quarantined what is never edited' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.transfer_returned_at(returned_transfer_id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT min(o.observed_at) FROM transfer_observations AS o
    WHERE o.transfer_id = returned_transfer_id AND o.status = 'reversed'
      AND NOT EXISTS (SELECT FROM transfer_observations AS q WHERE q.transfer_id = returned_transfer_id
                      AND q.position > o.position AND q.update_source = 'query'
                      AND q.status = 'success' AND q.verdict <> 'contradiction')
      AND EXISTS (SELECT FROM transfer_observations AS s WHERE s.transfer_id = returned_transfer_id
                  AND s.status = 'success' AND s.verdict IN ('advanced', 'confirmed', 'late_success'))
$function$;
REVOKE EXECUTE ON FUNCTION transfer_returned_at FROM public;
GRANT EXECUTE ON FUNCTION transfer_returned_at TO campus_payouts_api;
GRANT EXECUTE ON FUNCTION transfer_returned_at TO campus_payouts_service;

CREATE TABLE bank_detail_quarantines (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    version_id uuid NOT NULL,
    account_fingerprint text NOT NULL,
    payout_id uuid,
    reason text NOT NULL,
    quarantined_by uuid NOT NULL,
    quarantined_at timestamp with time zone NOT NULL,
    CONSTRAINT bank_detail_quarantines_pkey PRIMARY KEY (id),
    CONSTRAINT bank_detail_quarantines_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT bank_detail_quarantines_version FOREIGN KEY (version_id) REFERENCES bank_detail_versions(id)
);
CREATE INDEX bank_detail_quarantines_of_account ON bank_detail_quarantines USING btree (account_fingerprint);
CREATE INDEX bank_detail_quarantines_of_vendor ON bank_detail_quarantines USING btree (vendor_id, quarantined_at);
ALTER TABLE bank_detail_quarantines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON bank_detail_quarantines TO campus_payouts_api;
GRANT SELECT, INSERT ON bank_detail_quarantines TO campus_payouts_service;
CREATE POLICY bank_detail_quarantines_select ON bank_detail_quarantines FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = app_vendor_id()) AND app_may('bank_details:own'::text)) OR app_may('bank_details:read'::text) OR app_may('payouts:read'::text)));
CREATE TRIGGER bank_detail_quarantines_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON bank_detail_quarantines FOR EACH STATEMENT EXECUTE FUNCTION quarantines_refuse_change();

CREATE TABLE bank_detail_releases (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    account_fingerprint text NOT NULL,
    quarantine_ids uuid[] NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    hash text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    CONSTRAINT bank_detail_releases_pkey PRIMARY KEY (id),
    CONSTRAINT bank_detail_releases_decided_by_another CHECK ((decided_by <> prepared_by)),
    CONSTRAINT bank_detail_releases_decided_says_who CHECK ((((status = 'prepared'::text) = (decided_by IS NULL)) AND ((status = 'prepared'::text) = (decided_at IS NULL)))),
    CONSTRAINT bank_detail_releases_hash_shape CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT bank_detail_releases_names_quarantines CHECK ((cardinality(quarantine_ids) > 0)),
    CONSTRAINT bank_detail_releases_rejected_says_why CHECK (((status = 'rejected'::text) = (rejection IS NOT NULL))),
    CONSTRAINT bank_detail_releases_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX bank_detail_releases_newest ON bank_detail_releases USING btree (prepared_at DESC, id DESC);
CREATE INDEX bank_detail_releases_of_quarantine ON bank_detail_releases USING gin (quarantine_ids);
CREATE UNIQUE INDEX bank_detail_releases_one_live ON bank_detail_releases USING btree (account_fingerprint) WHERE (status = 'prepared'::text);
ALTER TABLE bank_detail_releases ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON bank_detail_releases TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (status, decided_by, decided_at, rejection) ON bank_detail_releases TO campus_payouts_service;
CREATE POLICY bank_detail_releases_select ON bank_detail_releases FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:read'::text));

CREATE TABLE bank_detail_versions (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    account_number text,
    last4 text NOT NULL,
    bank_code text NOT NULL,
    account_name text,
    verified boolean NOT NULL,
    reason text,
    check_digit_valid boolean,
    changed_by uuid NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    account_sealed text,
    account_fingerprint text,
    change text DEFAULT 'set'::text NOT NULL,
    CONSTRAINT bank_detail_versions_pkey PRIMARY KEY (id),
    CONSTRAINT bank_detail_versions_change_known CHECK ((change = ANY (ARRAY['set'::text, 'legal_name_changed'::text, 'quarantined'::text, 'released'::text]))),
    CONSTRAINT bank_detail_versions_last4 CHECK ((last4 = "right"(account_number, 4))),
    CONSTRAINT bank_detail_versions_number_kept_once CHECK ((num_nonnulls(account_number, account_sealed) = 1)),
    CONSTRAINT bank_detail_versions_sealed_has_fingerprint CHECK (((account_sealed IS NULL) = (account_fingerprint IS NULL))),
    CONSTRAINT bank_detail_versions_ten_digits CHECK ((account_number ~ '^[0-9]{10}$'::text))
);
CREATE INDEX bank_detail_versions_of_vendor ON bank_detail_versions USING btree (vendor_id, changed_at);
CREATE INDEX bank_detail_versions_unsealed ON bank_detail_versions USING btree (vendor_id) WHERE (account_number IS NOT NULL);
ALTER TABLE bank_detail_versions ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, vendor_id, last4, bank_code, account_name, verified, reason, check_digit_valid, changed_by, changed_at, account_fingerprint, change), INSERT (id, vendor_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, changed_by, changed_at, account_sealed, account_fingerprint, change) ON bank_detail_versions TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, account_sealed, account_fingerprint) ON bank_detail_versions TO campus_payouts_service;
CREATE POLICY bank_detail_versions_insert ON bank_detail_versions FOR INSERT TO campus_payouts_api
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('bank_details:own'::text)));
CREATE POLICY bank_detail_versions_of_resets ON bank_detail_versions FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:reset'::text) AS app_may));
CREATE POLICY bank_detail_versions_select ON bank_detail_versions FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('bank_details:own'::text) AS app_may)) OR ((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('wallet:own'::text) AS app_may)) OR ( SELECT app_may('bank_details:read'::text) AS app_may) OR ( SELECT app_may('payouts:read'::text) AS app_may)));

CREATE TABLE chargebacks (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    status text NOT NULL,
    vendor_minor bigint NOT NULL,
    held_minor bigint DEFAULT 0 NOT NULL,
    sequence bigint NOT NULL,
    uncovered_minor bigint DEFAULT 0 NOT NULL,
    CONSTRAINT chargebacks_pkey PRIMARY KEY (id),
    CONSTRAINT chargebacks_hold_nothing_when_decided CHECK (((status = 'opened'::text) OR (held_minor = 0))),
    CONSTRAINT chargebacks_never_negative CHECK ((LEAST(vendor_minor, held_minor) >= 0)),
    CONSTRAINT chargebacks_status_known CHECK ((status = ANY (ARRAY['opened'::text, 'won'::text, 'lost'::text]))),
    CONSTRAINT chargebacks_uncovered_only_while_open CHECK (((uncovered_minor >= 0) AND ((status = 'opened'::text) OR (uncovered_minor = 0))))
);
CREATE INDEX chargebacks_open_of_order ON chargebacks USING btree (order_id) WHERE (status = 'opened'::text);
CREATE INDEX chargebacks_open_of_vendor ON chargebacks USING btree (vendor_id) WHERE (status = 'opened'::text);
ALTER TABLE chargebacks ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (status, held_minor, sequence, uncovered_minor) ON chargebacks TO campus_payouts_service;

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
GRANT SELECT, INSERT ON dead_letter_actions TO campus_payouts_service;

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
GRANT SELECT, INSERT ON dead_letter_closures TO campus_payouts_service;

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
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letters TO campus_payouts_service;

CREATE TABLE dispatch_approvals (
    batch_id uuid NOT NULL,
    status text NOT NULL,
    hash text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    CONSTRAINT dispatch_approvals_pkey PRIMARY KEY (batch_id),
    CONSTRAINT dispatch_approvals_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches(id),
    CONSTRAINT dispatch_approvals_decided_by_another CHECK ((decided_by <> prepared_by)),
    CONSTRAINT dispatch_approvals_decided_says_who CHECK ((((status = 'prepared'::text) = (decided_by IS NULL)) AND ((status = 'prepared'::text) = (decided_at IS NULL)))),
    CONSTRAINT dispatch_approvals_hash_shape CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT dispatch_approvals_rejected_says_why CHECK (((status = 'rejected'::text) = (rejection IS NOT NULL))),
    CONSTRAINT dispatch_approvals_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text, 'overtaken'::text])))
);
ALTER TABLE dispatch_approvals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispatch_approvals TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (status, decided_by, decided_at, rejection) ON dispatch_approvals TO campus_payouts_service;
CREATE POLICY dispatch_approvals_select ON dispatch_approvals FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:read'::text));

CREATE TABLE dispatch_batches (
    id uuid NOT NULL,
    dispatched_by uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    dry_run boolean NOT NULL,
    gateway_balance_minor bigint NOT NULL,
    answer jsonb,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    remaining integer DEFAULT 0 NOT NULL,
    CONSTRAINT dispatch_batches_pkey PRIMARY KEY (id),
    CONSTRAINT dispatch_batches_key_once UNIQUE (dispatched_by, idempotency_key)
);
ALTER TABLE dispatch_batches ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispatch_batches TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (answer, finished_at, remaining) ON dispatch_batches TO campus_payouts_service;
CREATE POLICY dispatch_batches_select ON dispatch_batches FOR SELECT TO campus_payouts_api
    USING (((dispatched_by = app_user_id()) AND app_may('payouts:dispatch'::text)));

CREATE TABLE dispatch_lines (
    batch_id uuid NOT NULL,
    payout_id uuid NOT NULL,
    place integer NOT NULL,
    outcome text NOT NULL,
    reason text,
    amount bigint NOT NULL,
    CONSTRAINT dispatch_lines_pkey PRIMARY KEY (batch_id, payout_id),
    CONSTRAINT dispatch_lines_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches(id),
    CONSTRAINT dispatch_lines_outcome_known CHECK ((outcome = ANY (ARRAY['planned'::text, 'reserved'::text, 'skipped'::text]))),
    CONSTRAINT dispatch_lines_skipped_says_why CHECK (((outcome = 'skipped'::text) = (reason IS NOT NULL)))
);
GRANT SELECT, INSERT, UPDATE (outcome, reason) ON dispatch_lines TO campus_payouts_service;

CREATE TABLE document_counters (
    vendor_id uuid NOT NULL,
    kind text NOT NULL,
    last bigint NOT NULL,
    CONSTRAINT document_counters_pkey PRIMARY KEY (vendor_id, kind)
);
GRANT SELECT, INSERT, UPDATE ON document_counters TO campus_payouts_service;

CREATE TABLE found_transfers (
    reference text NOT NULL,
    transfer_code text,
    status text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    account_last4 text NOT NULL,
    bank_code text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    found_at timestamp with time zone NOT NULL,
    outcome text NOT NULL,
    payout_id uuid,
    evidence text,
    CONSTRAINT found_transfers_pkey PRIMARY KEY (reference),
    CONSTRAINT found_transfers_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT found_transfers_explained_says_why CHECK (((outcome = 'explained'::text) = (evidence IS NOT NULL))),
    CONSTRAINT found_transfers_outcome_known CHECK ((outcome = ANY (ARRAY['open'::text, 'taken'::text, 'explained'::text]))),
    CONSTRAINT found_transfers_taken_names_payout CHECK (((outcome = 'taken'::text) = (payout_id IS NOT NULL)))
);
CREATE INDEX found_transfers_open ON found_transfers USING btree (found_at) WHERE (outcome = 'open'::text);
GRANT SELECT, INSERT, UPDATE (status, outcome, payout_id, evidence) ON found_transfers TO campus_payouts_service;

CREATE TABLE gateway_banks (
    gateway text NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    listed_at timestamp with time zone NOT NULL,
    CONSTRAINT gateway_banks_pkey PRIMARY KEY (gateway, code)
);
ALTER TABLE gateway_banks ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON gateway_banks TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway_banks TO campus_payouts_service;
CREATE POLICY gateway_banks_select ON gateway_banks FOR SELECT TO campus_payouts_api
    USING (true);

CREATE TABLE hash_keys (
    name text NOT NULL,
    key_encrypted text NOT NULL,
    CONSTRAINT hash_keys_pkey PRIMARY KEY (name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON hash_keys TO campus_payouts_service;

CREATE TABLE idempotent_commands (
    user_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    resource_id uuid NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotent_commands_pkey PRIMARY KEY (user_id, idempotency_key)
);
GRANT SELECT, INSERT ON idempotent_commands TO campus_payouts_service;

CREATE TABLE inbox (
    event_id uuid NOT NULL,
    consumer text NOT NULL,
    handled_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT inbox_pkey PRIMARY KEY (event_id, consumer)
);
CREATE INDEX inbox_handled ON inbox USING btree (handled_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON inbox TO campus_payouts_service;

CREATE TABLE issued_documents (
    subject_id uuid NOT NULL,
    kind text NOT NULL,
    vendor_id uuid NOT NULL,
    number bigint NOT NULL,
    recipient_id uuid,
    content jsonb NOT NULL,
    recipient_encrypted text NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    CONSTRAINT issued_documents_pkey PRIMARY KEY (subject_id),
    CONSTRAINT issued_documents_number_once UNIQUE (vendor_id, kind, number)
);
CREATE INDEX issued_documents_of_recipient ON issued_documents USING btree (recipient_id) WHERE (recipient_id IS NOT NULL);
ALTER TABLE issued_documents ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON issued_documents TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (content, recipient_encrypted) ON issued_documents TO campus_payouts_service;
CREATE POLICY issued_documents_for_finance ON issued_documents FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:read'::text) AS app_may));
CREATE POLICY issued_documents_of_the_vendor ON issued_documents FOR SELECT TO campus_payouts_api
    USING (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));

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
GRANT SELECT ON ledger_accounts TO campus_payouts_api;
GRANT SELECT, INSERT ON ledger_accounts TO campus_payouts_service;

CREATE TABLE ledger_balances (
    account text NOT NULL,
    currency character(3) NOT NULL,
    side text NOT NULL,
    balance_minor bigint NOT NULL,
    CONSTRAINT ledger_balances_pkey PRIMARY KEY (account),
    CONSTRAINT ledger_balances_side_known CHECK ((side = ANY (ARRAY['debit'::text, 'credit'::text])))
);
ALTER TABLE ledger_balances ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_balances TO campus_payouts_api;
GRANT SELECT ON ledger_balances TO campus_payouts_service;
CREATE POLICY ledger_balances_select ON ledger_balances FOR SELECT TO campus_payouts_api
    USING ((app_may('wallet:own'::text) AND ((account = ANY (ARRAY[('wallet:'::text || app_vendor_id()), ('vendor_debt:'::text || app_vendor_id()), ('held:'::text || app_vendor_id())])) OR (account IN ( SELECT ('in_transit:'::text || payout_requests.id)
   FROM payout_requests
  WHERE (payout_requests.vendor_id = app_vendor_id()))))));
CREATE POLICY ledger_balances_select_staff ON ledger_balances FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:read'::text) AS app_may));
CREATE TRIGGER ledger_balances_never_negative AFTER INSERT OR UPDATE ON ledger_balances FOR EACH ROW WHEN ((new.balance_minor < 0)) EXECUTE FUNCTION ledger_refuse_overdraft();

CREATE TABLE ledger_chain (
    the_only boolean DEFAULT true NOT NULL,
    length bigint DEFAULT 0 NOT NULL,
    head bytea DEFAULT sha256('\x'::bytea) NOT NULL,
    verify_at timestamp with time zone,
    CONSTRAINT ledger_chain_pkey PRIMARY KEY (the_only),
    CONSTRAINT ledger_chain_is_one CHECK (the_only)
);
GRANT SELECT, UPDATE ON ledger_chain TO campus_payouts_service;

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
GRANT SELECT ON ledger_entries TO campus_payouts_api;
GRANT SELECT ON ledger_entries TO campus_payouts_service;
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
GRANT SELECT, INSERT ON ledger_links TO campus_payouts_service;
CREATE TRIGGER ledger_links_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_links FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

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
ALTER TABLE ledger_transactions ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON ledger_transactions TO campus_payouts_api;
GRANT SELECT ON ledger_transactions TO campus_payouts_service;
CREATE TRIGGER ledger_transactions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_transactions FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TABLE ledger_unsealed (
    position bigint NOT NULL,
    transaction_id uuid NOT NULL,
    posted_at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_unsealed_pkey PRIMARY KEY ("position")
);
GRANT SELECT, DELETE ON ledger_unsealed TO campus_payouts_service;

CREATE TABLE operation_stops (
    id uuid NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    stopped_by uuid NOT NULL,
    stopped_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    lifted_by uuid,
    lifted_at timestamp with time zone,
    lift_reason text,
    CONSTRAINT operation_stops_pkey PRIMARY KEY (id),
    CONSTRAINT operation_stops_expires_later CHECK ((expires_at > stopped_at)),
    CONSTRAINT operation_stops_lifted_by CHECK ((num_nonnulls(lifted_by, lifted_at, lift_reason) = ANY (ARRAY[0, 3])))
);
CREATE INDEX operation_stops_newest ON operation_stops USING btree (stopped_at);
ALTER TABLE operation_stops ENABLE ROW LEVEL SECURITY;
GRANT SELECT (message, expires_at, lifted_at) ON operation_stops TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (lifted_by, lifted_at, lift_reason) ON operation_stops TO campus_payouts_service;
CREATE POLICY operation_stops_known ON operation_stops FOR SELECT
    USING (true);

CREATE TABLE order_shares (
    order_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    remaining_vendor_minor bigint NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT order_shares_pkey PRIMARY KEY (order_id),
    CONSTRAINT order_shares_never_negative CHECK ((remaining_vendor_minor >= 0))
);
CREATE INDEX order_shares_locked ON order_shares USING btree (vendor_id) INCLUDE (remaining_vendor_minor) WHERE (remaining_vendor_minor > 0);
ALTER TABLE order_shares ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON order_shares TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON order_shares TO campus_payouts_service;
CREATE POLICY order_shares_select ON order_shares FOR SELECT TO campus_payouts_api
    USING (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
CREATE POLICY order_shares_select_staff ON order_shares FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:read'::text) AS app_may));

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
GRANT INSERT ON outbox TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO campus_payouts_service;

CREATE TABLE outbox_sequences (
    subject text NOT NULL,
    last bigint NOT NULL,
    used_at timestamp with time zone DEFAULT date_trunc('day'::text, now()) NOT NULL,
    CONSTRAINT outbox_sequences_pkey PRIMARY KEY (subject)
);
CREATE INDEX outbox_sequences_idle ON outbox_sequences USING btree (used_at);
GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_sequences TO campus_payouts_service;

CREATE TABLE payout_acts (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    payout_id uuid NOT NULL,
    reconciliation_id uuid,
    act text NOT NULL,
    acted_by uuid NOT NULL,
    reason text NOT NULL,
    acted_at timestamp with time zone NOT NULL,
    CONSTRAINT payout_acts_pkey PRIMARY KEY ("position"),
    CONSTRAINT payout_acts_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT payout_acts_reconciliation FOREIGN KEY (reconciliation_id) REFERENCES reconciliations(id),
    CONSTRAINT payout_acts_act_known CHECK ((act = ANY (ARRAY['reset'::text, 'prepared'::text, 'approved'::text, 'rejected'::text, 'cancelled'::text]))),
    CONSTRAINT payout_acts_of_reconciliation CHECK (((act = ANY (ARRAY['reset'::text, 'cancelled'::text])) = (reconciliation_id IS NULL)))
);
CREATE INDEX payout_acts_of_payout ON payout_acts USING btree (payout_id, "position");
ALTER TABLE payout_acts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payout_acts TO campus_payouts_service;
CREATE TRIGGER payout_acts_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON payout_acts FOR EACH STATEMENT EXECUTE FUNCTION payout_acts_refuse_change();

CREATE TABLE payout_exception_acts (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id uuid NOT NULL,
    exception_id uuid NOT NULL,
    kind text NOT NULL,
    acted_by uuid,
    severity_before text NOT NULL,
    severity_after text NOT NULL,
    cause_before text NOT NULL,
    cause_after text NOT NULL,
    note text NOT NULL,
    acted_at timestamp with time zone NOT NULL,
    CONSTRAINT payout_exception_acts_pkey PRIMARY KEY ("position"),
    CONSTRAINT payout_exception_acts_exception FOREIGN KEY (exception_id) REFERENCES payout_exceptions(id),
    CONSTRAINT payout_exception_acts_classified_by_somebody CHECK (((kind <> 'classified'::text) OR (acted_by IS NOT NULL))),
    CONSTRAINT payout_exception_acts_kind_known CHECK ((kind = ANY (ARRAY['classified'::text, 'changed'::text, 'noted'::text, 'closed'::text])))
);
CREATE INDEX payout_exception_acts_of_exception ON payout_exception_acts USING btree (exception_id, "position");
ALTER TABLE payout_exception_acts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payout_exception_acts TO campus_payouts_api;
GRANT SELECT, INSERT ON payout_exception_acts TO campus_payouts_service;
CREATE POLICY payout_exception_acts_insert ON payout_exception_acts FOR INSERT TO campus_payouts_api
    WITH CHECK ((app_may('exceptions:classify'::text) AND (acted_by = app_user_id()) AND (kind = 'classified'::text)));
CREATE POLICY payout_exception_acts_select ON payout_exception_acts FOR SELECT TO campus_payouts_api
    USING (app_may('exceptions:read'::text));
CREATE TRIGGER payout_exception_acts_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON payout_exception_acts FOR EACH STATEMENT EXECUTE FUNCTION exception_acts_refuse_change();

CREATE TABLE payout_exceptions (
    id uuid NOT NULL,
    payout_id uuid,
    batch_id uuid,
    vendor_id uuid,
    cause text NOT NULL,
    severity text NOT NULL,
    status text NOT NULL,
    detail text NOT NULL,
    amount bigint NOT NULL,
    respond_by timestamp with time zone NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    closed_because text,
    transfer_id uuid,
    CONSTRAINT payout_exceptions_pkey PRIMARY KEY (id),
    CONSTRAINT payout_exceptions_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches(id),
    CONSTRAINT payout_exceptions_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT payout_exceptions_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers(id),
    CONSTRAINT payout_exceptions_closed_says_why CHECK ((((status = 'closed'::text) = (closed_at IS NOT NULL)) AND ((status = 'closed'::text) = (closed_because IS NOT NULL)))),
    CONSTRAINT payout_exceptions_of_payout_or_batch CHECK (((num_nonnulls(payout_id, batch_id) = 1) OR ((num_nonnulls(payout_id, batch_id, transfer_id) = 0) AND (vendor_id IS NOT NULL)))),
    CONSTRAINT payout_exceptions_severity_known CHECK ((severity = ANY (ARRAY['SEV-1'::text, 'SEV-2'::text, 'SEV-3'::text]))),
    CONSTRAINT payout_exceptions_status_known CHECK ((status = ANY (ARRAY['open'::text, 'closed'::text])))
);
CREATE INDEX payout_exceptions_newest ON payout_exceptions USING btree (opened_at DESC, id DESC);
CREATE INDEX payout_exceptions_of_transfer ON payout_exceptions USING btree (transfer_id);
CREATE INDEX payout_exceptions_of_vendor ON payout_exceptions USING btree (vendor_id, opened_at);
CREATE UNIQUE INDEX payout_exceptions_one_live ON payout_exceptions USING btree (payout_id) WHERE (status = 'open'::text);
CREATE UNIQUE INDEX payout_exceptions_one_live_of_batch ON payout_exceptions USING btree (batch_id) WHERE (status = 'open'::text);
CREATE UNIQUE INDEX payout_exceptions_one_live_of_vendor ON payout_exceptions USING btree (vendor_id) WHERE ((status = 'open'::text) AND (payout_id IS NULL) AND (batch_id IS NULL));
ALTER TABLE payout_exceptions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (cause, severity, respond_by) ON payout_exceptions TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (cause, severity, status, respond_by, closed_at, closed_because) ON payout_exceptions TO campus_payouts_service;
CREATE POLICY payout_exceptions_select ON payout_exceptions FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('wallet:own'::text) AS app_may)) OR ( SELECT app_may('payouts:read'::text) AS app_may) OR ( SELECT app_may('exceptions:read'::text) AS app_may)));
CREATE POLICY payout_exceptions_update ON payout_exceptions FOR UPDATE TO campus_payouts_api
    USING (app_may('exceptions:classify'::text))
    WITH CHECK (app_may('exceptions:classify'::text));

CREATE TABLE payout_holds (
    id uuid NOT NULL,
    payout_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    held_by uuid NOT NULL,
    held_at timestamp with time zone NOT NULL,
    released_by uuid,
    released_at timestamp with time zone,
    release_reason text,
    CONSTRAINT payout_holds_pkey PRIMARY KEY (id),
    CONSTRAINT payout_holds_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT payout_holds_release_says_who CHECK ((num_nonnulls(released_by, released_at, release_reason) =
CASE status
    WHEN 'released'::text THEN 3
    ELSE 0
END)),
    CONSTRAINT payout_holds_status_known CHECK ((status = ANY (ARRAY['held'::text, 'released'::text])))
);
CREATE INDEX payout_holds_of_payout ON payout_holds USING btree (payout_id, held_at);
CREATE UNIQUE INDEX payout_holds_one_live ON payout_holds USING btree (payout_id) WHERE (status = 'held'::text);
ALTER TABLE payout_holds ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payout_holds TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (status, released_by, released_at, release_reason) ON payout_holds TO campus_payouts_service;
CREATE POLICY payout_holds_select ON payout_holds FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('wallet:own'::text) AS app_may)) OR ( SELECT app_may('payouts:read'::text) AS app_may)));

CREATE TABLE payout_requests (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    amount bigint NOT NULL,
    currency character(3) NOT NULL,
    status text NOT NULL,
    bank_details_version_id uuid NOT NULL,
    requested_by uuid NOT NULL,
    transfer_reference text,
    transfer_code text,
    transfer_failure text,
    retry_count integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    processed_at timestamp with time zone,
    restitution_awaited_since timestamp with time zone,
    restitution_reason text,
    idempotency_key uuid,
    number text DEFAULT new_payout_number(),
    CONSTRAINT payout_requests_pkey PRIMARY KEY (id),
    CONSTRAINT payout_requests_bank_details FOREIGN KEY (bank_details_version_id) REFERENCES bank_detail_versions(id),
    CONSTRAINT payout_requests_amount_positive CHECK ((amount > 0)),
    CONSTRAINT payout_requests_awaited_says_why CHECK (((restitution_awaited_since IS NULL) = (restitution_reason IS NULL))),
    CONSTRAINT payout_requests_number_form CHECK (((number IS NOT NULL) AND (number ~ '^PO(-[0-9A-HJKMNP-TV-Z]{4}){2}$'::text))),
    CONSTRAINT payout_requests_retry_count_at_most_3 CHECK (((retry_count >= 0) AND (retry_count <= 3))),
    CONSTRAINT payout_requests_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'processed'::text, 'failed'::text])))
);
CREATE UNIQUE INDEX payout_requests_key_once ON payout_requests USING btree (requested_by, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX payout_requests_newest ON payout_requests USING btree (created_at DESC, id DESC);
CREATE UNIQUE INDEX payout_requests_number_once ON payout_requests USING btree (number);
CREATE INDEX payout_requests_of_vendor ON payout_requests USING btree (vendor_id, created_at DESC);
CREATE INDEX payout_requests_pending ON payout_requests USING btree (created_at, id) WHERE (status = 'pending'::text);
CREATE INDEX payout_requests_pending_of_vendor ON payout_requests USING btree (vendor_id) WHERE (status = 'pending'::text);
ALTER TABLE payout_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payout_requests TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (status, transfer_reference, transfer_code, transfer_failure, retry_count, updated_at, processed_at, restitution_awaited_since, restitution_reason) ON payout_requests TO campus_payouts_service;
CREATE POLICY payout_requests_insert ON payout_requests FOR INSERT TO campus_payouts_api
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
CREATE POLICY payout_requests_of_resets ON payout_requests FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:reset'::text) AS app_may));
CREATE POLICY payout_requests_select ON payout_requests FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('wallet:own'::text) AS app_may)) OR ( SELECT app_may('payouts:read'::text) AS app_may)));

CREATE TABLE payout_schedules (
    vendor_id uuid NOT NULL,
    frequency text NOT NULL,
    weekday text,
    minimum_minor bigint,
    due_at timestamp with time zone,
    changed_by uuid NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT payout_schedules_pkey PRIMARY KEY (vendor_id),
    CONSTRAINT payout_schedules_frequency_known CHECK ((frequency = ANY (ARRAY['none'::text, 'daily'::text, 'weekly'::text]))),
    CONSTRAINT payout_schedules_minimum_positive CHECK ((minimum_minor > 0)),
    CONSTRAINT payout_schedules_none_is_never_due CHECK (((frequency = 'none'::text) = (due_at IS NULL))),
    CONSTRAINT payout_schedules_weekday_known CHECK ((weekday = ANY (ARRAY['monday'::text, 'tuesday'::text, 'wednesday'::text, 'thursday'::text, 'friday'::text, 'saturday'::text, 'sunday'::text]))),
    CONSTRAINT payout_schedules_weekly_has_weekday CHECK (((frequency = 'weekly'::text) = (weekday IS NOT NULL)))
);
CREATE INDEX payout_schedules_due ON payout_schedules USING btree (due_at) WHERE (due_at IS NOT NULL);
ALTER TABLE payout_schedules ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON payout_schedules TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON payout_schedules TO campus_payouts_service;
CREATE POLICY payout_schedules_insert ON payout_schedules FOR INSERT TO campus_payouts_api
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
CREATE POLICY payout_schedules_select ON payout_schedules FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)) OR app_may('payouts:read'::text)));
CREATE POLICY payout_schedules_update ON payout_schedules FOR UPDATE TO campus_payouts_api
    USING (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));

CREATE TABLE payout_transfers (
    id uuid NOT NULL,
    payout_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    batch_id uuid,
    attempt integer NOT NULL,
    reference text NOT NULL,
    status text NOT NULL,
    amount bigint NOT NULL,
    currency character(3) NOT NULL,
    bank_details_version_id uuid NOT NULL,
    recipient_code text,
    transfer_code text,
    failure text,
    submissions integer DEFAULT 0 NOT NULL,
    asks integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    called_at timestamp with time zone,
    fee bigint,
    gateway text DEFAULT 'paystack'::text NOT NULL,
    poll_count integer DEFAULT 0 NOT NULL,
    CONSTRAINT payout_transfers_pkey PRIMARY KEY (id),
    CONSTRAINT payout_transfers_attempt_once UNIQUE (payout_id, attempt),
    CONSTRAINT payout_transfers_reference_once UNIQUE (reference),
    CONSTRAINT payout_transfers_bank_details FOREIGN KEY (bank_details_version_id) REFERENCES bank_detail_versions(id),
    CONSTRAINT payout_transfers_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches(id),
    CONSTRAINT payout_transfers_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT payout_transfers_reference_shape CHECK ((reference ~ '^po-[0-9a-f]{32}$'::text)),
    CONSTRAINT payout_transfers_status_known CHECK ((status = ANY (ARRAY['reserved'::text, 'submitting'::text, 'unknown'::text, 'pending'::text, 'received'::text, 'otp'::text, 'success'::text, 'failed'::text, 'rejected'::text, 'blocked'::text, 'abandoned'::text, 'reversed'::text])))
);
CREATE INDEX payout_transfers_due ON payout_transfers USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX payout_transfers_newest ON payout_transfers USING btree (created_at DESC);
CREATE INDEX payout_transfers_of_batch ON payout_transfers USING btree (batch_id);
ALTER TABLE payout_transfers ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payout_transfers TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (batch_id, status, recipient_code, transfer_code, failure, submissions, asks, due_at, updated_at, called_at, fee, gateway, poll_count) ON payout_transfers TO campus_payouts_service;
CREATE POLICY payout_transfers_of_resets ON payout_transfers FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:reset'::text) AS app_may));
CREATE POLICY payout_transfers_select ON payout_transfers FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = ( SELECT app_vendor_id() AS app_vendor_id)) AND ( SELECT app_may('wallet:own'::text) AS app_may)) OR ( SELECT app_may('payouts:read'::text) AS app_may)));
CREATE POLICY payout_transfers_select_observed ON payout_transfers FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('exceptions:read'::text) AS app_may));
CREATE TRIGGER payout_transfers_copy_renamed_count BEFORE UPDATE OF asks, poll_count ON payout_transfers FOR EACH ROW EXECUTE FUNCTION copy_renamed_count();

CREATE TABLE reconciliations (
    id uuid NOT NULL,
    payout_id uuid NOT NULL,
    transfer_id uuid,
    kind text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    postings jsonb NOT NULL,
    hash text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    CONSTRAINT reconciliations_pkey PRIMARY KEY (id),
    CONSTRAINT reconciliations_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT reconciliations_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers(id),
    CONSTRAINT reconciliations_decided_by_another CHECK ((decided_by <> prepared_by)),
    CONSTRAINT reconciliations_decided_says_who CHECK ((((status = 'prepared'::text) = (decided_by IS NULL)) AND ((status = 'prepared'::text) = (decided_at IS NULL)))),
    CONSTRAINT reconciliations_hash_shape CHECK ((hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT reconciliations_kind_known CHECK ((kind = ANY (ARRAY['restitution'::text, 'reversal'::text, 'recovery'::text, 'recovery_returned'::text, 'hold_released'::text]))),
    CONSTRAINT reconciliations_recovery_names_transfer CHECK (((kind = ANY (ARRAY['recovery'::text, 'recovery_returned'::text, 'hold_released'::text])) = (transfer_id IS NOT NULL))),
    CONSTRAINT reconciliations_rejected_says_why CHECK (((status = 'rejected'::text) = (rejection IS NOT NULL))),
    CONSTRAINT reconciliations_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX reconciliations_newest ON reconciliations USING btree (prepared_at DESC, id DESC);
CREATE INDEX reconciliations_of_payout ON reconciliations USING btree (payout_id);
CREATE UNIQUE INDEX reconciliations_one_live ON reconciliations USING btree (payout_id) WHERE (status = 'prepared'::text);
CREATE UNIQUE INDEX reconciliations_posting_once ON reconciliations USING btree ((((postings -> 0) ->> 'postingKey'::text))) WHERE (status = 'approved'::text);
CREATE UNIQUE INDEX reconciliations_returned_once ON reconciliations USING btree (payout_id) WHERE ((status = 'approved'::text) AND (transfer_id IS NULL));
ALTER TABLE reconciliations ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON reconciliations TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (status, reason, decided_by, decided_at, rejection) ON reconciliations TO campus_payouts_service;
CREATE POLICY reconciliations_select ON reconciliations FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:read'::text));

CREATE TABLE release_checkpoints (
    vendor_id uuid NOT NULL,
    last_line bigint NOT NULL,
    last_received bigint NOT NULL,
    sequence bigint NOT NULL,
    received_minor bigint NOT NULL,
    paid_minor bigint NOT NULL,
    authenticator text NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    CONSTRAINT release_checkpoints_pkey PRIMARY KEY (vendor_id),
    CONSTRAINT release_checkpoints_name_a_statement CHECK ((sequence >= 1)),
    CONSTRAINT release_checkpoints_received_by_last_line CHECK (((last_received >= 0) AND (last_received <= last_line)))
);
GRANT SELECT, INSERT, UPDATE, DELETE ON release_checkpoints TO campus_payouts_service;

CREATE TABLE release_statements (
    vendor_id uuid NOT NULL,
    sequence bigint NOT NULL,
    signature text NOT NULL,
    source text NOT NULL,
    line_key text,
    amount_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    key_id text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT release_statements_pkey PRIMARY KEY (vendor_id, sequence, signature),
    CONSTRAINT release_statements_counts_from_one CHECK ((sequence >= 1))
);
CREATE INDEX release_statements_of_line ON release_statements USING btree (line_key);
GRANT SELECT, INSERT, UPDATE, DELETE ON release_statements TO campus_payouts_service;

CREATE TABLE release_statements_begin (
    only_one boolean DEFAULT true NOT NULL,
    last_line bigint NOT NULL,
    began_at timestamp with time zone NOT NULL,
    CONSTRAINT release_statements_begin_pkey PRIMARY KEY (only_one),
    CONSTRAINT release_statements_begin_only_one CHECK (only_one)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON release_statements_begin TO campus_payouts_service;

CREATE TABLE scheduled_payouts (
    vendor_id uuid NOT NULL,
    period date NOT NULL,
    outcome text NOT NULL,
    reason text,
    payout_id uuid,
    available_minor bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    CONSTRAINT scheduled_payouts_pkey PRIMARY KEY (vendor_id, period),
    CONSTRAINT scheduled_payouts_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT scheduled_payouts_outcome_known CHECK ((outcome = ANY (ARRAY['requested'::text, 'skipped'::text]))),
    CONSTRAINT scheduled_payouts_requested_names_payout CHECK (((outcome = 'requested'::text) = (payout_id IS NOT NULL))),
    CONSTRAINT scheduled_payouts_skipped_says_why CHECK (((outcome = 'skipped'::text) = (reason IS NOT NULL)))
);
CREATE INDEX scheduled_payouts_skipped ON scheduled_payouts USING btree (decided_at) WHERE (outcome = 'skipped'::text);
ALTER TABLE scheduled_payouts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON scheduled_payouts TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON scheduled_payouts TO campus_payouts_service;
CREATE POLICY scheduled_payouts_select ON scheduled_payouts FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)) OR app_may('payouts:read'::text)));

CREATE TABLE session_revocations (
    user_id uuid NOT NULL,
    session_id uuid,
    not_before timestamp with time zone NOT NULL,
    heard_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX session_revocations_heard ON session_revocations USING btree (heard_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON session_revocations TO campus_payouts_service;

CREATE TABLE standing_alerts (
    dedup_key text NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    calm_since timestamp with time zone,
    CONSTRAINT standing_alerts_pkey PRIMARY KEY (dedup_key)
);
ALTER TABLE standing_alerts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON standing_alerts TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON standing_alerts TO campus_payouts_service;
CREATE POLICY standing_alerts_select ON standing_alerts FOR SELECT TO campus_payouts_api
    USING (app_may('exceptions:read'::text));

CREATE TABLE transfer_comparison (
    only_one boolean DEFAULT true NOT NULL,
    place text NOT NULL,
    compared_until timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    CONSTRAINT transfer_comparison_pkey PRIMARY KEY (only_one),
    CONSTRAINT transfer_comparison_only_one CHECK (only_one)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON transfer_comparison TO campus_payouts_service;

CREATE TABLE transfer_holds (
    id uuid NOT NULL,
    payout_id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    amount bigint NOT NULL,
    status text NOT NULL,
    held_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT transfer_holds_pkey PRIMARY KEY (id),
    CONSTRAINT transfer_holds_payout FOREIGN KEY (payout_id) REFERENCES payout_requests(id),
    CONSTRAINT transfer_holds_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers(id),
    CONSTRAINT transfer_holds_amount_positive CHECK ((amount > 0)),
    CONSTRAINT transfer_holds_decided_says_when CHECK (((status = 'held'::text) = (decided_at IS NULL))),
    CONSTRAINT transfer_holds_status_known CHECK ((status = ANY (ARRAY['held'::text, 'recovered'::text, 'released'::text])))
);
CREATE INDEX transfer_holds_of_payout ON transfer_holds USING btree (payout_id);
CREATE INDEX transfer_holds_open_of_vendor ON transfer_holds USING btree (vendor_id) WHERE (status = 'held'::text);
ALTER TABLE transfer_holds ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON transfer_holds TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE, UPDATE (status, decided_at) ON transfer_holds TO campus_payouts_service;
CREATE POLICY transfer_holds_select ON transfer_holds FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)) OR app_may('payouts:read'::text)));

CREATE TABLE transfer_observations (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    update_source text,
    heard_from text NOT NULL,
    status text NOT NULL,
    verdict text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    transfer_code text,
    reason text,
    gateway_event_id text,
    observed_at timestamp with time zone NOT NULL,
    CONSTRAINT transfer_observations_pkey PRIMARY KEY ("position"),
    CONSTRAINT transfer_observations_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers(id),
    CONSTRAINT transfer_observations_heard_from_known CHECK ((heard_from = ANY (ARRAY['webhook'::text, 'call'::text, 'query'::text]))),
    CONSTRAINT transfer_observations_verdict_known CHECK ((verdict = ANY (ARRAY['advanced'::text, 'confirmed'::text, 'late_success'::text, 'repeated'::text, 'stale'::text, 'contradiction'::text])))
);
CREATE INDEX transfer_observations_of_transfer ON transfer_observations USING btree (transfer_id, "position");
GRANT SELECT, INSERT ON transfer_observations TO campus_payouts_service;
CREATE TRIGGER transfer_observations_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON transfer_observations FOR EACH STATEMENT EXECUTE FUNCTION observations_refuse_change();
CREATE TRIGGER transfer_observations_copy_renamed_source BEFORE INSERT ON transfer_observations FOR EACH ROW EXECUTE FUNCTION copy_renamed_source();

CREATE TABLE vendor_bank_details (
    vendor_id uuid NOT NULL,
    version_id uuid NOT NULL,
    account_number text,
    last4 text NOT NULL,
    bank_code text NOT NULL,
    account_name text,
    verified boolean NOT NULL,
    reason text,
    check_digit_valid boolean,
    quarantine_reason text,
    updated_at timestamp with time zone NOT NULL,
    account_sealed text,
    account_fingerprint text,
    payouts_from timestamp with time zone,
    CONSTRAINT vendor_bank_details_pkey PRIMARY KEY (vendor_id),
    CONSTRAINT vendor_bank_details_version FOREIGN KEY (version_id) REFERENCES bank_detail_versions(id),
    CONSTRAINT vendor_bank_details_last4 CHECK ((last4 = "right"(account_number, 4))),
    CONSTRAINT vendor_bank_details_number_kept_once CHECK ((num_nonnulls(account_number, account_sealed) = 1)),
    CONSTRAINT vendor_bank_details_quarantined_unverified CHECK (((quarantine_reason IS NULL) OR (NOT verified))),
    CONSTRAINT vendor_bank_details_sealed_has_fingerprint CHECK (((account_sealed IS NULL) = (account_fingerprint IS NULL))),
    CONSTRAINT vendor_bank_details_ten_digits CHECK ((account_number ~ '^[0-9]{10}$'::text))
);
CREATE INDEX vendor_bank_details_of_account ON vendor_bank_details USING btree (account_fingerprint);
CREATE INDEX vendor_bank_details_unsealed ON vendor_bank_details USING btree (vendor_id) WHERE (account_number IS NOT NULL);
ALTER TABLE vendor_bank_details ENABLE ROW LEVEL SECURITY;
GRANT SELECT (vendor_id, version_id, last4, bank_code, account_name, verified, reason, check_digit_valid, quarantine_reason, updated_at, account_fingerprint, payouts_from), INSERT (vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, quarantine_reason, updated_at, account_sealed, account_fingerprint, payouts_from), UPDATE (vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, quarantine_reason, updated_at, account_sealed, account_fingerprint, payouts_from) ON vendor_bank_details TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON vendor_bank_details TO campus_payouts_service;
CREATE POLICY vendor_bank_details_insert ON vendor_bank_details FOR INSERT TO campus_payouts_api
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('bank_details:own'::text)));
CREATE POLICY vendor_bank_details_select ON vendor_bank_details FOR SELECT TO campus_payouts_api
    USING ((((vendor_id = app_vendor_id()) AND app_may('bank_details:own'::text)) OR ((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)) OR app_may('bank_details:read'::text)));
CREATE POLICY vendor_bank_details_update ON vendor_bank_details FOR UPDATE TO campus_payouts_api
    USING (((vendor_id = app_vendor_id()) AND app_may('bank_details:own'::text)))
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('bank_details:own'::text)));

CREATE TABLE vendors (
    id uuid NOT NULL,
    owner_user_id uuid NOT NULL,
    legal_name text NOT NULL,
    sequence bigint NOT NULL,
    suspended boolean DEFAULT false NOT NULL,
    standing_sequence bigint DEFAULT 0 NOT NULL,
    CONSTRAINT vendors_pkey PRIMARY KEY (id)
);
ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON vendors TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON vendors TO campus_payouts_service;
CREATE POLICY vendors_select ON vendors FOR SELECT TO campus_payouts_api
    USING ((id = app_vendor_id()));
CREATE POLICY vendors_select_observed ON vendors FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('exceptions:read'::text) AS app_may));
CREATE POLICY vendors_select_staff ON vendors FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:read'::text) AS app_may));

CREATE TABLE wallet_lines (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    kind text NOT NULL,
    source_key text NOT NULL,
    order_id uuid,
    payout_id uuid,
    gross_minor bigint,
    commission_minor bigint,
    delivery_fee_minor bigint,
    net_minor bigint NOT NULL,
    balance_minor bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    estimated boolean DEFAULT false NOT NULL,
    CONSTRAINT wallet_lines_pkey PRIMARY KEY ("position"),
    CONSTRAINT wallet_lines_source_once UNIQUE (source_key, kind),
    CONSTRAINT wallet_lines_balance_never_negative CHECK ((balance_minor >= 0)),
    CONSTRAINT wallet_lines_kind_known CHECK ((kind = ANY (ARRAY['release'::text, 'debt_repaid'::text, 'refund'::text, 'debt_taken'::text, 'payout'::text, 'hold'::text, 'hold_released'::text, 'chargeback'::text, 'chargeback_won'::text, 'restitution'::text, 'reversal'::text, 'recovery'::text, 'recovery_returned'::text, 'correction'::text, 'waiver'::text]))),
    CONSTRAINT wallet_lines_parts_add_up CHECK (COALESCE((((gross_minor - commission_minor) - delivery_fee_minor) = net_minor), (commission_minor IS NULL))),
    CONSTRAINT wallet_lines_return_names_payout CHECK (((kind <> ALL (ARRAY['restitution'::text, 'reversal'::text, 'recovery'::text, 'recovery_returned'::text])) OR (payout_id IS NOT NULL))),
    CONSTRAINT wallet_lines_waiver_only_debits CHECK (((kind <> 'waiver'::text) OR (net_minor < 0)))
);
CREATE INDEX wallet_lines_in_time ON wallet_lines USING btree (vendor_id, at, "position");
CREATE INDEX wallet_lines_of_payout ON wallet_lines USING btree (payout_id) WHERE (payout_id IS NOT NULL);
CREATE INDEX wallet_lines_of_vendor ON wallet_lines USING btree (vendor_id, "position" DESC);
CREATE INDEX wallet_lines_recoveries ON wallet_lines USING btree (payout_id) WHERE (kind = ANY (ARRAY['recovery'::text, 'recovery_returned'::text]));
CREATE UNIQUE INDEX wallet_lines_returned_once ON wallet_lines USING btree (payout_id) WHERE (kind = ANY (ARRAY['restitution'::text, 'reversal'::text]));
ALTER TABLE wallet_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON wallet_lines TO campus_payouts_api;
GRANT SELECT, INSERT ON wallet_lines TO campus_payouts_service;
CREATE POLICY wallet_lines_insert ON wallet_lines FOR INSERT TO campus_payouts_api
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
CREATE POLICY wallet_lines_select ON wallet_lines FOR SELECT TO campus_payouts_api
    USING (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
CREATE POLICY wallet_lines_select_staff ON wallet_lines FOR SELECT TO campus_payouts_api
    USING (( SELECT app_may('payouts:read'::text) AS app_may));

CREATE TABLE wallets (
    vendor_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT wallets_pkey PRIMARY KEY (vendor_id)
);
ALTER TABLE wallets ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT (vendor_id), UPDATE (vendor_id) ON wallets TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON wallets TO campus_payouts_service;
CREATE POLICY wallets_insert ON wallets FOR INSERT TO campus_payouts_api
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
CREATE POLICY wallets_select ON wallets FOR SELECT TO campus_payouts_api
    USING (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
CREATE POLICY wallets_update ON wallets FOR UPDATE TO campus_payouts_api
    USING (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)))
    WITH CHECK (((vendor_id = app_vendor_id()) AND app_may('wallet:own'::text)));
