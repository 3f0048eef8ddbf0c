-- Generated from the migrated database by `make schemas`. Do not edit: tables/ and migrations/sql are the source.
-- Every table, view and sequence belongs to campus_identity_owner. PostgreSQL 15 wrote the expressions.

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

CREATE OR REPLACE FUNCTION public.staff_acts_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'the trail of staff acts is append-only' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.vendors_refuse_unapproved_commission()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF NOT EXISTS (
        SELECT FROM (
            SELECT basis_points FROM commission_changes WHERE vendor_id = NEW.id AND status = 'approved'
            ORDER BY decided_at DESC, id DESC LIMIT 1
        ) AS newest WHERE newest.basis_points IS NOT DISTINCT FROM NEW.commission_basis_points
    ) THEN
        RAISE EXCEPTION 'a commission is changed by an approved commission change only'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.vendors_set_role_of_owner()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    owner_role text := CASE NEW.status WHEN 'closed' THEN 'buyer' ELSE 'merchant' END;
BEGIN
    -- A suspension changes no role and must not lock the profile: an erasure locks it before the vendor.
    UPDATE profiles SET role = owner_role WHERE id = NEW.owner_user_id AND role <> owner_role;
    RETURN NULL;
END $function$;

CREATE TABLE accounts (
    user_id uuid NOT NULL,
    email text,
    password_hash text,
    code_failures integer DEFAULT 0 NOT NULL,
    code_blocked_until timestamp with time zone,
    repeated_sign_ups integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (user_id),
    CONSTRAINT accounts_email_once UNIQUE (email),
    CONSTRAINT accounts_profile FOREIGN KEY (user_id) REFERENCES profiles(id)
);
ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON accounts TO campus_identity_service;

CREATE TABLE api_keys (
    id uuid NOT NULL,
    key_hash bytea NOT NULL,
    hint text NOT NULL,
    name text NOT NULL,
    vendor_id uuid,
    scopes text[] NOT NULL,
    networks text[] NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    warned_at timestamp with time zone,
    revoked_at timestamp with time zone,
    revoked_by uuid,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_hash_once UNIQUE (key_hash),
    CONSTRAINT api_keys_creator FOREIGN KEY (created_by) REFERENCES profiles(id),
    CONSTRAINT api_keys_vendor FOREIGN KEY (vendor_id) REFERENCES vendors(id),
    CONSTRAINT api_keys_expire_in_a_year CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '366 days'::interval)))),
    CONSTRAINT api_keys_have_a_scope CHECK ((cardinality(scopes) > 0)),
    CONSTRAINT api_keys_revoked_by_a_person CHECK (((revoked_at IS NULL) = (revoked_by IS NULL)))
);
CREATE INDEX api_keys_by_expiry ON api_keys USING btree (expires_at);
CREATE INDEX api_keys_newest ON api_keys USING btree (created_at, id);
CREATE INDEX api_keys_of_creator ON api_keys USING btree (created_by);
CREATE INDEX api_keys_of_vendor ON api_keys USING btree (vendor_id);
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, hint, name, vendor_id, scopes, networks, created_by, created_at, expires_at, last_used_at, revoked_at, revoked_by) ON api_keys TO campus_identity_api;
GRANT SELECT, INSERT, DELETE, UPDATE (last_used_at, warned_at, revoked_at, revoked_by) ON api_keys TO campus_identity_service;
CREATE POLICY api_keys_read ON api_keys FOR SELECT
    USING ((app_may('api_keys:manage'::text) OR (app_may('api_keys:own'::text) AND (vendor_id = app_vendor_id()))));

CREATE TABLE campuses (
    id uuid NOT NULL,
    name text NOT NULL,
    domain text,
    active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    CONSTRAINT campuses_pkey PRIMARY KEY (id),
    CONSTRAINT campuses_domain_once UNIQUE (domain)
);
CREATE INDEX campuses_oldest ON campuses USING btree (created_at, id);
ALTER TABLE campuses ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (name, active, revision) ON campuses TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON campuses TO campus_identity_service;
CREATE POLICY campuses_change ON campuses FOR UPDATE
    USING ((app_may('campuses:manage_all'::text) OR (app_may('campuses:manage'::text) AND (id = app_campus_id()))));
CREATE POLICY campuses_open ON campuses FOR INSERT
    WITH CHECK (app_may('campuses:manage_all'::text));
CREATE POLICY campuses_read ON campuses FOR SELECT
    USING ((active OR app_may('campuses:manage_all'::text) OR (app_may('campuses:manage'::text) AND (id = app_campus_id())) OR app_may('campuses:read'::text)));

CREATE TABLE code_tries (
    code_id uuid NOT NULL,
    source_hash bytea NOT NULL,
    tries integer NOT NULL,
    CONSTRAINT code_tries_pkey PRIMARY KEY (code_id, source_hash),
    CONSTRAINT code_tries_code FOREIGN KEY (code_id) REFERENCES issued_codes(id) ON DELETE CASCADE,
    CONSTRAINT code_tries_at_most_5 CHECK (((tries >= 1) AND (tries <= 5)))
);
ALTER TABLE code_tries ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON code_tries TO campus_identity_service;

