"""One-time codes, password resets and sign-in slow-down.

`one_time_codes` has one row for each purpose and address that somebody asked a code for, known or not, so that the two cannot
be told apart by what happens here. Neither address nor code stands in it, only their keyed hashes; `user_id` is whom the code
was sent to. `confirmed_email` and `confirmed_phone` hold what was proven by a code: changing the address or the number takes
the confirmation away by itself.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = (
    """
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
        CONSTRAINT one_time_codes_purpose_known CHECK (purpose IN ('sign_in', 'password_reset')),
        CONSTRAINT one_time_codes_tries_at_most_5 CHECK (tries BETWEEN 0 AND 5)
    )
    """,
    "CREATE UNIQUE INDEX one_time_codes_id_once ON one_time_codes (id)",
    "CREATE INDEX one_time_codes_of_user ON one_time_codes (user_id) WHERE user_id IS NOT NULL",
    "CREATE INDEX one_time_codes_issued ON one_time_codes (issued_at)",
    "CREATE INDEX one_time_codes_of_reset ON one_time_codes (code_hash) WHERE purpose = 'password_reset'",
    """
    CREATE TABLE login_failures (
        address_hash bytea PRIMARY KEY,
        failures integer NOT NULL,
        last_failed_at timestamptz NOT NULL,
        CONSTRAINT login_failures_counted CHECK (failures > 0)
    )
    """,
    "CREATE INDEX login_failures_oldest ON login_failures (last_failed_at)",
    "ALTER TABLE one_time_codes ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE login_failures ENABLE ROW LEVEL SECURITY",
    # How a session began, and with what program, so that its owner can tell it from a stranger's.
    "ALTER TABLE sessions ADD COLUMN method text NOT NULL DEFAULT 'password', ADD COLUMN user_agent text",
    "ALTER TABLE profiles ADD COLUMN confirmed_email text, ADD COLUMN confirmed_phone text",
    "CREATE INDEX profiles_of_phone ON profiles (phone) WHERE phone IS NOT NULL",
    # A number is proven to be one person's at a time.
    "CREATE UNIQUE INDEX profiles_confirmed_phone_once ON profiles (confirmed_phone) WHERE confirmed_phone IS NOT NULL",
)


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP INDEX profiles_confirmed_phone_once, profiles_of_phone")
    op.execute("ALTER TABLE profiles DROP COLUMN confirmed_email, DROP COLUMN confirmed_phone")
    op.execute("ALTER TABLE sessions DROP COLUMN method, DROP COLUMN user_agent")
    op.execute("DROP TABLE one_time_codes, login_failures")
