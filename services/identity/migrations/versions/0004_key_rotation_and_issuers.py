"""Signing keys that rotate, and people of further issuers.

A key signs from `signs_from` on, until a newer one does: so a rotation is one row written ahead of its time, which no process
has to be there for. A retired key stays as a name without its private half, so that a repeated command knows it.

Whoever comes with a token of a further issuer gets an account without address and password, which no door of ours opens, and
sessions that say where they came from.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE signing_keys ADD COLUMN signs_from timestamptz, ADD COLUMN retired_at timestamptz, ADD COLUMN retired_because text",
    # A previous key has to stand before the current one, whatever their births say.
    """
    UPDATE signing_keys k SET signs_from = CASE k.state
        WHEN 'current' THEN k.created_at
        ELSE least(k.created_at, (SELECT created_at FROM signing_keys WHERE state = 'current') - interval '1 second')
    END
    """,
    "DROP INDEX signing_keys_one_current",
    """
    ALTER TABLE signing_keys
        ALTER COLUMN signs_from SET NOT NULL,
        ALTER COLUMN private_key_sealed DROP NOT NULL,
        DROP COLUMN state,
        ADD CONSTRAINT signing_keys_retired_for_a_reason CHECK (
            (retired_at IS NULL) = (retired_because IS NULL) AND retired_because IN ('superseded', 'compromised')
        ),
        ADD CONSTRAINT signing_keys_retired_cannot_sign CHECK ((retired_at IS NULL) = (private_key_sealed IS NOT NULL))
    """,
    """
    ALTER TABLE accounts
        ALTER COLUMN email DROP NOT NULL,
        ALTER COLUMN password_hash DROP NOT NULL,
        ADD CONSTRAINT accounts_address_goes_with_password CHECK ((email IS NULL) = (password_hash IS NULL))
    """,
    "ALTER TABLE sessions ADD COLUMN issuer text, ADD COLUMN without_staff_roles boolean NOT NULL DEFAULT false",
    "CREATE INDEX sessions_of_issuers ON sessions (issuer) WHERE issuer IS NOT NULL",
)
UNDOING = (
    "DROP INDEX sessions_of_issuers",
    "DELETE FROM sessions WHERE issuer IS NOT NULL",
    "ALTER TABLE sessions DROP COLUMN issuer, DROP COLUMN without_staff_roles",
    "ALTER TABLE accounts DROP CONSTRAINT accounts_address_goes_with_password",
    # No address that anybody can have, and no hash of any password.
    "UPDATE accounts SET email = user_id || '@nowhere.invalid', password_hash = '!' WHERE email IS NULL",
    "ALTER TABLE accounts ALTER COLUMN email SET NOT NULL, ALTER COLUMN password_hash SET NOT NULL",
    "DELETE FROM signing_keys WHERE retired_at IS NOT NULL",
    """
    ALTER TABLE signing_keys
        DROP CONSTRAINT signing_keys_retired_cannot_sign,
        DROP CONSTRAINT signing_keys_retired_for_a_reason,
        ADD COLUMN state text NOT NULL DEFAULT 'previous',
        ALTER COLUMN private_key_sealed SET NOT NULL,
        ADD CONSTRAINT signing_keys_state_known CHECK (state IN ('current', 'previous'))
    """,
    "ALTER TABLE signing_keys ALTER COLUMN state DROP DEFAULT",
    """
    UPDATE signing_keys SET state = 'current' WHERE kid = (
        SELECT kid FROM signing_keys ORDER BY signs_from <= now() DESC, abs(extract(epoch FROM signs_from - now())) LIMIT 1
    )
    """,
    "CREATE UNIQUE INDEX signing_keys_one_current ON signing_keys (state) WHERE state = 'current'",
    "ALTER TABLE signing_keys DROP COLUMN signs_from, DROP COLUMN retired_at, DROP COLUMN retired_because",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    for statement in UNDOING:
        op.execute(statement)
