"""People, campuses, vendors and sessions.

Two kinds of tables. What a caller may ask for (profiles, campuses, hubs, vendors, referrals, role_grants) is granted to the
API role under row policies. What a caller proves themselves with (accounts, sessions, refresh tokens, factors, signing keys)
is granted to nobody but the service role, and stands under row security without any policy besides.
"""

from alembic import op

from common.migrations.functions import create_messaging_v1, grant_api_v1, grant_roles_v1

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

CAMPUSES = (
    """
    CREATE TABLE campuses (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        domain text,
        active boolean NOT NULL DEFAULT true,
        created_at timestamptz NOT NULL,
        CONSTRAINT campuses_domain_once UNIQUE (domain)
    )
    """,
    "CREATE INDEX campuses_oldest ON campuses (created_at, id)",
    """
    CREATE TABLE hubs (
        id uuid PRIMARY KEY,
        campus_id uuid NOT NULL,
        name text NOT NULL,
        address text NOT NULL,
        delivery_fee_minor bigint NOT NULL,
        active boolean NOT NULL DEFAULT true,
        created_at timestamptz NOT NULL,
        CONSTRAINT hubs_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
        CONSTRAINT hubs_fee_not_negative CHECK (delivery_fee_minor >= 0)
    )
    """,
    "CREATE INDEX hubs_of_campus ON hubs (campus_id, created_at, id)",
)

PEOPLE = (
    # `mailbox` is the address without what a mail provider ignores: two spellings of one mailbox are one person.
    """
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
        CONSTRAINT profiles_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
        CONSTRAINT profiles_referral_token_once UNIQUE (referral_token),
        CONSTRAINT profiles_reward_only_when_applied CHECK (referral_applied OR referral_reward_minor = 0)
    )
    """,
    "CREATE INDEX profiles_of_mailbox ON profiles (mailbox)",
    """
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
    )
    """,
    "CREATE INDEX referrals_of_referrer ON referrals (referrer_id)",
    """
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
        CONSTRAINT role_grants_role_known CHECK (role IN (
            'buyer', 'merchant', 'hub_agent', 'support_agent', 'campus_admin',
            'finance_maker', 'finance_checker', 'ops_oncall', 'auditor', 'platform_admin'
        ))
    )
    """,
    """
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
        CONSTRAINT vendors_owner FOREIGN KEY (owner_user_id) REFERENCES profiles (id),
        CONSTRAINT vendors_owner_once UNIQUE (owner_user_id),
        CONSTRAINT vendors_campus FOREIGN KEY (campus_id) REFERENCES campuses (id),
        CONSTRAINT vendors_status_known CHECK (status IN ('active', 'suspended')),
        CONSTRAINT vendors_commission_a_share CHECK (commission_basis_points BETWEEN 0 AND 10000)
    )
    """,
    "CREATE INDEX vendors_oldest ON vendors (created_at, id)",
)

SIGNING_IN = (
    # `code_failures` and `code_blocked_until` slow down the guessing of one-time codes by somebody who knows the password.
    """
    CREATE TABLE accounts (
        user_id uuid PRIMARY KEY,
        email text NOT NULL,
        password_hash text NOT NULL,
        code_failures integer NOT NULL DEFAULT 0,
        code_blocked_until timestamptz,
        repeated_sign_ups integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        CONSTRAINT accounts_profile FOREIGN KEY (user_id) REFERENCES profiles (id),
        CONSTRAINT accounts_email_once UNIQUE (email)
    )
    """,
    """
    CREATE TABLE sessions (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        signed_in_at timestamptz NOT NULL,
        ended_at timestamptz,
        ended_because text,
        CONSTRAINT sessions_account FOREIGN KEY (user_id) REFERENCES accounts (user_id),
        CONSTRAINT sessions_end_has_a_reason CHECK ((ended_at IS NULL) = (ended_because IS NULL))
    )
    """,
    "CREATE INDEX sessions_of_user ON sessions (user_id)",
    # The second factor belongs to the chain of tokens that saw it: a token from before the step-up never grows by it.
    """
    CREATE TABLE refresh_tokens (
        token_hash bytea PRIMARY KEY,
        session_id uuid NOT NULL,
        stepped_up_at timestamptz,
        issued_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        CONSTRAINT refresh_tokens_session FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id)",
    "CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at)",
    """
    CREATE TABLE totp_factors (
        id uuid PRIMARY KEY,
        user_id uuid NOT NULL,
        secret_sealed text NOT NULL,
        last_counter bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        confirmed_at timestamptz,
        CONSTRAINT totp_factors_account FOREIGN KEY (user_id) REFERENCES accounts (user_id)
    )
    """,
    "CREATE INDEX totp_factors_of_user ON totp_factors (user_id)",
    """
    CREATE TABLE signing_keys (
        kid text PRIMARY KEY,
        public_key jsonb NOT NULL,
        private_key_sealed text NOT NULL,
        state text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT signing_keys_state_known CHECK (state IN ('current', 'previous'))
    )
    """,
    "CREATE UNIQUE INDEX signing_keys_one_current ON signing_keys (state) WHERE state = 'current'",
    *(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
        for table in ("accounts", "sessions", "refresh_tokens", "totp_factors", "signing_keys")
    ),
)


def upgrade() -> None:
    grant_roles_v1("identity")
    create_messaging_v1("identity")
    for statement in (*CAMPUSES, *PEOPLE, *SIGNING_IN):
        op.execute(statement)
    grant_api_v1("identity", "campuses", "SELECT")
    grant_api_v1("identity", "hubs", "SELECT")
    grant_api_v1("identity", "profiles", "SELECT, UPDATE (full_name, phone, revision, updated_at)")
    grant_api_v1("identity", "referrals", "SELECT")
    grant_api_v1("identity", "role_grants", "SELECT")
    # The legal name and the commission are nobody's business but the vendor's and the staff's.
    grant_api_v1("identity", "vendors", "SELECT (id, business_name, campus_id, created_at)")
    op.execute("CREATE POLICY campuses_read ON campuses FOR SELECT USING (active OR app_may('campuses:manage_all'))")
    op.execute("CREATE POLICY hubs_read ON hubs FOR SELECT USING (active OR app_may('campuses:manage_all'))")
    op.execute(
        "CREATE POLICY profiles_read_own ON profiles FOR SELECT USING (id = app_user_id() OR app_may('staff:read'))"
    )
    op.execute("CREATE POLICY profiles_change_own ON profiles FOR UPDATE USING (id = app_user_id())")
    op.execute("CREATE POLICY referrals_read_own ON referrals FOR SELECT USING (referrer_id = app_user_id())")
    op.execute(
        "CREATE POLICY role_grants_read_own ON role_grants FOR SELECT "
        "USING (user_id = app_user_id() OR app_may('staff:read'))"
    )
    op.execute("CREATE POLICY vendors_read ON vendors FOR SELECT USING (status = 'active')")


def downgrade() -> None:
    raise NotImplementedError("a first migration is undone by dropping the database")
