-- The payouts service's schema, one block for each table: the table, its indexes, row security, grants, policies and
-- triggers. No API role reads an account number.

-- ---------------------------------------------------------------------------------------------------------------------
-- Projections of other services' events
-- ---------------------------------------------------------------------------------------------------------------------

-- `sequence` is the publisher's own count, so that events in any order end in the same row. A suspension has a sequence
-- of its own.
CREATE TABLE vendors (
    id uuid PRIMARY KEY,
    owner_user_id uuid NOT NULL,
    legal_name text NOT NULL,
    sequence bigint NOT NULL,
    suspended boolean NOT NULL DEFAULT false,
    standing_sequence bigint NOT NULL DEFAULT 0
);
ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON vendors TO campus_payouts_api;
CREATE POLICY vendors_select ON vendors FOR SELECT TO campus_payouts_api USING (id = app_vendor_id());
CREATE POLICY vendors_select_staff ON vendors FOR SELECT TO campus_payouts_api USING ((SELECT app_may('payouts:read')));

CREATE TABLE order_shares (
    order_id uuid PRIMARY KEY,
    vendor_id uuid NOT NULL,
    remaining_vendor_minor bigint NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT order_shares_never_negative CHECK (remaining_vendor_minor >= 0)
);
CREATE INDEX order_shares_locked
    ON order_shares (vendor_id) INCLUDE (remaining_vendor_minor)
    WHERE remaining_vendor_minor > 0;
ALTER TABLE order_shares ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON order_shares TO campus_payouts_api;
CREATE POLICY order_shares_select ON order_shares FOR SELECT TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY order_shares_select_staff ON order_shares FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:read')));

CREATE TABLE chargebacks (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    status text NOT NULL,
    vendor_minor bigint NOT NULL,
    held_minor bigint NOT NULL DEFAULT 0,
    sequence bigint NOT NULL,
    CONSTRAINT chargebacks_status_known CHECK (status IN ('opened', 'won', 'lost')),
    CONSTRAINT chargebacks_never_negative CHECK (least(vendor_minor, held_minor) >= 0),
    CONSTRAINT chargebacks_hold_nothing_when_decided CHECK (status = 'opened' OR held_minor = 0)
);
CREATE INDEX chargebacks_open_of_order ON chargebacks (order_id) WHERE status = 'opened';
ALTER TABLE chargebacks ENABLE ROW LEVEL SECURITY;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON chargebacks FROM campus_payouts_service;
GRANT UPDATE (status, held_minor, sequence) ON chargebacks TO campus_payouts_service;

-- As received, unverified: verified each time before money is sent. `line_key` names the wallet line of the same event.
CREATE TABLE release_statements (
    vendor_id uuid NOT NULL,
    sequence bigint NOT NULL CONSTRAINT release_statements_counts_from_one CHECK (sequence >= 1),
    signature text NOT NULL,
    source text NOT NULL,
    line_key text,
    amount_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    key_id text NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (vendor_id, sequence, signature)
);
CREATE INDEX release_statements_of_line ON release_statements (line_key);

-- Lines up to this one are older than the first statement. In a new system there is none.
CREATE TABLE release_statements_begin (
    only_one boolean PRIMARY KEY DEFAULT true CONSTRAINT release_statements_begin_only_one CHECK (only_one),
    last_line bigint NOT NULL,
    began_at timestamptz NOT NULL
);
INSERT INTO release_statements_begin (last_line, began_at) VALUES (0, now());

-- ---------------------------------------------------------------------------------------------------------------------
-- Wallets
-- ---------------------------------------------------------------------------------------------------------------------

-- Its lock orders everything that happens to one vendor's wallet.
CREATE TABLE wallets (
    vendor_id uuid PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE wallets ENABLE ROW LEVEL SECURITY;
-- PostgreSQL requires UPDATE to lock a row; the policy keeps the row with its vendor.
GRANT SELECT, INSERT (vendor_id), UPDATE (vendor_id) ON wallets TO campus_payouts_api;
CREATE POLICY wallets_select ON wallets FOR SELECT TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallets_insert ON wallets FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallets_update ON wallets FOR UPDATE TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'))
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));

