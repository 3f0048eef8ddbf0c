"""Codes of several sources for one address, their tries by source, and counts of messages (decision 93)."""

from typing import Final

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    """
    CREATE TABLE issued_codes (
        id uuid PRIMARY KEY,
        purpose text NOT NULL,
        address_hash bytea NOT NULL,
        source_hash bytea NOT NULL,
        code_hash bytea NOT NULL,
        issued_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        tries integer NOT NULL DEFAULT 0,
        used_at timestamptz,
        user_id uuid,
        CONSTRAINT issued_codes_account FOREIGN KEY (user_id) REFERENCES accounts (user_id),
        CONSTRAINT issued_codes_tries_at_most_30 CHECK (tries BETWEEN 0 AND 30),
        CONSTRAINT issued_codes_purpose_known CHECK (purpose IN ('sign_in', 'password_reset', 'already_registered'))
    )
    """,
    "CREATE INDEX issued_codes_of_address ON issued_codes (address_hash, purpose, expires_at)",
    "CREATE INDEX issued_codes_of_user ON issued_codes (user_id) WHERE user_id IS NOT NULL",
    "CREATE INDEX issued_codes_oldest ON issued_codes (issued_at)",
    "CREATE INDEX issued_codes_of_reset ON issued_codes (code_hash) WHERE purpose = 'password_reset'",
    "ALTER TABLE issued_codes ENABLE ROW LEVEL SECURITY",
    """
    CREATE TABLE code_tries (
        code_id uuid NOT NULL,
        source_hash bytea NOT NULL,
        tries integer NOT NULL,
        CONSTRAINT code_tries_pkey PRIMARY KEY (code_id, source_hash),
        CONSTRAINT code_tries_code FOREIGN KEY (code_id) REFERENCES issued_codes (id) ON DELETE CASCADE,
        CONSTRAINT code_tries_at_most_5 CHECK (tries BETWEEN 1 AND 5)
    )
    """,
    "ALTER TABLE code_tries ENABLE ROW LEVEL SECURITY",
    """
    CREATE TABLE message_counts (
        subject_hash bytea PRIMARY KEY,
        window_ends_at timestamptz NOT NULL,
        messages integer NOT NULL,
        CONSTRAINT message_counts_messages_not_negative CHECK (messages >= 0)
    )
    """,
    "CREATE INDEX message_counts_oldest ON message_counts (window_ends_at)",
    "ALTER TABLE message_counts ENABLE ROW LEVEL SECURITY",
    # Codes in mailboxes stay valid. Those that the version before sends after this moment must be requested again.
    """
    INSERT INTO issued_codes
        (id, purpose, address_hash, source_hash, code_hash, issued_at, expires_at, tries, used_at, user_id)
    SELECT id, purpose, address_hash, '', code_hash, issued_at, expires_at, tries, used_at, user_id
    FROM one_time_codes WHERE used_at IS NULL AND tries < 5 AND expires_at > now()
    """,
)
_DOWNGRADE: Final = ("DROP TABLE message_counts", "DROP TABLE code_tries", "DROP TABLE issued_codes")


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in _DOWNGRADE:
        op.execute(statement)
