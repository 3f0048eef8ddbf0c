"""Record the arrival of an order at its hub."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.add_column("orders", sa.Column("arrived_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.add_column("hubs", sa.Column("address", sa.Text(), nullable=True))
    op.add_column("hubs", sa.Column("opening_hours", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("hubs", "opening_hours")
    op.drop_column("hubs", "address")
    op.drop_column("orders", "arrived_at")