-- A vendor's lines have one order by position and by time: each month is one piece of the statement.
CREATE TABLE wallet_lines (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    at timestamptz NOT NULL,
    CONSTRAINT wallet_lines_source_once UNIQUE (source_key, kind),
    CONSTRAINT wallet_lines_balance_never_negative CHECK (balance_minor >= 0),
    CONSTRAINT wallet_lines_return_names_payout
        CHECK (kind NOT IN ('restitution', 'reversal', 'recovery', 'recovery_returned') OR payout_id IS NOT NULL),
    CONSTRAINT wallet_lines_kind_known CHECK (
        kind IN (
            'release', 'debt_repaid', 'refund', 'debt_taken', 'payout', 'hold', 'hold_released', 'chargeback',
            'chargeback_won', 'restitution', 'reversal', 'recovery', 'recovery_returned', 'correction'
        )
    )
);
CREATE INDEX wallet_lines_of_vendor ON wallet_lines (vendor_id, position DESC);
CREATE INDEX wallet_lines_in_time ON wallet_lines (vendor_id, at, position);
-- Restitution and reversal of one payout never both exist.
CREATE UNIQUE INDEX wallet_lines_returned_once ON wallet_lines (payout_id) WHERE kind IN ('restitution', 'reversal');
ALTER TABLE wallet_lines ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON wallet_lines TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON wallet_lines FROM campus_payouts_service;
CREATE POLICY wallet_lines_select ON wallet_lines FOR SELECT TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallet_lines_insert ON wallet_lines FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY wallet_lines_select_staff ON wallet_lines FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:read')));

-- ---------------------------------------------------------------------------------------------------------------------
-- Bank details
-- ---------------------------------------------------------------------------------------------------------------------

-- Every set of details that a vendor ever had; a payout refers to the one it was requested with.
CREATE TABLE bank_detail_versions (
    id uuid PRIMARY KEY,
    vendor_id uuid NOT NULL,
    account_number text,
    last4 text NOT NULL,
    bank_code text NOT NULL,
    account_name text,
    verified boolean NOT NULL,
    reason text,
    check_digit_valid boolean,
    changed_by uuid NOT NULL,
    changed_at timestamptz NOT NULL,
    account_sealed text,
    account_fingerprint text,
    change text NOT NULL DEFAULT 'set',
    CONSTRAINT bank_detail_versions_ten_digits CHECK (account_number ~ '^[0-9]{10}$'),
    CONSTRAINT bank_detail_versions_last4 CHECK (last4 = right(account_number, 4)),
    CONSTRAINT bank_detail_versions_number_kept_once CHECK (num_nonnulls(account_number, account_sealed) = 1),
    CONSTRAINT bank_detail_versions_sealed_has_fingerprint
        CHECK ((account_sealed IS NULL) = (account_fingerprint IS NULL)),
    CONSTRAINT bank_detail_versions_change_known CHECK (change IN ('set', 'legal_name_changed', 'quarantined'))
);
CREATE INDEX bank_detail_versions_of_vendor ON bank_detail_versions (vendor_id, changed_at);
CREATE INDEX bank_detail_versions_unsealed ON bank_detail_versions (vendor_id) WHERE account_number IS NOT NULL;
ALTER TABLE bank_detail_versions ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        id, vendor_id, last4, bank_code, account_name, verified, reason, check_digit_valid, changed_by, changed_at,
        account_fingerprint, change
    ),
    INSERT (
        id, vendor_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, changed_by,
        changed_at, account_sealed, account_fingerprint, change
    )
ON bank_detail_versions TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON bank_detail_versions FROM campus_payouts_service;
GRANT
    UPDATE (
        account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, account_sealed,
        account_fingerprint
    )
ON bank_detail_versions TO campus_payouts_service;
CREATE POLICY bank_detail_versions_insert ON bank_detail_versions FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('bank_details:own'));
CREATE POLICY bank_detail_versions_select ON bank_detail_versions FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = app_vendor_id() AND app_may('bank_details:own'))
        OR (vendor_id = app_vendor_id() AND app_may('wallet:own'))
        OR app_may('bank_details:read')
        OR app_may('payouts:read')
    );
