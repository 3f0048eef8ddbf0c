"""Add sign-in by institutions' identity providers (decision 153)."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TABLES = ("oidc_flows", "oidc_links", "oidc_codes", "oidc_sessions", "oidc_logouts")
_STEP_UP = "refresh_tokens_step_up_known"


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.TIMESTAMP(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "oidc_flows",
        sa.Column("state_hash", sa.LargeBinary(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("return_to", sa.Text(), nullable=False),
        _instant("expires_at"),
        sa.PrimaryKeyConstraint("state_hash"),
    )
    op.create_index("oidc_flows_expiry", "oidc_flows", ["expires_at"])
    op.create_table(
        "oidc_links",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("sub", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        _instant("linked_at"),
        sa.ForeignKeyConstraint(["user_id"], ["accounts.user_id"], name="oidc_links_account"),
        sa.PrimaryKeyConstraint("issuer", "sub"),
        sa.UniqueConstraint("user_id", "issuer", name="oidc_links_one_of_issuer"),
    )
    op.create_table(
        "oidc_codes",
        sa.Column("code_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("sub", sa.Text(), nullable=False),
        sa.Column("sid", sa.Text(), nullable=True),
        _instant("stepped_up_at", nullable=True),
        _instant("expires_at"),
        sa.ForeignKeyConstraint(["user_id"], ["accounts.user_id"], name="oidc_codes_account"),
        sa.PrimaryKeyConstraint("code_hash"),
    )
    op.create_index("oidc_codes_of_user", "oidc_codes", ["user_id"])
    op.create_index("oidc_codes_expiry", "oidc_codes", ["expires_at"])
    op.create_table(
        "oidc_sessions",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("sub", sa.Text(), nullable=False),
        sa.Column("sid", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="oidc_sessions_session", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id"),
    )
    op.create_index("oidc_sessions_of_subject", "oidc_sessions", ["issuer", "sub"])
    op.create_index(
        "oidc_sessions_of_sid", "oidc_sessions", ["issuer", "sid"], postgresql_where=sa.text("sid IS NOT NULL")
    )
    op.create_table(
        "oidc_logouts",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        _instant("expires_at"),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("oidc_logouts_expiry", "oidc_logouts", ["expires_at"])
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    _allow_step_ups("'totp', 'passkey', 'recovery_code', 'mfa/oidc'")


def downgrade() -> None:
    op.execute("UPDATE refresh_tokens SET stepped_up_at = NULL, stepped_up_by = NULL WHERE stepped_up_by = 'mfa/oidc'")
    _allow_step_ups("'totp', 'passkey', 'recovery_code'")
    for table in reversed(_TABLES):
        op.drop_table(table)


def _allow_step_ups(methods: str) -> None:
    op.drop_constraint(_STEP_UP, "refresh_tokens", type_="check")
    op.execute(f"ALTER TABLE refresh_tokens ADD CONSTRAINT {_STEP_UP} CHECK (stepped_up_by IN ({methods})) NOT VALID")
    op.execute(f"ALTER TABLE refresh_tokens VALIDATE CONSTRAINT {_STEP_UP}")