CREATE TABLE commission_changes (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    before_basis_points integer,
    basis_points integer,
    status text DEFAULT 'prepared'::text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    rejection text,
    CONSTRAINT commission_changes_pkey PRIMARY KEY (id),
    CONSTRAINT commission_changes_vendor FOREIGN KEY (vendor_id) REFERENCES vendors(id),
    CONSTRAINT commission_changes_basis_points_bounded CHECK (((basis_points >= 0) AND (basis_points <= 10000))),
    CONSTRAINT commission_changes_by_two CHECK (((status <> 'approved'::text) OR (decided_by <> prepared_by))),
    CONSTRAINT commission_changes_change_something CHECK ((basis_points IS DISTINCT FROM before_basis_points)),
    CONSTRAINT commission_changes_decided_by_somebody CHECK ((((status = ANY (ARRAY['approved'::text, 'rejected'::text])) = (decided_by IS NOT NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT commission_changes_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text, 'expired'::text])))
);
CREATE INDEX commission_changes_newest ON commission_changes USING btree (prepared_at, id);
CREATE INDEX commission_changes_of_vendor ON commission_changes USING btree (vendor_id, prepared_at, id);
CREATE UNIQUE INDEX commission_changes_one_open ON commission_changes USING btree (vendor_id) WHERE (status = 'prepared'::text);
CREATE INDEX commission_changes_open_by ON commission_changes USING btree (prepared_by) WHERE (status = 'prepared'::text);
ALTER TABLE commission_changes ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON commission_changes TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON commission_changes TO campus_identity_service;
CREATE POLICY commission_changes_read ON commission_changes FOR SELECT
    USING ((app_may('vendors:commission'::text) OR app_may('vendors:read'::text)));

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
GRANT SELECT, INSERT ON dead_letter_actions TO campus_identity_service;

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
GRANT SELECT, INSERT ON dead_letter_closures TO campus_identity_service;

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
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letters TO campus_identity_service;

CREATE TABLE erased_mailboxes (
    mailbox_hash bytea NOT NULL,
    erased_at timestamp with time zone NOT NULL,
    CONSTRAINT erased_mailboxes_pkey PRIMARY KEY (mailbox_hash)
);
ALTER TABLE erased_mailboxes ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON erased_mailboxes TO campus_identity_service;

CREATE TABLE erasure_requests (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    vendor_id uuid,
    status text DEFAULT 'asked'::text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT erasure_requests_pkey PRIMARY KEY (id),
    CONSTRAINT erasure_requests_user FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT erasure_requests_vendor FOREIGN KEY (vendor_id) REFERENCES vendors(id),
    CONSTRAINT erasure_requests_decided_or_open CHECK (((status = 'asked'::text) = (decided_at IS NULL))),
    CONSTRAINT erasure_requests_status_known CHECK ((status = ANY (ARRAY['asked'::text, 'refused'::text, 'done'::text])))
);
CREATE INDEX erasure_requests_of_user ON erasure_requests USING btree (user_id, asked_at, id);
CREATE UNIQUE INDEX erasure_requests_one_open ON erasure_requests USING btree (user_id) WHERE (status = 'asked'::text);
ALTER TABLE erasure_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON erasure_requests TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON erasure_requests TO campus_identity_service;
CREATE POLICY erasure_requests_own ON erasure_requests FOR SELECT
    USING ((user_id = app_user_id()));

CREATE TABLE erasure_verdicts (
    request_id uuid NOT NULL,
    service text NOT NULL,
    open_matters text[] NOT NULL,
    heard_at timestamp with time zone NOT NULL,
    CONSTRAINT erasure_verdicts_pkey PRIMARY KEY (request_id, service),
    CONSTRAINT erasure_verdicts_request FOREIGN KEY (request_id) REFERENCES erasure_requests(id)
);
ALTER TABLE erasure_verdicts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON erasure_verdicts TO campus_identity_api;
GRANT SELECT, INSERT ON erasure_verdicts TO campus_identity_service;
CREATE POLICY erasure_verdicts_own ON erasure_verdicts FOR SELECT
    USING ((EXISTS ( SELECT
   FROM erasure_requests asked
  WHERE ((asked.id = erasure_verdicts.request_id) AND (asked.user_id = app_user_id())))));

