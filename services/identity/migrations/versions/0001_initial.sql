-- The identity service's schema, one block for each table: the table, its indexes, row security, grants, policies and
-- triggers. What a caller may read (profiles, campuses, hubs, vendors) is granted to the API role under row policies. What a
-- caller proves an identity with is granted to the service role only. A `..._sealed` column is encrypted.

-- ---------------------------------------------------------------------------------------------------------------------
-- Users, campuses and hubs
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE campuses (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    domain text,
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT campuses_domain_once UNIQUE (domain)
);
CREATE INDEX campuses_oldest ON campuses (created_at, id);
ALTER TABLE campuses ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (name, active, revision) ON campuses TO campus_identity_api;
-- Auditors also read closed campuses and hubs.
CREATE POLICY campuses_read ON campuses FOR SELECT
    USING (
        active
        OR app_may('campuses:manage_all')
        OR (app_may('campuses:manage') AND id = app_campus_id())
        OR app_may('campuses:read')
    );
CREATE POLICY campuses_open ON campuses FOR INSERT WITH CHECK (app_may('campuses:manage_all'));
CREATE POLICY campuses_change ON campuses FOR UPDATE
    USING (app_may('campuses:manage_all') OR (app_may('campuses:manage') AND id = app_campus_id()));

CREATE TABLE hubs (
    id uuid PRIMARY KEY,
    campus_id uuid NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT hubs_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
    CONSTRAINT hubs_fee_not_negative CHECK (delivery_fee_minor >= 0)
);
CREATE INDEX hubs_of_campus ON hubs (campus_id, created_at, id);
ALTER TABLE hubs ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (name, address, delivery_fee_minor, active, revision) ON hubs TO campus_identity_api;
CREATE POLICY hubs_read ON hubs FOR SELECT
    USING (
        active
        OR app_may('campuses:manage_all')
        OR (app_may('campuses:manage') AND campus_id = app_campus_id())
        OR app_may('campuses:read')
    );
CREATE POLICY hubs_open ON hubs FOR INSERT
    WITH CHECK (app_may('campuses:manage_all') OR (app_may('campuses:manage') AND campus_id = app_campus_id()));
CREATE POLICY hubs_change ON hubs FOR UPDATE
    USING (app_may('campuses:manage_all') OR (app_may('campuses:manage') AND campus_id = app_campus_id()));

-- `mailbox` is the address without what a mail provider ignores: two spellings of one mailbox are one user.
-- `confirmed_email` and `confirmed_phone` hold what was proven by a code. Changing the address or number voids the
-- proof. The row of an erased user stays, empty: other services' money records name its id.
CREATE TABLE profiles (
    id uuid PRIMARY KEY,
    email text NOT NULL,
    mailbox text NOT NULL,
    phone text,
    full_name text,
    campus_id uuid,
    referral_token text NOT NULL,
    referral_applied boolean NOT NULL DEFAULT false,
    referral_reward_minor bigint NOT NULL DEFAULT 0,
    referral_reason text,
    revision integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    confirmed_email text,
    confirmed_phone text,
    erased_at timestamptz,
    CONSTRAINT profiles_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
    CONSTRAINT profiles_referral_token_once UNIQUE (referral_token),
    CONSTRAINT profiles_reward_only_when_applied CHECK (referral_applied OR referral_reward_minor = 0),
    CONSTRAINT profiles_erased_tell_nothing CHECK (
        erased_at IS NULL
        OR (email = '' AND mailbox = '' AND num_nonnulls(phone, full_name, confirmed_email, confirmed_phone) = 0)
    )
);
CREATE INDEX profiles_of_mailbox ON profiles (mailbox);
CREATE INDEX profiles_of_phone ON profiles (phone) WHERE phone IS NOT NULL;
-- A proven number belongs to one user at a time.
CREATE UNIQUE INDEX profiles_confirmed_phone_once ON profiles (confirmed_phone) WHERE confirmed_phone IS NOT NULL;
ALTER TABLE profiles ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (phone, full_name, revision, updated_at) ON profiles TO campus_identity_api;
CREATE POLICY profiles_read_own ON profiles FOR SELECT
    USING (erased_at IS NULL AND (id = app_user_id() OR app_may('staff:read')));