CREATE POLICY bank_detail_versions_of_resets ON bank_detail_versions FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:reset'));

-- `payouts_from` empty: payable at once.
CREATE TABLE vendor_bank_details (
    vendor_id uuid PRIMARY KEY,
    version_id uuid NOT NULL,
    account_number text,
    last4 text NOT NULL,
    bank_code text NOT NULL,
    account_name text,
    verified boolean NOT NULL,
    reason text,
    check_digit_valid boolean,
    quarantine_reason text,
    updated_at timestamptz NOT NULL,
    account_sealed text,
    account_fingerprint text,
    payouts_from timestamptz,
    CONSTRAINT vendor_bank_details_version FOREIGN KEY (version_id) REFERENCES bank_detail_versions (id),
    CONSTRAINT vendor_bank_details_ten_digits CHECK (account_number ~ '^[0-9]{10}$'),
    CONSTRAINT vendor_bank_details_last4 CHECK (last4 = right(account_number, 4)),
    CONSTRAINT vendor_bank_details_quarantined_unverified CHECK (quarantine_reason IS NULL OR NOT verified),
    CONSTRAINT vendor_bank_details_number_kept_once CHECK (num_nonnulls(account_number, account_sealed) = 1),
    CONSTRAINT vendor_bank_details_sealed_has_fingerprint
        CHECK ((account_sealed IS NULL) = (account_fingerprint IS NULL))
);
CREATE INDEX vendor_bank_details_unsealed ON vendor_bank_details (vendor_id) WHERE account_number IS NOT NULL;
ALTER TABLE vendor_bank_details ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        vendor_id, version_id, last4, bank_code, account_name, verified, reason, check_digit_valid, quarantine_reason,
        updated_at, account_fingerprint, payouts_from
    ),
    INSERT (
        vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid,
        quarantine_reason, updated_at, account_sealed, account_fingerprint, payouts_from
    ),
    UPDATE (
        vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid,
        quarantine_reason, updated_at, account_sealed, account_fingerprint, payouts_from
    )
ON vendor_bank_details TO campus_payouts_api;
CREATE POLICY vendor_bank_details_select ON vendor_bank_details FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = app_vendor_id() AND app_may('bank_details:own'))
        OR (vendor_id = app_vendor_id() AND app_may('wallet:own'))
        OR app_may('bank_details:read')
    );
CREATE POLICY vendor_bank_details_insert ON vendor_bank_details FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('bank_details:own'));
CREATE POLICY vendor_bank_details_update ON vendor_bank_details FOR UPDATE TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('bank_details:own'))
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('bank_details:own'));

-- Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
CREATE TABLE hash_keys (
    name text PRIMARY KEY,
    key_encrypted text NOT NULL
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Payouts and their dispatch
-- ---------------------------------------------------------------------------------------------------------------------

-- `restitution_awaited_since`: the money returns to the wallet once the gateway confirms that it will not be sent.
CREATE TABLE payout_requests (
    id uuid PRIMARY KEY,
    vendor_id uuid NOT NULL,
    amount bigint NOT NULL,
    currency char(3) NOT NULL,
    status text NOT NULL,
    bank_details_version_id uuid NOT NULL,
    requested_by uuid NOT NULL,
    transfer_reference text,
    transfer_code text,
    transfer_failure text,
    retry_count integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    processed_at timestamptz,
    restitution_awaited_since timestamptz,
    restitution_reason text,
    CONSTRAINT payout_requests_bank_details FOREIGN KEY (bank_details_version_id) REFERENCES bank_detail_versions (id),
    CONSTRAINT payout_requests_amount_positive CHECK (amount > 0),
    CONSTRAINT payout_requests_status_known CHECK (status IN ('pending', 'processed', 'failed')),
    CONSTRAINT payout_requests_retry_count_at_most_3 CHECK (retry_count BETWEEN 0 AND 3),
    CONSTRAINT payout_requests_awaited_says_why
        CHECK ((restitution_awaited_since IS NULL) = (restitution_reason IS NULL))
);
CREATE INDEX payout_requests_of_vendor ON payout_requests (vendor_id, created_at DESC);
CREATE INDEX payout_requests_newest ON payout_requests (created_at DESC, id DESC);
CREATE INDEX payout_requests_pending ON payout_requests (created_at, id) WHERE status = 'pending';
ALTER TABLE payout_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payout_requests TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_requests FROM campus_payouts_service;
GRANT
    UPDATE (
        status, transfer_reference, transfer_code, transfer_failure, retry_count, updated_at, processed_at,
        restitution_awaited_since, restitution_reason
    )
ON payout_requests TO campus_payouts_service;
CREATE POLICY payout_requests_select ON payout_requests FOR SELECT TO campus_payouts_api
    USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'));
CREATE POLICY payout_requests_insert ON payout_requests FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
-- Who resets a payout sees the one that was reset.
CREATE POLICY payout_requests_of_resets ON payout_requests FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:reset'));

-- One response for each caller and key, for good (contract section 3).
CREATE TABLE dispatch_batches (
    id uuid PRIMARY KEY,
    dispatched_by uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    fingerprint bytea NOT NULL,
    dry_run boolean NOT NULL,
    gateway_balance_minor bigint NOT NULL,
    answer jsonb,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    remaining integer NOT NULL DEFAULT 0,
    CONSTRAINT dispatch_batches_key_once UNIQUE (dispatched_by, idempotency_key)
);
ALTER TABLE dispatch_batches ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispatch_batches TO campus_payouts_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dispatch_batches FROM campus_payouts_service;
GRANT UPDATE (answer, finished_at, remaining) ON dispatch_batches TO campus_payouts_service;
CREATE POLICY dispatch_batches_select ON dispatch_batches FOR SELECT TO campus_payouts_api
    USING (dispatched_by = app_user_id() AND app_may('payouts:dispatch'));

CREATE TABLE dispatch_lines (
    batch_id uuid NOT NULL,
    payout_id uuid NOT NULL,
    place integer NOT NULL,
    outcome text NOT NULL,
    reason text,
    amount bigint NOT NULL,
    CONSTRAINT dispatch_lines_pkey PRIMARY KEY (batch_id, payout_id),
    CONSTRAINT dispatch_lines_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches (id),
    CONSTRAINT dispatch_lines_outcome_known CHECK (outcome IN ('planned', 'reserved', 'skipped')),
    CONSTRAINT dispatch_lines_skipped_says_why CHECK ((outcome = 'skipped') = (reason IS NOT NULL))
);
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dispatch_lines FROM campus_payouts_service;
GRANT UPDATE (outcome, reason) ON dispatch_lines TO campus_payouts_service;

-- One row for each attempt; its reference is committed before the gateway is called and never changes. An attempt after
-- a reset belongs to no batch.
CREATE TABLE payout_transfers (
    id uuid PRIMARY KEY,
    payout_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    batch_id uuid,
    attempt integer NOT NULL,
    reference text NOT NULL,
    status text NOT NULL,
    amount bigint NOT NULL,
    currency char(3) NOT NULL,
    bank_details_version_id uuid NOT NULL,
    recipient_code text,
    transfer_code text,
    failure text,
    submissions integer NOT NULL DEFAULT 0,
    asks integer NOT NULL DEFAULT 0,
    due_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    called_at timestamptz,
    CONSTRAINT payout_transfers_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
    CONSTRAINT payout_transfers_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches (id),
    CONSTRAINT payout_transfers_bank_details FOREIGN KEY (bank_details_version_id) REFERENCES bank_detail_versions (id),
    CONSTRAINT payout_transfers_reference_once UNIQUE (reference),
    CONSTRAINT payout_transfers_attempt_once UNIQUE (payout_id, attempt),
    CONSTRAINT payout_transfers_reference_shape CHECK (reference ~ '^po-[0-9a-f]{32}$'),
    CONSTRAINT payout_transfers_status_known CHECK (
        status IN (
            'reserved', 'submitting', 'unknown', 'pending', 'received', 'otp', 'success', 'failed', 'rejected',
            'blocked', 'abandoned', 'reversed'
        )
    )
);
CREATE INDEX payout_transfers_due ON payout_transfers (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX payout_transfers_of_batch ON payout_transfers (batch_id);
CREATE INDEX payout_transfers_newest ON payout_transfers (created_at DESC);
ALTER TABLE payout_transfers ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payout_transfers TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_transfers FROM campus_payouts_service;
GRANT
    UPDATE (
        batch_id, status, recipient_code, transfer_code, failure, submissions, asks, due_at, updated_at, called_at
    )
ON payout_transfers TO campus_payouts_service;
CREATE POLICY payout_transfers_select ON payout_transfers FOR SELECT TO campus_payouts_api
    USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'));
-- Staff count attempts and query the gateway for the reference of one in trouble.
CREATE POLICY payout_transfers_select_observed ON payout_transfers FOR SELECT TO campus_payouts_api
    USING (app_may('exceptions:read'));
CREATE POLICY payout_transfers_of_resets ON payout_transfers FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:reset'));

CREATE FUNCTION observations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what the gateway said is never edited' USING ERRCODE = 'restrict_violation';
END $$;

-- What the gateway reported, in the order of arrival. Append-only.
CREATE TABLE transfer_observations (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    heard_from text NOT NULL,
    status text NOT NULL,
    verdict text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    transfer_code text,
    reason text,
    gateway_event_id text,
    observed_at timestamptz NOT NULL,
    CONSTRAINT transfer_observations_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers (id),
    CONSTRAINT transfer_observations_heard_from_known CHECK (heard_from IN ('webhook', 'call', 'query')),
    CONSTRAINT transfer_observations_verdict_known
        CHECK (verdict IN ('advanced', 'confirmed', 'late_success', 'repeated', 'stale', 'contradiction'))
);
CREATE INDEX transfer_observations_of_transfer ON transfer_observations (transfer_id, position);
-- Written once.
REVOKE UPDATE, DELETE ON transfer_observations FROM campus_payouts_service;
CREATE TRIGGER transfer_observations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer_observations
    FOR EACH STATEMENT EXECUTE FUNCTION observations_refuse_change();

-- `place` is the history of the server that wrote it: a server restored to an earlier instant begins another one.
CREATE TABLE transfer_comparison (
    only_one boolean PRIMARY KEY DEFAULT true CONSTRAINT transfer_comparison_only_one CHECK (only_one),
    place text NOT NULL,
    compared_until timestamptz NOT NULL,
    due_at timestamptz
);
INSERT INTO transfer_comparison (place, compared_until)
SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8), now()
FROM pg_control_system();

CREATE TABLE found_transfers (
    reference text PRIMARY KEY,
    transfer_code text,
    status text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    account_last4 text NOT NULL,
    bank_code text NOT NULL,
    created_at timestamptz NOT NULL,
    found_at timestamptz NOT NULL,
    outcome text NOT NULL CONSTRAINT found_transfers_outcome_known CHECK (outcome IN ('open', 'taken', 'explained')),
    payout_id uuid CONSTRAINT found_transfers_payout REFERENCES payout_requests (id),
    evidence text,
    CONSTRAINT found_transfers_taken_names_payout CHECK ((outcome = 'taken') = (payout_id IS NOT NULL)),
    CONSTRAINT found_transfers_explained_says_why CHECK ((outcome = 'explained') = (evidence IS NOT NULL))
);
CREATE INDEX found_transfers_open ON found_transfers (found_at) WHERE outcome = 'open';
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON found_transfers FROM campus_payouts_service;
GRANT UPDATE (status, outcome, payout_id, evidence) ON found_transfers TO campus_payouts_service;

CREATE TABLE payout_schedules (
    vendor_id uuid PRIMARY KEY,
    frequency text NOT NULL,
    weekday text,
    minimum_minor bigint,
    due_at timestamptz,
    changed_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT payout_schedules_frequency_known CHECK (frequency IN ('none', 'daily', 'weekly')),
    CONSTRAINT payout_schedules_weekday_known
        CHECK (weekday IN ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')),
    CONSTRAINT payout_schedules_weekly_has_weekday CHECK ((frequency = 'weekly') = (weekday IS NOT NULL)),
    CONSTRAINT payout_schedules_none_is_never_due CHECK ((frequency = 'none') = (due_at IS NULL)),
    CONSTRAINT payout_schedules_minimum_positive CHECK (minimum_minor > 0)
);
CREATE INDEX payout_schedules_due ON payout_schedules (due_at) WHERE due_at IS NOT NULL;
ALTER TABLE payout_schedules ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON payout_schedules TO campus_payouts_api;
CREATE POLICY payout_schedules_insert ON payout_schedules FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY payout_schedules_update ON payout_schedules FOR UPDATE TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('wallet:own'));
CREATE POLICY payout_schedules_select ON payout_schedules FOR SELECT TO campus_payouts_api
    USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'));

-- One decision for each vendor and period (the due day in Lagos). Decided by the worker only.
CREATE TABLE scheduled_payouts (
    vendor_id uuid NOT NULL,
    period date NOT NULL,
    outcome text NOT NULL,
    reason text,
    payout_id uuid,
    available_minor bigint NOT NULL,
    due_at timestamptz NOT NULL,
    decided_at timestamptz NOT NULL,
    CONSTRAINT scheduled_payouts_pkey PRIMARY KEY (vendor_id, period),
    CONSTRAINT scheduled_payouts_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
    CONSTRAINT scheduled_payouts_outcome_known CHECK (outcome IN ('requested', 'skipped')),
    CONSTRAINT scheduled_payouts_requested_names_payout CHECK ((outcome = 'requested') = (payout_id IS NOT NULL)),
    CONSTRAINT scheduled_payouts_skipped_says_why CHECK ((outcome = 'skipped') = (reason IS NOT NULL))
);
CREATE INDEX scheduled_payouts_skipped ON scheduled_payouts (decided_at) WHERE outcome = 'skipped';
ALTER TABLE scheduled_payouts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON scheduled_payouts TO campus_payouts_api;
CREATE POLICY scheduled_payouts_select ON scheduled_payouts FOR SELECT TO campus_payouts_api
    USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'));

CREATE FUNCTION quarantines_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'who quarantined what is never edited' USING ERRCODE = 'restrict_violation';
END $$;

-- Which account of which vendor was quarantined, by whom and why. Append-only.
CREATE TABLE bank_detail_quarantines (
    id uuid PRIMARY KEY,
    vendor_id uuid NOT NULL,
    version_id uuid NOT NULL,
    account_fingerprint text NOT NULL,
    payout_id uuid,
    reason text NOT NULL,
    quarantined_by uuid NOT NULL,
    quarantined_at timestamptz NOT NULL,
    CONSTRAINT bank_detail_quarantines_version FOREIGN KEY (version_id) REFERENCES bank_detail_versions (id),
    CONSTRAINT bank_detail_quarantines_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id)
);
CREATE INDEX bank_detail_quarantines_of_vendor ON bank_detail_quarantines (vendor_id, quarantined_at);
ALTER TABLE bank_detail_quarantines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON bank_detail_quarantines TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON bank_detail_quarantines FROM campus_payouts_service;
CREATE POLICY bank_detail_quarantines_select ON bank_detail_quarantines FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = app_vendor_id() AND app_may('bank_details:own'))
        OR app_may('bank_details:read')
        OR app_may('payouts:read')
    );