CREATE TABLE factor_resets (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    reason text NOT NULL,
    status text DEFAULT 'prepared'::text NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    CONSTRAINT factor_resets_pkey PRIMARY KEY (id),
    CONSTRAINT factor_resets_profile FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT factor_resets_by_others CHECK (((user_id <> prepared_by) AND (user_id IS DISTINCT FROM decided_by))),
    CONSTRAINT factor_resets_by_two CHECK (((status <> 'approved'::text) OR (decided_by <> prepared_by))),
    CONSTRAINT factor_resets_decided_whole CHECK ((((status = ANY (ARRAY['approved'::text, 'rejected'::text])) = (decided_by IS NOT NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT factor_resets_status_known CHECK ((status = ANY (ARRAY['prepared'::text, 'approved'::text, 'rejected'::text, 'expired'::text])))
);
CREATE INDEX factor_resets_newest ON factor_resets USING btree (prepared_at, id);
CREATE UNIQUE INDEX factor_resets_one_open ON factor_resets USING btree (user_id) WHERE (status = 'prepared'::text);
ALTER TABLE factor_resets ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON factor_resets TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE (reason, status, decided_by, decided_at) ON factor_resets TO campus_identity_service;
CREATE POLICY factor_resets_read ON factor_resets FOR SELECT
    USING ((app_may('factor_resets:prepare'::text) OR app_may('factor_resets:approve'::text) OR app_may('staff:read'::text)));

CREATE TABLE hash_keys (
    name text NOT NULL,
    key_encrypted text NOT NULL,
    CONSTRAINT hash_keys_pkey PRIMARY KEY (name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON hash_keys TO campus_identity_service;

CREATE TABLE hubs (
    id uuid NOT NULL,
    campus_id uuid NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    opening_hours jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT hubs_pkey PRIMARY KEY (id),
    CONSTRAINT hubs_campus FOREIGN KEY (campus_id) REFERENCES campuses(id),
    CONSTRAINT hubs_fee_not_negative CHECK ((delivery_fee_minor >= 0))
);
CREATE INDEX hubs_of_campus ON hubs USING btree (campus_id, created_at, id);
ALTER TABLE hubs ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (name, address, delivery_fee_minor, active, revision, opening_hours) ON hubs TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON hubs TO campus_identity_service;
CREATE POLICY hubs_change ON hubs FOR UPDATE
    USING ((app_may('campuses:manage_all'::text) OR (app_may('campuses:manage'::text) AND (campus_id = app_campus_id()))));
CREATE POLICY hubs_open ON hubs FOR INSERT
    WITH CHECK ((app_may('campuses:manage_all'::text) OR (app_may('campuses:manage'::text) AND (campus_id = app_campus_id()))));
CREATE POLICY hubs_read ON hubs FOR SELECT
    USING ((active OR app_may('campuses:manage_all'::text) OR (app_may('campuses:manage'::text) AND (campus_id = app_campus_id())) OR app_may('campuses:read'::text)));

CREATE TABLE inbox (
    event_id uuid NOT NULL,
    consumer text NOT NULL,
    handled_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT inbox_pkey PRIMARY KEY (event_id, consumer)
);
CREATE INDEX inbox_handled ON inbox USING btree (handled_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON inbox TO campus_identity_service;

CREATE TABLE issued_codes (
    id uuid NOT NULL,
    purpose text NOT NULL,
    address_hash bytea NOT NULL,
    source_hash bytea NOT NULL,
    code_hash bytea NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    used_at timestamp with time zone,
    user_id uuid,
    CONSTRAINT issued_codes_pkey PRIMARY KEY (id),
    CONSTRAINT issued_codes_account FOREIGN KEY (user_id) REFERENCES accounts(user_id),
    CONSTRAINT issued_codes_purpose_known CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'password_reset'::text, 'already_registered'::text]))),
    CONSTRAINT issued_codes_tries_at_most_30 CHECK (((tries >= 0) AND (tries <= 30)))
);
CREATE INDEX issued_codes_of_address ON issued_codes USING btree (address_hash, purpose, expires_at);
CREATE INDEX issued_codes_of_reset ON issued_codes USING btree (code_hash) WHERE (purpose = 'password_reset'::text);
CREATE INDEX issued_codes_of_user ON issued_codes USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE INDEX issued_codes_oldest ON issued_codes USING btree (issued_at);
ALTER TABLE issued_codes ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON issued_codes TO campus_identity_service;

CREATE TABLE login_failures (
    address_hash bytea NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamp with time zone NOT NULL,
    CONSTRAINT login_failures_pkey PRIMARY KEY (address_hash),
    CONSTRAINT login_failures_counted CHECK ((failures > 0))
);
CREATE INDEX login_failures_oldest ON login_failures USING btree (last_failed_at);
ALTER TABLE login_failures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON login_failures TO campus_identity_service;

CREATE TABLE message_counts (
    subject_hash bytea NOT NULL,
    window_ends_at timestamp with time zone NOT NULL,
    messages integer NOT NULL,
    CONSTRAINT message_counts_pkey PRIMARY KEY (subject_hash),
    CONSTRAINT message_counts_messages_not_negative CHECK ((messages >= 0))
);
CREATE INDEX message_counts_oldest ON message_counts USING btree (window_ends_at);
ALTER TABLE message_counts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON message_counts TO campus_identity_service;

CREATE TABLE oidc_codes (
    code_hash bytea NOT NULL,
    user_id uuid NOT NULL,
    issuer text NOT NULL,
    sub text NOT NULL,
    sid text,
    stepped_up_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    code_challenge text,
    CONSTRAINT oidc_codes_pkey PRIMARY KEY (code_hash),
    CONSTRAINT oidc_codes_account FOREIGN KEY (user_id) REFERENCES accounts(user_id)
);
CREATE INDEX oidc_codes_expiry ON oidc_codes USING btree (expires_at);
CREATE INDEX oidc_codes_of_user ON oidc_codes USING btree (user_id);
ALTER TABLE oidc_codes ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON oidc_codes TO campus_identity_service;

CREATE TABLE oidc_flows (
    state_hash bytea NOT NULL,
    provider text NOT NULL,
    return_to text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    code_challenge text,
    CONSTRAINT oidc_flows_pkey PRIMARY KEY (state_hash)
);
CREATE INDEX oidc_flows_expiry ON oidc_flows USING btree (expires_at);
ALTER TABLE oidc_flows ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON oidc_flows TO campus_identity_service;

CREATE TABLE oidc_links (
    issuer text NOT NULL,
    sub text NOT NULL,
    user_id uuid NOT NULL,
    linked_at timestamp with time zone NOT NULL,
    CONSTRAINT oidc_links_pkey PRIMARY KEY (issuer, sub),
    CONSTRAINT oidc_links_one_of_issuer UNIQUE (user_id, issuer),
    CONSTRAINT oidc_links_account FOREIGN KEY (user_id) REFERENCES accounts(user_id)
);
ALTER TABLE oidc_links ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON oidc_links TO campus_identity_service;

CREATE TABLE oidc_logouts (
    token_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT oidc_logouts_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX oidc_logouts_expiry ON oidc_logouts USING btree (expires_at);
ALTER TABLE oidc_logouts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON oidc_logouts TO campus_identity_service;

CREATE TABLE oidc_sessions (
    session_id uuid NOT NULL,
    issuer text NOT NULL,
    sub text NOT NULL,
    sid text,
    CONSTRAINT oidc_sessions_pkey PRIMARY KEY (session_id),
    CONSTRAINT oidc_sessions_session FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
);
CREATE INDEX oidc_sessions_of_sid ON oidc_sessions USING btree (issuer, sid) WHERE (sid IS NOT NULL);
CREATE INDEX oidc_sessions_of_subject ON oidc_sessions USING btree (issuer, sub);
ALTER TABLE oidc_sessions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON oidc_sessions TO campus_identity_service;

CREATE TABLE one_time_codes (
    purpose text NOT NULL,
    address_hash bytea NOT NULL,
    id uuid NOT NULL,
    code_hash bytea NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    used_at timestamp with time zone,
    hour_began_at timestamp with time zone NOT NULL,
    issued_in_hour integer DEFAULT 1 NOT NULL,
    day_began_at timestamp with time zone NOT NULL,
    issued_in_day integer DEFAULT 1 NOT NULL,
    user_id uuid,
    CONSTRAINT one_time_codes_pkey PRIMARY KEY (purpose, address_hash),
    CONSTRAINT one_time_codes_account FOREIGN KEY (user_id) REFERENCES accounts(user_id),
    CONSTRAINT one_time_codes_purpose_known CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'password_reset'::text, 'already_registered'::text]))),
    CONSTRAINT one_time_codes_tries_at_most_5 CHECK (((tries >= 0) AND (tries <= 5)))
);
CREATE UNIQUE INDEX one_time_codes_id_once ON one_time_codes USING btree (id);
CREATE INDEX one_time_codes_issued ON one_time_codes USING btree (issued_at);
CREATE INDEX one_time_codes_of_reset ON one_time_codes USING btree (code_hash) WHERE (purpose = 'password_reset'::text);
CREATE INDEX one_time_codes_of_user ON one_time_codes USING btree (user_id) WHERE (user_id IS NOT NULL);
ALTER TABLE one_time_codes ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON one_time_codes TO campus_identity_service;

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
GRANT INSERT ON outbox TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO campus_identity_service;

