"""Give the resolutions of disputes a reason."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    op.add_column("dispute_resolutions", sa.Column("reason", sa.Text(), nullable=True))
    op.execute("GRANT UPDATE (reason) ON dispute_resolutions TO campus_orders_service")


def downgrade() -> None:
    op.drop_column("dispute_resolutions", "reason")
