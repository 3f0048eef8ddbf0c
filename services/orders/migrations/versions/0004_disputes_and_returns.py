"""Disputes, their resolutions, and return requests.

What escrow still holds of an order is kept with it, as payments tells it: a resolution divides that, and nothing else. Callers
only read here; every change is a move of an order in the service's own units of work.
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_COLUMNS = """
    ALTER TABLE orders
        ADD COLUMN escrow_minor bigint NOT NULL DEFAULT 0,
        ADD COLUMN escrow_sequence bigint NOT NULL DEFAULT 0,
        ADD COLUMN return_due_at timestamptz,
        ADD CONSTRAINT orders_escrow_minor_within_total CHECK (escrow_minor BETWEEN 0 AND total_amount)
"""

# What was not written down before: all is held of an order that is not released, and a delivery of late may still be returned.
_ORDERS_OF_BEFORE = (
    "UPDATE orders SET escrow_minor = total_amount WHERE status IN ('paid_escrow', 'dispatched', 'disputed', 'delivered')",
    "UPDATE orders SET return_due_at = coalesce(delivered_at, updated_at) + interval '7 days' WHERE status IN ('delivered', 'paid')",
)

_TABLES = (
    """
    CREATE TABLE order_disputes (
        order_id uuid PRIMARY KEY,
        buyer_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        cause text NOT NULL,
        reason text NOT NULL,
        details text,
        raised_by uuid,
        raised_at timestamptz NOT NULL,
        CONSTRAINT order_disputes_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT order_disputes_cause_known CHECK (cause IN ('buyer', 'pin_window', 'chargeback')),
        CONSTRAINT order_disputes_by_the_buyer_has_an_author CHECK ((cause = 'buyer') = (raised_by IS NOT NULL))
    )
    """,
    """
    INSERT INTO order_disputes (order_id, buyer_id, vendor_id, cause, reason, raised_at)
    SELECT id, buyer_id, vendor_id, 'pin_window', 'The delivery was not confirmed with the PIN in time.', updated_at
    FROM orders WHERE status = 'disputed'
    """,
    """
    CREATE TABLE dispute_resolutions (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL,
        outcome text NOT NULL,
        refund_minor bigint NOT NULL,
        release_minor bigint,
        refund_id uuid,
        status text NOT NULL,
        prepared_by uuid NOT NULL,
        prepared_at timestamptz NOT NULL,
        decided_by uuid,
        decided_at timestamptz,
        CONSTRAINT dispute_resolutions_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT dispute_resolutions_outcome_known CHECK (outcome IN ('buyer', 'vendor', 'split')),
        CONSTRAINT dispute_resolutions_status_known CHECK (status IN ('prepared', 'approved', 'rejected')),
        CONSTRAINT dispute_resolutions_refund_fits_outcome CHECK ((outcome = 'vendor') = (refund_minor = 0) AND refund_minor >= 0),
        CONSTRAINT dispute_resolutions_decided_once CHECK (
            (status = 'prepared') = (decided_by IS NULL) AND (status = 'prepared') = (decided_at IS NULL)
        ),
        CONSTRAINT dispute_resolutions_decided_by_another_person CHECK (decided_by <> prepared_by)
    )
    """,
    # One live resolution of an order, whoever prepares at the same moment.
    "CREATE UNIQUE INDEX dispute_resolutions_one_prepared ON dispute_resolutions (order_id) WHERE status = 'prepared'",
    # One dispute of an order, one decision: a second approval would break this, whatever the code thinks.
    "CREATE UNIQUE INDEX dispute_resolutions_one_approved ON dispute_resolutions (order_id) WHERE status = 'approved'",
    "CREATE INDEX dispute_resolutions_of_order ON dispute_resolutions (order_id)",
    "CREATE INDEX dispute_resolutions_newest ON dispute_resolutions (prepared_at, id)",
    """
    CREATE TABLE return_requests (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL,
        buyer_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        reason text NOT NULL,
        status text NOT NULL,
        refund_minor bigint,
        refund_id uuid,
        decided_by uuid,
        decision_reason text,
        decided_at timestamptz,
        created_at timestamptz NOT NULL,
        CONSTRAINT return_requests_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT return_requests_status_known CHECK (status IN ('requested', 'approved', 'rejected')),
        CONSTRAINT return_requests_decided_once CHECK (
            (status = 'requested') = (decided_by IS NULL) AND (status = 'requested') = (decided_at IS NULL)
        ),
        CONSTRAINT return_requests_refund_of_an_approval CHECK ((status = 'approved') = (refund_minor IS NOT NULL)),
        CONSTRAINT return_requests_not_decided_by_the_buyer CHECK (decided_by <> buyer_id)
    )
    """,
    "CREATE INDEX return_requests_of_order ON return_requests (order_id, created_at, id)",
    """
    CREATE TABLE return_request_items (
        return_request_id uuid NOT NULL,
        item_id uuid NOT NULL,
        quantity integer NOT NULL,
        CONSTRAINT return_request_items_pkey PRIMARY KEY (return_request_id, item_id),
        CONSTRAINT return_request_items_request FOREIGN KEY (return_request_id) REFERENCES return_requests (id),
        CONSTRAINT return_request_items_item FOREIGN KEY (item_id) REFERENCES order_items (id),
        CONSTRAINT return_request_items_quantity_positive CHECK (quantity > 0)
    )
    """,
    "CREATE INDEX return_request_items_of_item ON return_request_items (item_id)",
    "CREATE INDEX orders_dearest ON orders (total_amount, id)",
)

_STAFF_OF_DISPUTES = "app_may('disputes:prepare') OR app_may('disputes:approve') OR app_may('orders:read')"
_OWN_CAMPUS = "campus_id = app_campus_id() AND app_may('campus_orders:read')"
_POLICIES = (
    f"CREATE POLICY orders_of_the_campus_admins_campus ON orders FOR SELECT USING ({_OWN_CAMPUS})",
    f"CREATE POLICY order_items_of_the_campus_admins_campus ON order_items FOR SELECT USING ({_OWN_CAMPUS})",
    "CREATE POLICY order_disputes_of_their_parties ON order_disputes FOR SELECT USING (buyer_id = app_user_id() "
    f"OR (vendor_id = app_vendor_id() AND app_may('orders:fulfil')) OR {_STAFF_OF_DISPUTES})",
    f"CREATE POLICY dispute_resolutions_of_staff ON dispute_resolutions FOR SELECT USING ({_STAFF_OF_DISPUTES})",
    "CREATE POLICY return_requests_of_their_parties ON return_requests FOR SELECT USING (buyer_id = app_user_id() "
    "OR (vendor_id = app_vendor_id() AND app_may('orders:fulfil')) OR app_may('returns:decide') OR app_may('orders:read'))",
    # Visible with their request, whose own policy is asked.
    "CREATE POLICY return_request_items_with_their_request ON return_request_items FOR SELECT "
    "USING (EXISTS (SELECT FROM return_requests AS request WHERE request.id = return_request_id))",
)


def upgrade() -> None:
    for statement in (_COLUMNS, *_ORDERS_OF_BEFORE, *_TABLES):
        op.execute(statement)
    for table in ("order_disputes", "dispute_resolutions", "return_requests", "return_request_items"):
        grant_api_v1("orders", table, "SELECT")
    for statement in _POLICIES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP POLICY orders_of_the_campus_admins_campus ON orders")
    op.execute("DROP POLICY order_items_of_the_campus_admins_campus ON order_items")
    op.execute("DROP TABLE return_request_items, return_requests, dispute_resolutions, order_disputes")
    op.execute("DROP INDEX orders_dearest")
    op.execute(
        "ALTER TABLE orders DROP CONSTRAINT orders_escrow_minor_within_total, "
        "DROP COLUMN escrow_minor, DROP COLUMN escrow_sequence, DROP COLUMN return_due_at"
    )