CREATE TABLE outbox_sequences (
    subject text NOT NULL,
    last bigint NOT NULL,
    used_at timestamp with time zone DEFAULT date_trunc('day'::text, now()) NOT NULL,
    CONSTRAINT outbox_sequences_pkey PRIMARY KEY (subject)
);
CREATE INDEX outbox_sequences_idle ON outbox_sequences USING btree (used_at);
GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_sequences TO campus_identity_service;

CREATE TABLE passkey_challenges (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    session_id uuid NOT NULL,
    purpose text NOT NULL,
    challenge bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT passkey_challenges_pkey PRIMARY KEY (id),
    CONSTRAINT passkey_challenges_account FOREIGN KEY (user_id) REFERENCES accounts(user_id),
    CONSTRAINT passkey_challenges_purpose_known CHECK ((purpose = ANY (ARRAY['registration'::text, 'assertion'::text])))
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges USING btree (expires_at);
CREATE INDEX passkey_challenges_of_user ON passkey_challenges USING btree (user_id, created_at, id);
ALTER TABLE passkey_challenges ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON passkey_challenges TO campus_identity_service;

CREATE TABLE passkeys (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT passkeys_pkey PRIMARY KEY (id),
    CONSTRAINT passkeys_credential_once UNIQUE (credential_id),
    CONSTRAINT passkeys_account FOREIGN KEY (user_id) REFERENCES accounts(user_id),
    CONSTRAINT passkeys_sign_count_not_negative CHECK ((sign_count >= 0))
);
CREATE INDEX passkeys_of_user ON passkeys USING btree (user_id);
ALTER TABLE passkeys ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON passkeys TO campus_identity_service;

CREATE TABLE profiles (
    id uuid NOT NULL,
    email text NOT NULL,
    mailbox text NOT NULL,
    phone text,
    full_name text,
    campus_id uuid,
    referral_token text NOT NULL,
    referral_applied boolean DEFAULT false NOT NULL,
    referral_reward_minor bigint DEFAULT 0 NOT NULL,
    referral_reason text,
    revision integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    confirmed_email text,
    confirmed_phone text,
    erased_at timestamp with time zone,
    role text DEFAULT 'buyer'::text NOT NULL,
    CONSTRAINT profiles_pkey PRIMARY KEY (id),
    CONSTRAINT profiles_referral_token_once UNIQUE (referral_token),
    CONSTRAINT profiles_campus FOREIGN KEY (campus_id) REFERENCES campuses(id),
    CONSTRAINT profiles_erased_tell_nothing CHECK (((erased_at IS NULL) OR ((email = ''::text) AND (mailbox = ''::text) AND (num_nonnulls(phone, full_name, confirmed_email, confirmed_phone) = 0)))),
    CONSTRAINT profiles_reward_only_when_applied CHECK ((referral_applied OR (referral_reward_minor = 0))),
    CONSTRAINT profiles_role_known CHECK ((role = ANY (ARRAY['buyer'::text, 'merchant'::text])))
);
CREATE UNIQUE INDEX profiles_confirmed_phone_once ON profiles USING btree (confirmed_phone) WHERE (confirmed_phone IS NOT NULL);
CREATE INDEX profiles_of_mailbox ON profiles USING btree (mailbox);
CREATE INDEX profiles_of_phone ON profiles USING btree (phone) WHERE (phone IS NOT NULL);
ALTER TABLE profiles ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (phone, full_name, revision, updated_at) ON profiles TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON profiles TO campus_identity_service;
CREATE POLICY profiles_change_own ON profiles FOR UPDATE
    USING (((erased_at IS NULL) AND (id = app_user_id())));
CREATE POLICY profiles_read_own ON profiles FOR SELECT
    USING (((erased_at IS NULL) AND ((id = app_user_id()) OR app_may('staff:read'::text))));

CREATE TABLE recovery_codes (
    user_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
    CONSTRAINT recovery_codes_account FOREIGN KEY (user_id) REFERENCES accounts(user_id)
);
ALTER TABLE recovery_codes ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON recovery_codes TO campus_identity_service;

CREATE TABLE referrals (
    user_id uuid NOT NULL,
    referrer_id uuid NOT NULL,
    mailbox text NOT NULL,
    reward_minor bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT referrals_pkey PRIMARY KEY (user_id),
    CONSTRAINT referrals_mailbox_once UNIQUE (mailbox),
    CONSTRAINT referrals_referrer FOREIGN KEY (referrer_id) REFERENCES profiles(id),
    CONSTRAINT referrals_user FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT referrals_never_of_oneself CHECK ((user_id <> referrer_id)),
    CONSTRAINT referrals_reward_not_negative CHECK ((reward_minor >= 0))
);
CREATE INDEX referrals_of_referrer ON referrals USING btree (referrer_id);
ALTER TABLE referrals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON referrals TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON referrals TO campus_identity_service;
CREATE POLICY referrals_read_own ON referrals FOR SELECT
    USING ((referrer_id = app_user_id()));

CREATE TABLE refresh_tokens (
    token_hash bytea NOT NULL,
    session_id uuid NOT NULL,
    stepped_up_at timestamp with time zone,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    stepped_up_by text,
    stepped_up_factor_id uuid,
    CONSTRAINT refresh_tokens_pkey PRIMARY KEY (token_hash),
    CONSTRAINT refresh_tokens_session FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
    CONSTRAINT refresh_tokens_step_up_has_a_time CHECK (((stepped_up_by IS NULL) OR (stepped_up_at IS NOT NULL))),
    CONSTRAINT refresh_tokens_step_up_known CHECK ((stepped_up_by = ANY (ARRAY['totp'::text, 'passkey'::text, 'recovery_code'::text, 'mfa/oidc'::text])))
);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens USING btree (expires_at);
CREATE INDEX refresh_tokens_of_session ON refresh_tokens USING btree (session_id);
ALTER TABLE refresh_tokens ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON refresh_tokens TO campus_identity_service;

CREATE TABLE role_grants (
    user_id uuid NOT NULL,
    role text NOT NULL,
    campus_id uuid,
    hub_id uuid,
    granted_by uuid,
    granted_at timestamp with time zone NOT NULL,
    CONSTRAINT role_grants_pkey PRIMARY KEY (user_id, role),
    CONSTRAINT role_grants_campus FOREIGN KEY (campus_id) REFERENCES campuses(id),
    CONSTRAINT role_grants_hub FOREIGN KEY (hub_id) REFERENCES hubs(id),
    CONSTRAINT role_grants_user FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT role_grants_role_known CHECK ((role = ANY (ARRAY['buyer'::text, 'merchant'::text, 'hub_agent'::text, 'support_agent'::text, 'campus_admin'::text, 'finance_maker'::text, 'finance_checker'::text, 'ops_oncall'::text, 'auditor'::text, 'platform_admin'::text])))
);
CREATE UNIQUE INDEX role_grants_maker_checker_or_admin ON role_grants USING btree (user_id) WHERE (role = ANY (ARRAY['finance_maker'::text, 'finance_checker'::text, 'platform_admin'::text]));
CREATE INDEX role_grants_of_role ON role_grants USING btree (role);
CREATE UNIQUE INDEX role_grants_on_call_or_admin ON role_grants USING btree (user_id) WHERE (role = ANY (ARRAY['ops_oncall'::text, 'platform_admin'::text]));
ALTER TABLE role_grants ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON role_grants TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON role_grants TO campus_identity_service;
CREATE POLICY role_grants_read_own ON role_grants FOR SELECT
    USING (((user_id = app_user_id()) OR app_may('staff:read'::text)));

CREATE TABLE saved_views (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    path text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT saved_views_pkey PRIMARY KEY (id),
    CONSTRAINT saved_views_name_once_per_list UNIQUE (user_id, path, name),
    CONSTRAINT saved_views_user FOREIGN KEY (user_id) REFERENCES profiles(id)
);
ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON saved_views TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_views TO campus_identity_service;
CREATE POLICY saved_views_of_their_person ON saved_views FOR SELECT
    USING ((user_id = app_user_id()));

CREATE TABLE session_revocations (
    user_id uuid NOT NULL,
    session_id uuid,
    not_before timestamp with time zone NOT NULL,
    heard_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX session_revocations_heard ON session_revocations USING btree (heard_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON session_revocations TO campus_identity_service;

CREATE TABLE sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    signed_in_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    ended_because text,
    method text DEFAULT 'password'::text NOT NULL,
    user_agent text,
    issuer text,
    without_staff_roles boolean DEFAULT false NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_account FOREIGN KEY (user_id) REFERENCES accounts(user_id),
    CONSTRAINT sessions_end_has_a_reason CHECK (((ended_at IS NULL) = (ended_because IS NULL)))
);
CREATE INDEX sessions_of_issuers ON sessions USING btree (issuer) WHERE (issuer IS NOT NULL);
CREATE INDEX sessions_of_user ON sessions USING btree (user_id);
CREATE INDEX sessions_oldest ON sessions USING btree (signed_in_at);
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions TO campus_identity_service;

CREATE TABLE shop_invitations (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    invited_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT shop_invitations_pkey PRIMARY KEY (id),
    CONSTRAINT shop_invitations_one_of_address UNIQUE (vendor_id, email),
    CONSTRAINT shop_invitations_vendor FOREIGN KEY (vendor_id) REFERENCES vendors(id),
    CONSTRAINT shop_invitations_expire_in_a_week CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '8 days'::interval)))),
    CONSTRAINT shop_invitations_role_known CHECK ((role = ANY (ARRAY['manager'::text, 'packer'::text])))
);
CREATE INDEX shop_invitations_by_expiry ON shop_invitations USING btree (expires_at);
CREATE INDEX shop_invitations_of_email ON shop_invitations USING btree (email);
ALTER TABLE shop_invitations ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON shop_invitations TO campus_identity_service;

