"""People who were erased.

The row of an erased person stays without anything that tells who it was: other contexts name it in records of money, and a
repeated create-user must find it. What remains of the mailbox is a keyed hash, by which it is known that it is not a new one.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE profiles ADD COLUMN erased_at timestamptz",
    """
    ALTER TABLE profiles ADD CONSTRAINT profiles_erased_tell_nothing CHECK (
        erased_at IS NULL OR (email = '' AND mailbox = '' AND num_nonnulls(phone, full_name, confirmed_email, confirmed_phone) = 0)
    )
    """,
    "CREATE TABLE erased_mailboxes (mailbox_hash bytea PRIMARY KEY, erased_at timestamptz NOT NULL)",
    "ALTER TABLE erased_mailboxes ENABLE ROW LEVEL SECURITY",
    "ALTER POLICY profiles_read_own ON profiles "
    "USING (erased_at IS NULL AND (id = app_user_id() OR app_may('staff:read')))",
    "ALTER POLICY profiles_change_own ON profiles USING (erased_at IS NULL AND id = app_user_id())",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER POLICY profiles_change_own ON profiles USING (id = app_user_id())")
    op.execute("ALTER POLICY profiles_read_own ON profiles USING (id = app_user_id() OR app_may('staff:read'))")
    op.execute("DROP TABLE erased_mailboxes")
    op.execute("ALTER TABLE profiles DROP CONSTRAINT profiles_erased_tell_nothing, DROP COLUMN erased_at")