CREATE TRIGGER bank_detail_quarantines_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON bank_detail_quarantines
    FOR EACH STATEMENT EXECUTE FUNCTION quarantines_refuse_change();

-- ---------------------------------------------------------------------------------------------------------------------
-- Exceptions and reconciliations
-- ---------------------------------------------------------------------------------------------------------------------

-- `transfer_id` is the attempt concerned: trouble of an older attempt is not trouble of a newer one.
CREATE TABLE payout_exceptions (
    id uuid PRIMARY KEY,
    payout_id uuid,
    batch_id uuid,
    vendor_id uuid,
    cause text NOT NULL,
    severity text NOT NULL,
    status text NOT NULL,
    detail text NOT NULL,
    amount bigint NOT NULL,
    respond_by timestamptz NOT NULL,
    opened_at timestamptz NOT NULL,
    closed_at timestamptz,
    closed_because text,
    transfer_id uuid CONSTRAINT payout_exceptions_transfer REFERENCES payout_transfers (id),
    CONSTRAINT payout_exceptions_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
    CONSTRAINT payout_exceptions_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches (id),
    CONSTRAINT payout_exceptions_severity_known CHECK (severity IN ('SEV-1', 'SEV-2', 'SEV-3')),
    CONSTRAINT payout_exceptions_status_known CHECK (status IN ('open', 'closed')),
    CONSTRAINT payout_exceptions_closed_says_why
        CHECK ((status = 'closed') = (closed_at IS NOT NULL) AND (status = 'closed') = (closed_because IS NOT NULL)),
    CONSTRAINT payout_exceptions_of_payout_or_batch CHECK (
        num_nonnulls(payout_id, batch_id) = 1
        OR (num_nonnulls(payout_id, batch_id, transfer_id) = 0 AND vendor_id IS NOT NULL)
    )
);
CREATE UNIQUE INDEX payout_exceptions_one_live ON payout_exceptions (payout_id) WHERE status = 'open';
CREATE UNIQUE INDEX payout_exceptions_one_live_of_batch ON payout_exceptions (batch_id) WHERE status = 'open';
CREATE INDEX payout_exceptions_newest ON payout_exceptions (opened_at DESC, id DESC);
CREATE INDEX payout_exceptions_of_vendor ON payout_exceptions (vendor_id, opened_at);
CREATE INDEX payout_exceptions_of_transfer ON payout_exceptions (transfer_id);
CREATE UNIQUE INDEX payout_exceptions_one_live_of_vendor
    ON payout_exceptions (vendor_id)
    WHERE status = 'open' AND payout_id IS NULL AND batch_id IS NULL;