CREATE POLICY profiles_change_own ON profiles FOR UPDATE USING (erased_at IS NULL AND id = app_user_id());

CREATE TABLE referrals (
    user_id uuid PRIMARY KEY,
    referrer_id uuid NOT NULL,
    mailbox text NOT NULL,
    reward_minor bigint NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT referrals_user FOREIGN KEY (user_id) REFERENCES profiles (id),
    CONSTRAINT referrals_referrer FOREIGN KEY (referrer_id) REFERENCES profiles (id),
    CONSTRAINT referrals_mailbox_once UNIQUE (mailbox),
    CONSTRAINT referrals_never_of_oneself CHECK (user_id <> referrer_id),
    CONSTRAINT referrals_reward_not_negative CHECK (reward_minor >= 0)
);
CREATE INDEX referrals_of_referrer ON referrals (referrer_id);
ALTER TABLE referrals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON referrals TO campus_identity_api;
CREATE POLICY referrals_read_own ON referrals FOR SELECT USING (referrer_id = app_user_id());

CREATE TABLE role_grants (
    user_id uuid NOT NULL,
    role text NOT NULL,
    campus_id uuid,
    hub_id uuid,
    granted_by uuid,
    granted_at timestamptz NOT NULL,
    CONSTRAINT role_grants_pkey PRIMARY KEY (user_id, role),
    CONSTRAINT role_grants_user FOREIGN KEY (user_id) REFERENCES profiles (id),
    CONSTRAINT role_grants_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
    CONSTRAINT role_grants_hub FOREIGN KEY (hub_id) REFERENCES hubs (id),
    CONSTRAINT role_grants_role_known CHECK (
        role IN (
            'buyer', 'merchant', 'hub_agent', 'support_agent', 'campus_admin', 'finance_maker', 'finance_checker',
            'ops_oncall', 'auditor', 'platform_admin'
        )
    )
);
-- One user never prepares and approves, and who grants staff roles moves no money.
CREATE UNIQUE INDEX role_grants_maker_checker_or_admin
    ON role_grants (user_id)
    WHERE role IN ('finance_maker', 'finance_checker', 'platform_admin');
CREATE UNIQUE INDEX role_grants_on_call_or_admin
    ON role_grants (user_id)
    WHERE role IN ('ops_oncall', 'platform_admin');
CREATE INDEX role_grants_of_role ON role_grants (role);
ALTER TABLE role_grants ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON role_grants TO campus_identity_api;
CREATE POLICY role_grants_read_own ON role_grants FOR SELECT USING (user_id = app_user_id() OR app_may('staff:read'));

CREATE TABLE suspensions (
    user_id uuid PRIMARY KEY,
    suspended_by uuid NOT NULL,
    suspended_at timestamptz NOT NULL,
    reason text,
    CONSTRAINT suspensions_user FOREIGN KEY (user_id) REFERENCES profiles (id),
    CONSTRAINT suspensions_never_of_oneself CHECK (suspended_by <> user_id)
);
ALTER TABLE suspensions ENABLE ROW LEVEL SECURITY;

