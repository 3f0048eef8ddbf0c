"""Add roles that a group of an identity provider proposes (decision 170)."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_STATUS = "staff_grants_status_known"
_PREPARED = "staff_grants_prepared_by_an_admin"
_WRITTEN_BY_A_PREPARATION = "prepared_by, prepared_at, expires_at"
_PREPARED_BY_AN_ADMIN = """
CASE WHEN prepared_by IS NULL THEN proposed_by IS NOT NULL AND status IN ('proposed', 'rejected', 'expired')
ELSE status <> 'proposed' END
"""


def upgrade() -> None:
    op.add_column("staff_grants", sa.Column("proposed_by", sa.Text(), nullable=True))
    op.alter_column("staff_grants", "prepared_by", existing_type=sa.Uuid(), nullable=True)
    _allow_statuses("'proposed', 'prepared', 'approved', 'rejected', 'expired'")
    op.execute(f"ALTER TABLE staff_grants ADD CONSTRAINT {_PREPARED} CHECK ({_PREPARED_BY_AN_ADMIN}) NOT VALID")
    # The table is small.
    op.execute(f"ALTER TABLE staff_grants VALIDATE CONSTRAINT {_PREPARED}")
    op.execute(
        "CREATE UNIQUE INDEX IF NOT EXISTS staff_grants_one_proposed ON staff_grants (user_id, role) "
        "WHERE status = 'proposed'"
    )
    op.execute(f"GRANT UPDATE ({_WRITTEN_BY_A_PREPARATION}) ON staff_grants TO campus_identity_service")


def downgrade() -> None:
    op.execute(f"REVOKE UPDATE ({_WRITTEN_BY_A_PREPARATION}) ON staff_grants FROM campus_identity_service")
    op.execute("DELETE FROM staff_grants WHERE prepared_by IS NULL")
    op.drop_index("staff_grants_one_proposed", "staff_grants")
    op.drop_constraint(_PREPARED, "staff_grants", type_="check")
    _allow_statuses("'prepared', 'approved', 'rejected', 'expired'")
    op.alter_column("staff_grants", "prepared_by", existing_type=sa.Uuid(), nullable=False)
    op.drop_column("staff_grants", "proposed_by")


def _allow_statuses(statuses: str) -> None:
    op.drop_constraint(_STATUS, "staff_grants", type_="check")
    op.execute(f"ALTER TABLE staff_grants ADD CONSTRAINT {_STATUS} CHECK (status IN ({statuses})) NOT VALID")
    op.execute(f"ALTER TABLE staff_grants VALIDATE CONSTRAINT {_STATUS}")