CREATE TABLE shop_members (
    user_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    role text NOT NULL,
    added_by uuid NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    CONSTRAINT shop_members_pkey PRIMARY KEY (user_id),
    CONSTRAINT shop_members_user FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT shop_members_vendor FOREIGN KEY (vendor_id) REFERENCES vendors(id),
    CONSTRAINT shop_members_never_added_by_themselves CHECK ((added_by <> user_id)),
    CONSTRAINT shop_members_role_known CHECK ((role = ANY (ARRAY['manager'::text, 'packer'::text])))
);
CREATE INDEX shop_members_of_vendor ON shop_members USING btree (vendor_id, joined_at, user_id);
ALTER TABLE shop_members ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON shop_members TO campus_identity_service;

CREATE TABLE sign_up_passwords (
    address_hash bytea NOT NULL,
    password_digest bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT sign_up_passwords_pkey PRIMARY KEY (address_hash, password_digest)
);
CREATE INDEX sign_up_passwords_oldest ON sign_up_passwords USING btree (created_at);
ALTER TABLE sign_up_passwords ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON sign_up_passwords TO campus_identity_service;

CREATE TABLE signing_keys (
    kid text NOT NULL,
    public_key jsonb NOT NULL,
    private_key_sealed text,
    created_at timestamp with time zone NOT NULL,
    signs_from timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    retired_because text,
    CONSTRAINT signing_keys_pkey PRIMARY KEY (kid),
    CONSTRAINT signing_keys_retired_cannot_sign CHECK (((retired_at IS NULL) = (private_key_sealed IS NOT NULL))),
    CONSTRAINT signing_keys_retired_for_a_reason CHECK ((((retired_at IS NULL) = (retired_because IS NULL)) AND (retired_because = ANY (ARRAY['superseded'::text, 'compromised'::text]))))
);
ALTER TABLE signing_keys ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON signing_keys TO campus_identity_service;

