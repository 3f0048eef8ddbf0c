"""The history of an order: its transitions and the events of its delivery PIN, written with them and never changed."""

from typing import Final

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    # Rows of an order are inserted under the lock of the order's row, so their ids are in the sequence of the events.
    # A checkout inserts no row: the order itself has its instant.
    """
    CREATE TABLE order_history (
        order_id uuid NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        event text NOT NULL,
        status text,
        occurred_at timestamptz NOT NULL,
        CONSTRAINT order_history_pkey PRIMARY KEY (order_id, id),
        CONSTRAINT order_history_order FOREIGN KEY (order_id) REFERENCES orders (id)
    )
    """,
    "ALTER TABLE order_history ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT ON order_history TO campus_orders_api",
    "REVOKE UPDATE, DELETE ON order_history FROM campus_orders_service",
    # Visible with their order, whose own policies hold.
    """
    CREATE POLICY order_history_with_its_order ON order_history FOR SELECT
    USING (EXISTS (SELECT FROM orders WHERE orders.id = order_history.order_id))
    """,
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE order_history")
