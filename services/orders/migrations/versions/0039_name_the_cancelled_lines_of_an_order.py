"""Name the cancelled lines of an order."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    op.add_column("order_items", sa.Column("cancelled_at", sa.DateTime(timezone=True)))
    op.execute(
        """
        UPDATE order_items SET cancelled_at = request.decided_at
        FROM return_requests AS request JOIN return_request_items AS line ON line.return_request_id = request.id
        WHERE request.cancels_lines AND order_items.id = line.item_id
        """
    )


def downgrade() -> None:
    op.drop_column("order_items", "cancelled_at")
