"""Add the absence and the opening hours of a vendor."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"

_COLUMNS = ("absent_until", "absence_message", "opening_hours")
_IN_FULL_BEFORE = """
SELECT id, owner_user_id, business_name, legal_name, campus_id, category, description, status, suspension_reason,
       commission_basis_points, revision, created_at
"""
_SEEN_BY = """
FROM vendors
WHERE owner_user_id = app_user_id()
   OR app_may('vendors:read')
   OR app_may('vendors:commission')
   OR (app_may('vendors:suspend') AND campus_id = app_campus_id())
"""


def upgrade() -> None:
    op.add_column("vendors", sa.Column("absent_until", sa.TIMESTAMP(timezone=True), nullable=True))
    op.add_column("vendors", sa.Column("absence_message", sa.Text(), nullable=True))
    op.add_column("vendors", sa.Column("opening_hours", JSONB(), nullable=False, server_default=sa.text("'[]'")))
    op.execute(
        "ALTER TABLE vendors ADD CONSTRAINT vendors_absence_message_with_its_end "
        "CHECK (absence_message IS NULL OR absent_until IS NOT NULL) NOT VALID"
    )
    # The table is small, and the columns are empty.
    op.execute("ALTER TABLE vendors VALIDATE CONSTRAINT vendors_absence_message_with_its_end")
    columns = ", ".join(_COLUMNS)
    op.execute(f"GRANT SELECT ({columns}) ON vendors TO campus_identity_api")
    op.execute(
        "CREATE OR REPLACE VIEW vendors_in_full WITH (security_barrier) AS "
        f"{_IN_FULL_BEFORE.rstrip()}, {columns} {_SEEN_BY}"
    )


def downgrade() -> None:
    op.execute("DROP VIEW vendors_in_full")
    op.execute(f"CREATE VIEW vendors_in_full WITH (security_barrier) AS {_IN_FULL_BEFORE} {_SEEN_BY}")
    op.execute("GRANT SELECT ON vendors_in_full TO campus_identity_api")
    op.drop_constraint("vendors_absence_message_with_its_end", "vendors", type_="check")
    for column in reversed(_COLUMNS):
        op.drop_column("vendors", column)
