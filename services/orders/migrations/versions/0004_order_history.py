"""The history of an order: its transitions and the events of its delivery PIN, written with them and never changed."""

from typing import Final

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    # Rows of an order are inserted under the lock of the order's row, so their ids are in the sequence of the events.
    # A checkout inserts no row: the order itself has its instant. `actor_id` is the member of staff who cancelled.
    """
    CREATE TABLE order_history (
        order_id uuid NOT NULL,
        id bigint GENERATED ALWAYS AS IDENTITY,
        event text NOT NULL,
        status text,
        actor_id uuid,
        occurred_at timestamptz NOT NULL,
        CONSTRAINT order_history_pkey PRIMARY KEY (order_id, id),
        CONSTRAINT order_history_order FOREIGN KEY (order_id) REFERENCES orders (id)
    )
    """,
    "CREATE INDEX order_history_of_actor ON order_history (actor_id) WHERE actor_id IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS return_requests_decided ON return_requests (decided_by) WHERE decided_by IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS reviews_hidden ON reviews (hidden_by) WHERE hidden_by IS NOT NULL",
    "ALTER TABLE order_history ENABLE ROW LEVEL SECURITY",
    "GRANT SELECT (order_id, id, event, status, occurred_at) ON order_history TO campus_orders_api",
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
    op.execute("DROP INDEX reviews_hidden")
    op.execute("DROP INDEX return_requests_decided")
    op.execute("DROP TABLE order_history")