-- ---------------------------------------------------------------------------------------------------------------------
-- Vendors
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE vendors (
    id uuid PRIMARY KEY,
    owner_user_id uuid NOT NULL,
    business_name text NOT NULL,
    legal_name text NOT NULL,
    campus_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'active',
    commission_basis_points integer,
    revision integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    category text,
    description text,
    suspension_reason text,
    CONSTRAINT vendors_owner FOREIGN KEY (owner_user_id) REFERENCES profiles (id),
    CONSTRAINT vendors_owner_once UNIQUE (owner_user_id),
    CONSTRAINT vendors_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
    CONSTRAINT vendors_commission_a_share CHECK (commission_basis_points BETWEEN 0 AND 10000),
    CONSTRAINT vendors_status_known CHECK (status IN ('active', 'suspended', 'closed')),
    CONSTRAINT vendors_closed_tell_nothing CHECK (
        status <> 'closed'
        OR (business_name = '' AND legal_name = '' AND num_nonnulls(category, description, suspension_reason) = 0)
    )
);
CREATE INDEX vendors_oldest ON vendors (created_at, id);
ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
-- The legal name and the commission are for the vendor and staff only: vendors_in_full.
GRANT SELECT (id, business_name, campus_id, created_at, category, description) ON vendors TO campus_identity_api;
CREATE POLICY vendors_read ON vendors FOR SELECT USING (status = 'active');

-- What only the vendor and staff may read, under a condition of its own.
CREATE VIEW vendors_in_full WITH (security_barrier) AS
SELECT id, owner_user_id, business_name, legal_name, campus_id, category, description, status, suspension_reason,
       commission_basis_points, revision, created_at
FROM vendors
WHERE owner_user_id = app_user_id()
   OR app_may('vendors:read')
   OR app_may('vendors:commission')
   OR (app_may('vendors:suspend') AND campus_id = app_campus_id());
GRANT SELECT ON vendors_in_full TO campus_identity_api;

CREATE TABLE vendor_applications (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    business_name text NOT NULL,
    legal_name text NOT NULL,
    campus_id uuid NOT NULL,
    category text NOT NULL,
    description text NOT NULL,
    status text NOT NULL DEFAULT 'pending',
    reason text,
    decided_by uuid,
    decided_at timestamptz,
    vendor_id uuid,
    created_at timestamptz NOT NULL,
    CONSTRAINT vendor_applications_user FOREIGN KEY (user_id) REFERENCES profiles (id),
    CONSTRAINT vendor_applications_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
    CONSTRAINT vendor_applications_vendor FOREIGN KEY (vendor_id) REFERENCES vendors (id),
    CONSTRAINT vendor_applications_status_known CHECK (status IN ('pending', 'approved', 'rejected')),
    CONSTRAINT vendor_applications_decided_by_somebody
        CHECK ((status = 'pending') = (decided_by IS NULL) AND (status = 'pending') = (decided_at IS NULL)),
    CONSTRAINT vendor_applications_never_decided_by_the_applicant CHECK (decided_by <> user_id),
    CONSTRAINT vendor_applications_rejected_with_a_reason CHECK ((status = 'rejected') = (reason IS NOT NULL)),
    CONSTRAINT vendor_applications_approved_makes_a_vendor CHECK ((status = 'approved') = (vendor_id IS NOT NULL))
);
CREATE UNIQUE INDEX vendor_applications_one_open ON vendor_applications (user_id) WHERE status = 'pending';
CREATE INDEX vendor_applications_newest ON vendor_applications (created_at, id);
CREATE INDEX vendor_applications_of_campus ON vendor_applications (campus_id, created_at, id);
CREATE INDEX vendor_applications_of_user ON vendor_applications (user_id, created_at, id);
ALTER TABLE vendor_applications ENABLE ROW LEVEL SECURITY;
-- A caller submits an application and writes nothing of its decision.
GRANT
    SELECT,
    INSERT (id, user_id, business_name, legal_name, campus_id, category, description, created_at)
ON vendor_applications TO campus_identity_api;
CREATE POLICY vendor_applications_read ON vendor_applications FOR SELECT
    USING (
        user_id = app_user_id()
        OR (app_may('vendor_applications:decide') AND campus_id = app_campus_id())
        OR app_may('vendor_applications:read')
    );
CREATE POLICY vendor_applications_submit_own ON vendor_applications FOR INSERT WITH CHECK (user_id = app_user_id());

