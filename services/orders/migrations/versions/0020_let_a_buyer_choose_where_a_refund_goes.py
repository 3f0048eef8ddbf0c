"""Let a buyer choose where a refund goes."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    for table in ("order_disputes", "return_requests"):
        op.add_column(table, sa.Column("refund_to", sa.Text(), nullable=True))


def downgrade() -> None:
    for table in ("order_disputes", "return_requests"):
        op.drop_column(table, "refund_to")
