"""The key of the keyed hashes is a stored, encrypted value, so that a rotation encrypts it anew and every hash stays valid.

Revision ID: 0014
"""

from alembic import op

revision = "0014"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The API role has no right to it: processes read it once, at their start, as the service.
    op.execute("CREATE TABLE hash_keys (name text PRIMARY KEY, key_encrypted text NOT NULL)")


def downgrade() -> None:
    op.execute("DROP TABLE hash_keys")