CREATE TABLE commission_changes (
    id uuid PRIMARY KEY,
    vendor_id uuid NOT NULL,
    before_basis_points integer,
    basis_points integer,
    status text NOT NULL DEFAULT 'prepared',
    prepared_by uuid NOT NULL,
    prepared_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    decided_by uuid,
    decided_at timestamptz,
    rejection text,
    CONSTRAINT commission_changes_vendor FOREIGN KEY (vendor_id) REFERENCES vendors (id),
    CONSTRAINT commission_changes_basis_points_bounded CHECK (basis_points BETWEEN 0 AND 10000),
    CONSTRAINT commission_changes_change_something CHECK (basis_points IS DISTINCT FROM before_basis_points),
    CONSTRAINT commission_changes_status_known CHECK (status IN ('prepared', 'approved', 'rejected', 'expired')),
    CONSTRAINT commission_changes_decided_by_somebody CHECK (
        (status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
    ),
    CONSTRAINT commission_changes_by_two CHECK (status <> 'approved' OR decided_by <> prepared_by)
);
CREATE UNIQUE INDEX commission_changes_one_open ON commission_changes (vendor_id) WHERE status = 'prepared';
CREATE INDEX commission_changes_newest ON commission_changes (prepared_at, id);
CREATE INDEX commission_changes_of_vendor ON commission_changes (vendor_id, prepared_at, id);
CREATE INDEX commission_changes_open_by ON commission_changes (prepared_by) WHERE status = 'prepared';
ALTER TABLE commission_changes ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON commission_changes TO campus_identity_api;
CREATE POLICY commission_changes_read ON commission_changes FOR SELECT
    USING (app_may('vendors:commission') OR app_may('vendors:read'));

-- A commission must equal the vendor's newest approved change.
CREATE FUNCTION vendors_refuse_unapproved_commission() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;
CREATE TRIGGER vendors_commission_by_two BEFORE UPDATE OF commission_basis_points ON vendors
    FOR EACH ROW WHEN (NEW.commission_basis_points IS DISTINCT FROM OLD.commission_basis_points)
    EXECUTE FUNCTION vendors_refuse_unapproved_commission();

-- ---------------------------------------------------------------------------------------------------------------------
-- Credentials and sessions: readable by the service role only
-- ---------------------------------------------------------------------------------------------------------------------

-- `code_failures` and `code_blocked_until` slow down the guessing of one-time codes by someone who knows the password.
CREATE TABLE accounts (
    user_id uuid PRIMARY KEY,
    email text,
    password_hash text,
    code_failures integer NOT NULL DEFAULT 0,
    code_blocked_until timestamptz,
    repeated_sign_ups integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    CONSTRAINT accounts_profile FOREIGN KEY (user_id) REFERENCES profiles (id),
    CONSTRAINT accounts_email_once UNIQUE (email)
);
ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;

-- One row for each address and password that signed up, whether or not the address had an account: login answers alike.
-- The address is a keyed hash, the password an argon2id digest salted with the address.
CREATE TABLE sign_up_passwords (
    address_hash bytea NOT NULL,
    password_digest bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT sign_up_passwords_pkey PRIMARY KEY (address_hash, password_digest)
);
CREATE INDEX sign_up_passwords_oldest ON sign_up_passwords (created_at);
ALTER TABLE sign_up_passwords ENABLE ROW LEVEL SECURITY;

-- `method` and `user_agent` let the owner tell a session from a stranger's.
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    signed_in_at timestamptz NOT NULL,
    ended_at timestamptz,
    ended_because text,
    method text NOT NULL DEFAULT 'password',
    user_agent text,
    issuer text,
    without_staff_roles boolean NOT NULL DEFAULT false,
    CONSTRAINT sessions_account FOREIGN KEY (user_id) REFERENCES accounts (user_id),
    CONSTRAINT sessions_end_has_a_reason CHECK ((ended_at IS NULL) = (ended_because IS NULL))
);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_of_issuers ON sessions (issuer) WHERE issuer IS NOT NULL;
CREATE INDEX sessions_oldest ON sessions (signed_in_at);
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;

