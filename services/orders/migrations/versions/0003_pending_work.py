"""Count the orders, disputes and flash sales that wait for vendors and staff."""

from typing import Final

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_INDEXES: Final = {
    "orders_to_dispatch": "orders (vendor_id, created_at, id) WHERE status = 'paid_escrow'",
    "order_disputes_open": "order_disputes (raised_at) WHERE ended_at IS NULL",
    "flash_sales_prepared": "flash_sales (vendor_id, created_at, id) WHERE approved_at IS NULL",
}


def upgrade() -> None:
    for name, rows in _INDEXES.items():
        op.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {rows}")


def downgrade() -> None:
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
