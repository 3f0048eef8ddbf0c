"""Reset lost second factors."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_ACCESS = (
    "ALTER TABLE factor_resets ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON factor_resets TO campus_identity_api",
    "REVOKE UPDATE, DELETE ON factor_resets FROM campus_identity_service",
    "GRANT UPDATE (status, reason, decided_by, decided_at) ON factor_resets TO campus_identity_service",
    """
CREATE POLICY factor_resets_read ON factor_resets FOR SELECT
    USING (app_may('factor_resets:prepare') OR app_may('factor_resets:approve') OR app_may('staff:read'))
""",
)


def upgrade() -> None:
    op.create_table(
        "factor_resets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default=sa.text("'prepared'"), nullable=False),
        sa.Column("prepared_by", sa.Uuid(), nullable=False),
        sa.Column("prepared_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", sa.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(status IN ('approved', 'rejected')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = "
            "(decided_at IS NULL)",
            name="factor_resets_decided_whole",
        ),
        sa.CheckConstraint("status <> 'approved' OR decided_by <> prepared_by", name="factor_resets_by_two"),
        sa.CheckConstraint(
            "status IN ('prepared', 'approved', 'rejected', 'expired')", name="factor_resets_status_known"
        ),
        sa.CheckConstraint(
            "user_id <> prepared_by AND user_id IS DISTINCT FROM decided_by", name="factor_resets_by_others"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["profiles.id"], name="factor_resets_profile"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("factor_resets_newest", "factor_resets", ["prepared_at", "id"], unique=False, if_not_exists=True)
    op.create_index(
        "factor_resets_one_open",
        "factor_resets",
        ["user_id"],
        unique=True,
        postgresql_where=sa.text("status = 'prepared'"),
        if_not_exists=True,
    )
    for statement in _ACCESS:
        op.execute(statement)


def downgrade() -> None:
    op.drop_index("factor_resets_one_open", table_name="factor_resets", postgresql_where=sa.text("status = 'prepared'"))
    op.drop_index("factor_resets_newest", table_name="factor_resets")
    op.drop_table("factor_resets")
