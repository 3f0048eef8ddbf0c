"""Add opening hours of hubs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column(
        "hubs", sa.Column("opening_hours", postgresql.JSONB(), server_default=sa.text("'[]'"), nullable=False)
    )
    op.execute("GRANT UPDATE (opening_hours) ON hubs TO campus_identity_api")


def downgrade() -> None:
    op.drop_column("hubs", "opening_hours")
