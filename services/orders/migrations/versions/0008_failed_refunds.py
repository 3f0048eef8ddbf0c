"""Order the events of a refund, which may fail after it was settled."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE order_refunds ADD COLUMN sequence bigint NOT NULL DEFAULT 0")
    op.execute("GRANT UPDATE (sequence) ON order_refunds TO campus_orders_service")
    # The money of a completely returned order whose refund failed is still due.
    op.execute(
        "WITH due AS (UPDATE orders SET status = 'refund_pending', revision = revision + 1, updated_at = now() WHERE status = 'refunded' "
        "AND EXISTS (SELECT FROM order_refunds WHERE order_id = orders.id AND status = 'failed') RETURNING id) "
        "INSERT INTO order_history (order_id, event, status, occurred_at) SELECT id, 'refund_failed', 'refund_pending', now() FROM due"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE order_refunds DROP COLUMN sequence")