-- The second factor belongs to the token chain that saw it: an older token never gains it. Method and factor travel
-- with the chain, so that a removed factor is taken out of it.
CREATE TABLE refresh_tokens (
    token_hash bytea PRIMARY KEY,
    session_id uuid NOT NULL,
    stepped_up_at timestamptz,
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    stepped_up_by text,
    stepped_up_factor_id uuid,
    CONSTRAINT refresh_tokens_session FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE,
    CONSTRAINT refresh_tokens_step_up_has_a_time CHECK (stepped_up_by IS NULL OR stepped_up_at IS NOT NULL),
    CONSTRAINT refresh_tokens_step_up_known CHECK (stepped_up_by IN ('totp', 'passkey', 'recovery_code'))
);
CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id);
CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);
ALTER TABLE refresh_tokens ENABLE ROW LEVEL SECURITY;

CREATE TABLE totp_factors (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    secret_sealed text NOT NULL,
    last_counter bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    name text,
    last_used_at timestamptz,
    CONSTRAINT totp_factors_account FOREIGN KEY (user_id) REFERENCES accounts (user_id)
);
CREATE INDEX totp_factors_of_user ON totp_factors (user_id);
ALTER TABLE totp_factors ENABLE ROW LEVEL SECURITY;

CREATE TABLE recovery_codes (
    user_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    created_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
    CONSTRAINT recovery_codes_account FOREIGN KEY (user_id) REFERENCES accounts (user_id)
);
ALTER TABLE recovery_codes ENABLE ROW LEVEL SECURITY;

CREATE TABLE passkeys (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    CONSTRAINT passkeys_account FOREIGN KEY (user_id) REFERENCES accounts (user_id),
    CONSTRAINT passkeys_credential_once UNIQUE (credential_id),
    CONSTRAINT passkeys_sign_count_not_negative CHECK (sign_count >= 0)
);
CREATE INDEX passkeys_of_user ON passkeys (user_id);
ALTER TABLE passkeys ENABLE ROW LEVEL SECURITY;

-- Shows whether a member has a second factor; the tables behind it stay ungranted.
CREATE VIEW staff_members WITH (security_barrier) AS
SELECT p.id, p.full_name, p.email, p.created_at, s.suspended_at, s.suspended_by, s.reason AS suspension_reason,
    EXISTS (SELECT FROM totp_factors f WHERE f.user_id = p.id AND f.confirmed_at IS NOT NULL)
        OR EXISTS (SELECT FROM passkeys k WHERE k.user_id = p.id) AS has_second_factor
FROM profiles p LEFT JOIN suspensions s ON s.user_id = p.id
WHERE app_may('staff:read') AND p.erased_at IS NULL;
GRANT SELECT ON staff_members TO campus_identity_api;

CREATE TABLE passkey_challenges (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    session_id uuid NOT NULL,
    purpose text NOT NULL,
    challenge bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT passkey_challenges_account FOREIGN KEY (user_id) REFERENCES accounts (user_id),
    CONSTRAINT passkey_challenges_purpose_known CHECK (purpose IN ('registration', 'assertion'))
);
CREATE INDEX passkey_challenges_of_user ON passkey_challenges (user_id, created_at, id);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);
ALTER TABLE passkey_challenges ENABLE ROW LEVEL SECURITY;

