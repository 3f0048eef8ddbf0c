"""Add API keys."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"

_ACCESS = (
    "ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY",
    """
GRANT
    SELECT (
        id, hint, name, vendor_id, scopes, networks, created_by, created_at, expires_at, last_used_at, revoked_at,
        revoked_by
    )
ON api_keys TO campus_identity_api
""",
    "REVOKE UPDATE ON api_keys FROM campus_identity_service",
    "GRANT UPDATE (last_used_at, warned_at, revoked_at, revoked_by) ON api_keys TO campus_identity_service",
    """
CREATE POLICY api_keys_read ON api_keys FOR SELECT
    USING (app_may('api_keys:manage') OR (app_may('api_keys:own') AND vendor_id = app_vendor_id()))
""",
)


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("key_hash", sa.LargeBinary(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("vendor_id", sa.Uuid(), nullable=True),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("networks", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("warned_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("revoked_by", sa.Uuid(), nullable=True),
        sa.CheckConstraint(
            "expires_at > created_at AND expires_at <= created_at + interval '366 days'",
            name="api_keys_expire_in_a_year",
        ),
        sa.CheckConstraint("(revoked_at IS NULL) = (revoked_by IS NULL)", name="api_keys_revoked_by_a_person"),
        sa.CheckConstraint("cardinality(scopes) > 0", name="api_keys_have_a_scope"),
        sa.ForeignKeyConstraint(["created_by"], ["profiles.id"], name="api_keys_creator"),
        sa.ForeignKeyConstraint(["vendor_id"], ["vendors.id"], name="api_keys_vendor"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key_hash", name="api_keys_hash_once"),
    )
    op.create_index("api_keys_by_expiry", "api_keys", ["expires_at"], unique=False, if_not_exists=True)
    op.create_index("api_keys_newest", "api_keys", ["created_at", "id"], unique=False, if_not_exists=True)
    op.create_index("api_keys_of_creator", "api_keys", ["created_by"], unique=False, if_not_exists=True)
    op.create_index("api_keys_of_vendor", "api_keys", ["vendor_id"], unique=False, if_not_exists=True)
    for statement in _ACCESS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_index("api_keys_of_vendor", table_name="api_keys")
    op.drop_index("api_keys_of_creator", table_name="api_keys")
    op.drop_index("api_keys_newest", table_name="api_keys")
    op.drop_index("api_keys_by_expiry", table_name="api_keys")
    op.drop_table("api_keys")