CREATE TABLE staff_acts (
    id uuid NOT NULL,
    actor_id uuid,
    act text NOT NULL,
    subject_kind text NOT NULL,
    subject_id uuid NOT NULL,
    detail jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT staff_acts_pkey PRIMARY KEY (id)
);
CREATE INDEX staff_acts_newest ON staff_acts USING btree (created_at, id);
CREATE INDEX staff_acts_of_actor ON staff_acts USING btree (actor_id, created_at, id);
CREATE INDEX staff_acts_of_subject ON staff_acts USING btree (subject_id, created_at, id);
ALTER TABLE staff_acts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON staff_acts TO campus_identity_api;
GRANT SELECT, INSERT ON staff_acts TO campus_identity_service;
CREATE POLICY staff_acts_own ON staff_acts FOR INSERT
    WITH CHECK ((actor_id = app_user_id()));
CREATE POLICY staff_acts_read ON staff_acts FOR SELECT
    USING (app_may('staff:read'::text));
CREATE TRIGGER staff_acts_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON staff_acts FOR EACH STATEMENT EXECUTE FUNCTION staff_acts_refuse_change();

CREATE TABLE staff_grants (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    status text DEFAULT 'prepared'::text NOT NULL,
    prepared_by uuid,
    prepared_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    proposed_by text,
    CONSTRAINT staff_grants_pkey PRIMARY KEY (id),
    CONSTRAINT staff_grants_user FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT staff_grants_approved_by_a_second_person CHECK (((status <> 'approved'::text) OR ((decided_by <> prepared_by) AND (decided_by <> user_id)))),
    CONSTRAINT staff_grants_decided_by_somebody CHECK ((((status = ANY (ARRAY['approved'::text, 'rejected'::text])) = (decided_by IS NOT NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
    CONSTRAINT staff_grants_never_to_oneself CHECK ((prepared_by <> user_id)),
    CONSTRAINT staff_grants_prepared_by_an_admin CHECK (
CASE
    WHEN (prepared_by IS NULL) THEN ((proposed_by IS NOT NULL) AND (status = ANY (ARRAY['proposed'::text, 'rejected'::text, 'expired'::text])))
    ELSE (status <> 'proposed'::text)
END),
    CONSTRAINT staff_grants_status_known CHECK ((status = ANY (ARRAY['proposed'::text, 'prepared'::text, 'approved'::text, 'rejected'::text, 'expired'::text])))
);
CREATE INDEX staff_grants_newest ON staff_grants USING btree (prepared_at, id);
CREATE UNIQUE INDEX staff_grants_one_open ON staff_grants USING btree (user_id, role) WHERE (status = 'prepared'::text);
CREATE UNIQUE INDEX staff_grants_one_proposed ON staff_grants USING btree (user_id, role) WHERE (status = 'proposed'::text);
CREATE INDEX staff_grants_open_by ON staff_grants USING btree (prepared_by) WHERE (status = 'prepared'::text);
ALTER TABLE staff_grants ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON staff_grants TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE (status, prepared_by, prepared_at, expires_at, decided_by, decided_at) ON staff_grants TO campus_identity_service;
CREATE POLICY staff_grants_read ON staff_grants FOR SELECT
    USING (app_may('staff:read'::text));

CREATE TABLE suspensions (
    user_id uuid NOT NULL,
    suspended_by uuid NOT NULL,
    suspended_at timestamp with time zone NOT NULL,
    reason text,
    CONSTRAINT suspensions_pkey PRIMARY KEY (user_id),
    CONSTRAINT suspensions_user FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT suspensions_never_of_oneself CHECK ((suspended_by <> user_id))
);
ALTER TABLE suspensions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON suspensions TO campus_identity_service;

CREATE TABLE totp_factors (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    secret_sealed text NOT NULL,
    last_counter bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    name text,
    last_used_at timestamp with time zone,
    CONSTRAINT totp_factors_pkey PRIMARY KEY (id),
    CONSTRAINT totp_factors_account FOREIGN KEY (user_id) REFERENCES accounts(user_id)
);
CREATE INDEX totp_factors_of_user ON totp_factors USING btree (user_id);
ALTER TABLE totp_factors ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON totp_factors TO campus_identity_service;

CREATE TABLE vendor_applications (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    business_name text NOT NULL,
    legal_name text NOT NULL,
    campus_id uuid NOT NULL,
    category text NOT NULL,
    description text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    reason text,
    decided_by uuid,
    decided_at timestamp with time zone,
    vendor_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT vendor_applications_pkey PRIMARY KEY (id),
    CONSTRAINT vendor_applications_campus FOREIGN KEY (campus_id) REFERENCES campuses(id),
    CONSTRAINT vendor_applications_user FOREIGN KEY (user_id) REFERENCES profiles(id),
    CONSTRAINT vendor_applications_vendor FOREIGN KEY (vendor_id) REFERENCES vendors(id),
    CONSTRAINT vendor_applications_approved_makes_a_vendor CHECK (((status = 'approved'::text) = (vendor_id IS NOT NULL))),
    CONSTRAINT vendor_applications_decided_by_somebody CHECK ((((status = 'pending'::text) = (decided_by IS NULL)) AND ((status = 'pending'::text) = (decided_at IS NULL)))),
    CONSTRAINT vendor_applications_never_decided_by_the_applicant CHECK ((decided_by <> user_id)),
    CONSTRAINT vendor_applications_rejected_with_a_reason CHECK (((status = 'rejected'::text) = (reason IS NOT NULL))),
    CONSTRAINT vendor_applications_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text])))
);
CREATE INDEX vendor_applications_newest ON vendor_applications USING btree (created_at, id);
CREATE INDEX vendor_applications_of_campus ON vendor_applications USING btree (campus_id, created_at, id);
CREATE INDEX vendor_applications_of_user ON vendor_applications USING btree (user_id, created_at, id);
CREATE UNIQUE INDEX vendor_applications_one_open ON vendor_applications USING btree (user_id) WHERE (status = 'pending'::text);
ALTER TABLE vendor_applications ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT (id, user_id, business_name, legal_name, campus_id, category, description, created_at) ON vendor_applications TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON vendor_applications TO campus_identity_service;
CREATE POLICY vendor_applications_read ON vendor_applications FOR SELECT
    USING (((user_id = app_user_id()) OR (app_may('vendor_applications:decide'::text) AND (campus_id = app_campus_id())) OR app_may('vendor_applications:read'::text)));