-- One row for each purpose and address, known or not, so that the two cannot be told apart. Address and code are keyed
-- hashes; `user_id` is the recipient.
CREATE TABLE one_time_codes (
    purpose text NOT NULL,
    address_hash bytea NOT NULL,
    id uuid NOT NULL,
    code_hash bytea NOT NULL,
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    used_at timestamptz,
    hour_began_at timestamptz NOT NULL,
    issued_in_hour integer NOT NULL DEFAULT 1,
    day_began_at timestamptz NOT NULL,
    issued_in_day integer NOT NULL DEFAULT 1,
    user_id uuid,
    CONSTRAINT one_time_codes_account FOREIGN KEY (user_id) REFERENCES accounts (user_id),
    CONSTRAINT one_time_codes_pkey PRIMARY KEY (purpose, address_hash),
    CONSTRAINT one_time_codes_tries_at_most_5 CHECK (tries BETWEEN 0 AND 5),
    CONSTRAINT one_time_codes_purpose_known CHECK (purpose IN ('sign_in', 'password_reset', 'already_registered'))
);
CREATE UNIQUE INDEX one_time_codes_id_once ON one_time_codes (id);
CREATE INDEX one_time_codes_of_user ON one_time_codes (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX one_time_codes_issued ON one_time_codes (issued_at);
CREATE INDEX one_time_codes_of_reset ON one_time_codes (code_hash) WHERE purpose = 'password_reset';
ALTER TABLE one_time_codes ENABLE ROW LEVEL SECURITY;

CREATE TABLE login_failures (
    address_hash bytea PRIMARY KEY,
    failures integer NOT NULL,
    last_failed_at timestamptz NOT NULL,
    CONSTRAINT login_failures_counted CHECK (failures > 0)
);
CREATE INDEX login_failures_oldest ON login_failures (last_failed_at);
ALTER TABLE login_failures ENABLE ROW LEVEL SECURITY;

-- A key signs from `signs_from` until a newer key does. A retired key keeps its id without the private half.
CREATE TABLE signing_keys (
    kid text PRIMARY KEY,
    public_key jsonb NOT NULL,
    private_key_sealed text,
    created_at timestamptz NOT NULL,
    signs_from timestamptz NOT NULL,
    retired_at timestamptz,
    retired_because text,
    CONSTRAINT signing_keys_retired_for_a_reason
        CHECK ((retired_at IS NULL) = (retired_because IS NULL) AND retired_because IN ('superseded', 'compromised')),
    CONSTRAINT signing_keys_retired_cannot_sign CHECK ((retired_at IS NULL) = (private_key_sealed IS NOT NULL))
);
ALTER TABLE signing_keys ENABLE ROW LEVEL SECURITY;

-- Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
CREATE TABLE hash_keys (
    name text PRIMARY KEY,
    key_encrypted text NOT NULL
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Staff
-- ---------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION staff_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the trail of staff acts is append-only' USING ERRCODE = 'restrict_violation';
END $$;

-- Append-only for every role. No foreign keys: the trail outlives its subjects. Without an actor: the command line or
-- the first start.
CREATE TABLE staff_acts (
    id uuid PRIMARY KEY,
    actor_id uuid,
    act text NOT NULL,
    subject_kind text NOT NULL,
    subject_id uuid NOT NULL,
    detail jsonb NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX staff_acts_newest ON staff_acts (created_at, id);
CREATE INDEX staff_acts_of_subject ON staff_acts (subject_id, created_at, id);
CREATE INDEX staff_acts_of_actor ON staff_acts (actor_id, created_at, id);
ALTER TABLE staff_acts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON staff_acts TO campus_identity_api;
-- Written once.
REVOKE UPDATE, DELETE ON staff_acts FROM campus_identity_service;
CREATE POLICY staff_acts_read ON staff_acts FOR SELECT USING (app_may('staff:read'));
-- A caller records acts in no other user's name.
CREATE POLICY staff_acts_own ON staff_acts FOR INSERT WITH CHECK (actor_id = app_user_id());
CREATE TRIGGER staff_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON staff_acts
    FOR EACH STATEMENT EXECUTE FUNCTION staff_acts_refuse_change();

CREATE TABLE staff_grants (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    role text NOT NULL,
    status text NOT NULL DEFAULT 'prepared',
    prepared_by uuid NOT NULL,
    prepared_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    decided_by uuid,
    decided_at timestamptz,
    CONSTRAINT staff_grants_user FOREIGN KEY (user_id) REFERENCES profiles (id),
    CONSTRAINT staff_grants_status_known CHECK (status IN ('prepared', 'approved', 'rejected', 'expired')),
    CONSTRAINT staff_grants_never_to_oneself CHECK (prepared_by <> user_id),
    CONSTRAINT staff_grants_decided_by_somebody CHECK (
        (status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = (decided_at IS NULL)
    ),
    CONSTRAINT staff_grants_approved_by_a_second_person
        CHECK (status <> 'approved' OR (decided_by <> prepared_by AND decided_by <> user_id))
);
CREATE UNIQUE INDEX staff_grants_one_open ON staff_grants (user_id, role) WHERE status = 'prepared';
CREATE INDEX staff_grants_newest ON staff_grants (prepared_at, id);
CREATE INDEX staff_grants_open_by ON staff_grants (prepared_by) WHERE status = 'prepared';
ALTER TABLE staff_grants ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON staff_grants TO campus_identity_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON staff_grants FROM campus_identity_service;
GRANT UPDATE (status, decided_by, decided_at) ON staff_grants TO campus_identity_service;
CREATE POLICY staff_grants_read ON staff_grants FOR SELECT USING (app_may('staff:read'));

-- ---------------------------------------------------------------------------------------------------------------------
-- Erasure
-- ---------------------------------------------------------------------------------------------------------------------

-- Each requested erasure and what the services answered (erasure_verdicts).
CREATE TABLE erasure_requests (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    vendor_id uuid,
    status text NOT NULL DEFAULT 'asked',
    asked_at timestamptz NOT NULL,
    decided_at timestamptz,
    CONSTRAINT erasure_requests_user FOREIGN KEY (user_id) REFERENCES profiles (id),
    CONSTRAINT erasure_requests_vendor FOREIGN KEY (vendor_id) REFERENCES vendors (id),
    CONSTRAINT erasure_requests_status_known CHECK (status IN ('asked', 'refused', 'done')),
    CONSTRAINT erasure_requests_decided_or_open CHECK ((status = 'asked') = (decided_at IS NULL))
);
CREATE UNIQUE INDEX erasure_requests_one_open ON erasure_requests (user_id) WHERE status = 'asked';
CREATE INDEX erasure_requests_of_user ON erasure_requests (user_id, asked_at, id);
ALTER TABLE erasure_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON erasure_requests TO campus_identity_api;
CREATE POLICY erasure_requests_own ON erasure_requests FOR SELECT USING (user_id = app_user_id());

CREATE TABLE erasure_verdicts (
    request_id uuid NOT NULL,
    service text NOT NULL,
    open_matters text[] NOT NULL,
    heard_at timestamptz NOT NULL,
    CONSTRAINT erasure_verdicts_pkey PRIMARY KEY (request_id, service),
    CONSTRAINT erasure_verdicts_request FOREIGN KEY (request_id) REFERENCES erasure_requests (id)
);
ALTER TABLE erasure_verdicts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON erasure_verdicts TO campus_identity_api;
-- Written once.
REVOKE UPDATE, DELETE ON erasure_verdicts FROM campus_identity_service;
CREATE POLICY erasure_verdicts_own ON erasure_verdicts FOR SELECT
    USING (
        EXISTS (SELECT FROM erasure_requests AS asked WHERE asked.id = request_id AND asked.user_id = app_user_id())
    );

-- A keyed hash of each erased mailbox: it must not count as a new one.
CREATE TABLE erased_mailboxes (
    mailbox_hash bytea PRIMARY KEY,
    erased_at timestamptz NOT NULL
);
ALTER TABLE erased_mailboxes ENABLE ROW LEVEL SECURITY;
