"""Recovery codes and passkeys, and by which factor a chain of refresh tokens stepped up.

All of it is what a caller proves themselves with: granted to nobody but the service role, under row security without a policy.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = ("recovery_codes", "passkeys", "passkey_challenges")
STATEMENTS = (
    # The method and the factor travel with the chain of tokens, so that a removed factor can be taken out of it.
    "ALTER TABLE refresh_tokens ADD COLUMN stepped_up_by text, ADD COLUMN stepped_up_factor_id uuid",
    "UPDATE refresh_tokens SET stepped_up_by = 'totp' WHERE stepped_up_at IS NOT NULL",
    """
    ALTER TABLE refresh_tokens
        ADD CONSTRAINT refresh_tokens_step_up_has_a_time CHECK (stepped_up_by IS NULL OR stepped_up_at IS NOT NULL),
        ADD CONSTRAINT refresh_tokens_step_up_known CHECK (stepped_up_by IN ('totp', 'passkey', 'recovery_code'))
    """,
    "ALTER TABLE totp_factors ADD COLUMN name text, ADD COLUMN last_used_at timestamptz",
    """
    CREATE TABLE recovery_codes (
        user_id uuid NOT NULL,
        code_hash bytea NOT NULL,
        created_at timestamptz NOT NULL,
        used_at timestamptz,
        CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
        CONSTRAINT recovery_codes_account FOREIGN KEY (user_id) REFERENCES accounts (user_id)
    )
    """,
    """
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
    )
    """,
    "CREATE INDEX passkeys_of_user ON passkeys (user_id)",
    """
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
    )
    """,
    "CREATE INDEX passkey_challenges_of_user ON passkey_challenges (user_id, created_at, id)",
    "CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at)",
    *(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY" for table in TABLES),
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute(f"DROP TABLE {', '.join(TABLES)}")
    op.execute("ALTER TABLE totp_factors DROP COLUMN name, DROP COLUMN last_used_at")
    op.execute("ALTER TABLE refresh_tokens DROP COLUMN stepped_up_by, DROP COLUMN stepped_up_factor_id")