CREATE POLICY vendor_applications_submit_own ON vendor_applications FOR INSERT
    WITH CHECK ((user_id = app_user_id()));

CREATE TABLE vendors (
    id uuid NOT NULL,
    owner_user_id uuid NOT NULL,
    business_name text NOT NULL,
    legal_name text NOT NULL,
    campus_id uuid NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    commission_basis_points integer,
    revision integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    category text,
    description text,
    suspension_reason text,
    absent_until timestamp with time zone,
    absence_message text,
    opening_hours jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT vendors_pkey PRIMARY KEY (id),
    CONSTRAINT vendors_owner_once UNIQUE (owner_user_id),
    CONSTRAINT vendors_campus FOREIGN KEY (campus_id) REFERENCES campuses(id),
    CONSTRAINT vendors_owner FOREIGN KEY (owner_user_id) REFERENCES profiles(id),
    CONSTRAINT vendors_absence_message_with_its_end CHECK (((absence_message IS NULL) OR (absent_until IS NOT NULL))),
    CONSTRAINT vendors_closed_tell_nothing CHECK (((status <> 'closed'::text) OR ((business_name = ''::text) AND (legal_name = ''::text) AND (num_nonnulls(category, description, suspension_reason) = 0)))),
    CONSTRAINT vendors_commission_a_share CHECK (((commission_basis_points >= 0) AND (commission_basis_points <= 10000))),
    CONSTRAINT vendors_status_known CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'closed'::text])))
);
CREATE INDEX vendors_oldest ON vendors USING btree (created_at, id);
ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, business_name, campus_id, created_at, category, description, absent_until, absence_message, opening_hours) ON vendors TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON vendors TO campus_identity_service;
CREATE POLICY vendors_read ON vendors FOR SELECT
    USING ((status = 'active'::text));