ALTER TABLE payout_exceptions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (cause, severity, respond_by) ON payout_exceptions TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_exceptions FROM campus_payouts_service;
GRANT
    UPDATE (cause, severity, status, respond_by, closed_at, closed_because)
ON payout_exceptions TO campus_payouts_service;
CREATE POLICY payout_exceptions_select ON payout_exceptions FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read') OR app_may('exceptions:read')
    );
CREATE POLICY payout_exceptions_update ON payout_exceptions FOR UPDATE TO campus_payouts_api
    USING (app_may('exceptions:classify'))
    WITH CHECK (app_may('exceptions:classify'));

CREATE FUNCTION exception_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was done about an exception is never edited' USING ERRCODE = 'restrict_violation';
END $$;

-- Who did what about an exception, and its state before and after. `acted_by` empty: the service, after a gateway
-- event.
CREATE TABLE payout_exception_acts (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL,
    exception_id uuid NOT NULL,
    kind text NOT NULL,
    acted_by uuid,
    severity_before text NOT NULL,
    severity_after text NOT NULL,
    cause_before text NOT NULL,
    cause_after text NOT NULL,
    note text NOT NULL,
    acted_at timestamptz NOT NULL,
    CONSTRAINT payout_exception_acts_exception FOREIGN KEY (exception_id) REFERENCES payout_exceptions (id),
    CONSTRAINT payout_exception_acts_kind_known CHECK (kind IN ('classified', 'changed', 'noted', 'closed')),
    CONSTRAINT payout_exception_acts_classified_by_somebody CHECK (kind <> 'classified' OR acted_by IS NOT NULL)
);
CREATE INDEX payout_exception_acts_of_exception ON payout_exception_acts (exception_id, position);
ALTER TABLE payout_exception_acts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payout_exception_acts TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_exception_acts FROM campus_payouts_service;
CREATE POLICY payout_exception_acts_select ON payout_exception_acts FOR SELECT TO campus_payouts_api
    USING (app_may('exceptions:read'));
