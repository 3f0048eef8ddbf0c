"""Show as refunded of an order what its sales show: refunds and chargebacks, as payments stated its escrow."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "UPDATE orders SET refunded_minor = sale.minor, revision = revision + 1 FROM (SELECT order_id, sum(refunded_minor)::bigint "
        "AS minor FROM sale_lines GROUP BY order_id) AS sale WHERE sale.order_id = orders.id AND orders.refunded_minor <> sale.minor"
    )


def downgrade() -> None:
    """Change nothing. The release before reads the figure, and adds later refunds to it."""
