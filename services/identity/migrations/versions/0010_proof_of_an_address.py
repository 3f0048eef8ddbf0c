"""Proof of an address: accounts without a password, and the passwords of sign-ups.

`sign_up_passwords` holds one row for each address and password that was signed up with, whether or not the address had an account:
login answers alike for both. Neither stands in it: the address is a keyed hash, the password an argon2id digest under a salt
of the address. An account keeps its address when the first proof of it removes a password that was set before.
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE sign_up_passwords (
        address_hash bytea NOT NULL,
        password_digest bytea NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT sign_up_passwords_pkey PRIMARY KEY (address_hash, password_digest)
    )
    """,
    "CREATE INDEX sign_up_passwords_oldest ON sign_up_passwords (created_at)",
    "ALTER TABLE sign_up_passwords ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE one_time_codes DROP CONSTRAINT one_time_codes_purpose_known, "
    "ADD CONSTRAINT one_time_codes_purpose_known "
    "CHECK (purpose IN ('sign_in', 'password_reset', 'already_registered')) NOT VALID",
    # The table holds the codes of a day.
    "ALTER TABLE one_time_codes VALIDATE CONSTRAINT one_time_codes_purpose_known",
    # An account without an address cannot be logged in with, whatever stands beside it.
    "ALTER TABLE accounts DROP CONSTRAINT accounts_address_goes_with_password",
)
UNDOING = (
    # No hash of any password.
    "UPDATE accounts SET password_hash = '!' WHERE email IS NOT NULL AND password_hash IS NULL",
    "ALTER TABLE accounts ADD CONSTRAINT accounts_address_goes_with_password "
    "CHECK ((email IS NULL) = (password_hash IS NULL))",
    "DELETE FROM one_time_codes WHERE purpose = 'already_registered'",
    "ALTER TABLE one_time_codes DROP CONSTRAINT one_time_codes_purpose_known, "
    "ADD CONSTRAINT one_time_codes_purpose_known CHECK (purpose IN ('sign_in', 'password_reset'))",
    "DROP TABLE sign_up_passwords",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for statement in UNDOING:
        op.execute(statement)
