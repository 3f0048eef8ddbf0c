"""Record who closed an alert."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("alerts", sa.Column("closed_by", sa.Uuid(), nullable=True))
    op.add_column("alerts", sa.Column("close_reason", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("alerts", "close_reason")
    op.drop_column("alerts", "closed_by")