CREATE POLICY payout_exception_acts_insert ON payout_exception_acts FOR INSERT TO campus_payouts_api
    WITH CHECK (app_may('exceptions:classify') AND acted_by = app_user_id() AND kind = 'classified');
CREATE TRIGGER payout_exception_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payout_exception_acts
    FOR EACH STATEMENT EXECUTE FUNCTION exception_acts_refuse_change();

-- An open alert: several workers raise it once and clear it once. `calm_since` is the start of a quiet time.
CREATE TABLE standing_alerts (
    dedup_key text PRIMARY KEY,
    raised_at timestamptz NOT NULL,
    calm_since timestamptz
);
ALTER TABLE standing_alerts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON standing_alerts TO campus_payouts_api;
CREATE POLICY standing_alerts_select ON standing_alerts FOR SELECT TO campus_payouts_api
    USING (app_may('exceptions:read'));

CREATE TABLE reconciliations (
    id uuid PRIMARY KEY,
    payout_id uuid NOT NULL,
    transfer_id uuid,
    kind text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL,
    postings jsonb NOT NULL,
    hash text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamptz NOT NULL,
    decided_by uuid,
    decided_at timestamptz,
    rejection text,
    CONSTRAINT reconciliations_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
    CONSTRAINT reconciliations_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers (id),
    CONSTRAINT reconciliations_status_known CHECK (status IN ('prepared', 'approved', 'rejected')),
    CONSTRAINT reconciliations_hash_shape CHECK (hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT reconciliations_decided_by_another CHECK (decided_by <> prepared_by),
    CONSTRAINT reconciliations_decided_says_who
        CHECK ((status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)),
    CONSTRAINT reconciliations_rejected_says_why CHECK ((status = 'rejected') = (rejection IS NOT NULL)),
    CONSTRAINT reconciliations_kind_known CHECK (kind IN ('restitution', 'reversal', 'recovery', 'recovery_returned')),
    CONSTRAINT reconciliations_recovery_names_transfer
        CHECK ((kind IN ('recovery', 'recovery_returned')) = (transfer_id IS NOT NULL))
);
CREATE UNIQUE INDEX reconciliations_one_live ON reconciliations (payout_id) WHERE status = 'prepared';
CREATE INDEX reconciliations_newest ON reconciliations (prepared_at DESC, id DESC);
CREATE INDEX reconciliations_of_payout ON reconciliations (payout_id);
CREATE UNIQUE INDEX reconciliations_returned_once
    ON reconciliations (payout_id)
    WHERE status = 'approved' AND transfer_id IS NULL;
CREATE UNIQUE INDEX reconciliations_recovered_once ON reconciliations (transfer_id, kind) WHERE status = 'approved';
ALTER TABLE reconciliations ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON reconciliations TO campus_payouts_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON reconciliations FROM campus_payouts_service;
GRANT UPDATE (status, reason, decided_by, decided_at, rejection) ON reconciliations TO campus_payouts_service;
CREATE POLICY reconciliations_select ON reconciliations FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:read'));

CREATE FUNCTION payout_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'who did what to a payout is never edited' USING ERRCODE = 'restrict_violation';
END $$;

-- Who reset, prepared, approved, rejected or cancelled, and when. Append-only.
CREATE TABLE payout_acts (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payout_id uuid NOT NULL,
    reconciliation_id uuid,
    act text NOT NULL,
    acted_by uuid NOT NULL,
    reason text NOT NULL,
    acted_at timestamptz NOT NULL,
    CONSTRAINT payout_acts_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
    CONSTRAINT payout_acts_reconciliation FOREIGN KEY (reconciliation_id) REFERENCES reconciliations (id),
    CONSTRAINT payout_acts_act_known CHECK (act IN ('reset', 'prepared', 'approved', 'rejected', 'cancelled')),
    CONSTRAINT payout_acts_of_reconciliation CHECK ((act IN ('reset', 'cancelled')) = (reconciliation_id IS NULL))
);
CREATE INDEX payout_acts_of_payout ON payout_acts (payout_id, position);
ALTER TABLE payout_acts ENABLE ROW LEVEL SECURITY;
-- Written once.
REVOKE UPDATE, DELETE ON payout_acts FROM campus_payouts_service;
CREATE TRIGGER payout_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payout_acts
    FOR EACH STATEMENT EXECUTE FUNCTION payout_acts_refuse_change();

-- ---------------------------------------------------------------------------------------------------------------------
-- Ledger: the tables are made by create_ledger_v1
-- ---------------------------------------------------------------------------------------------------------------------

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