CREATE TRIGGER vendors_commission_by_two BEFORE UPDATE OF commission_basis_points ON vendors FOR EACH ROW WHEN ((new.commission_basis_points IS DISTINCT FROM old.commission_basis_points)) EXECUTE FUNCTION vendors_refuse_unapproved_commission();
CREATE TRIGGER vendors_role_of_owner AFTER INSERT OR UPDATE OF status ON vendors FOR EACH ROW EXECUTE FUNCTION vendors_set_role_of_owner();

CREATE VIEW shop_invitations_in_full WITH (security_barrier=true) AS
 SELECT invitation.id,
    invitation.vendor_id,
    invitation.email,
    invitation.role,
    invitation.invited_by,
    invitation.created_at,
    invitation.expires_at,
    shop.business_name,
    shop.owner_user_id IS DISTINCT FROM app_user_id() AS is_for_caller
   FROM shop_invitations invitation
     JOIN vendors shop ON shop.id = invitation.vendor_id AND shop.status <> 'closed'::text
  WHERE shop.owner_user_id = app_user_id() OR invitation.email = (( SELECT profile.confirmed_email
           FROM profiles profile
          WHERE profile.id = app_user_id() AND profile.confirmed_email = profile.email));
GRANT SELECT ON shop_invitations_in_full TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON shop_invitations_in_full TO campus_identity_service;

CREATE VIEW shop_members_in_full WITH (security_barrier=true) AS
 SELECT member.vendor_id,
    member.user_id,
    member.role,
    member.added_by,
    member.joined_at,
    profile.full_name,
    profile.email,
    shop.business_name
   FROM shop_members member
     JOIN vendors shop ON shop.id = member.vendor_id AND shop.status <> 'closed'::text
     JOIN profiles profile ON profile.id = member.user_id
  WHERE member.user_id = app_user_id() OR shop.owner_user_id = app_user_id();
GRANT SELECT ON shop_members_in_full TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON shop_members_in_full TO campus_identity_service;

CREATE VIEW staff_members WITH (security_barrier=true) AS
 SELECT p.id,
    p.full_name,
    p.email,
    p.created_at,
    s.suspended_at,
    s.suspended_by,
    s.reason AS suspension_reason,
    (EXISTS ( SELECT
           FROM totp_factors f
          WHERE f.user_id = p.id AND f.confirmed_at IS NOT NULL)) OR (EXISTS ( SELECT
           FROM passkeys k
          WHERE k.user_id = p.id)) AS has_second_factor
   FROM profiles p
     LEFT JOIN suspensions s ON s.user_id = p.id
  WHERE app_may('staff:read'::text) AND p.erased_at IS NULL;
GRANT SELECT ON staff_members TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON staff_members TO campus_identity_service;

CREATE VIEW vendors_in_full WITH (security_barrier=true) AS
 SELECT vendors.id,
    vendors.owner_user_id,
    vendors.business_name,
    vendors.legal_name,
    vendors.campus_id,
    vendors.category,
    vendors.description,
    vendors.status,
    vendors.suspension_reason,
    vendors.commission_basis_points,
    vendors.revision,
    vendors.created_at,
    vendors.absent_until,
    vendors.absence_message,
    vendors.opening_hours
   FROM vendors
  WHERE vendors.owner_user_id = app_user_id() OR app_may('vendors:read'::text) OR app_may('vendors:commission'::text) OR app_may('vendors:suspend'::text) AND vendors.campus_id = app_campus_id();
GRANT SELECT ON vendors_in_full TO campus_identity_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON vendors_in_full TO campus_identity_service;
