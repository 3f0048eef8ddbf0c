"""Catalog, orders, timers and delivery PINs.

What the API role may touch stands under row policies. It never updates or deletes: an order moves, and a PIN is checked, only
in the service's own units of work, after the caller's right to the order was established in a unit of work of the caller.
"""

from alembic import op

from common.migrations.functions import create_messaging_v1, grant_api_v1, grant_roles_v1

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_STATES = "'Processing', 'expired', 'cancelled', 'paid_escrow', 'dispatched', 'delivered', 'paid', 'disputed', 'refund_pending', 'refunded'"

# Orders and items carry whom they concern, and none of it ever changes: the policy of an item needs no look at its order.
_PARTIES = """
    buyer_id = app_user_id()
    OR (vendor_id = app_vendor_id() AND app_may('orders:fulfil'))
    OR (campus_id = app_campus_id() AND app_may('orders:verify'))
    OR app_may('orders:read')
"""

_CATALOG = (
    """
    CREATE TABLE products (
        id uuid PRIMARY KEY,
        vendor_id uuid NOT NULL,
        vendor_name text NOT NULL,
        campus_id uuid NOT NULL,
        name text NOT NULL,
        description text NOT NULL,
        category text NOT NULL,
        price_minor bigint NOT NULL,
        currency text NOT NULL,
        stock integer NOT NULL,
        images jsonb NOT NULL,
        rating_sum bigint NOT NULL,
        rating_count integer NOT NULL,
        revision integer NOT NULL,
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', name || ' ' || category || ' ' || description)) STORED,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        removed_at timestamptz,
        CONSTRAINT products_price_minor_positive CHECK (price_minor > 0),
        CONSTRAINT products_stock_never_negative CHECK (stock >= 0),
        CONSTRAINT products_currency_ngn CHECK (currency = 'NGN')
    )
    """,
    # Read forwards and backwards: one index for both directions of a sort.
    "CREATE INDEX products_newest ON products (created_at, id) WHERE removed_at IS NULL",
    "CREATE INDEX products_priced ON products (price_minor, id) WHERE removed_at IS NULL",
    "CREATE INDEX products_newest_of_vendor ON products (vendor_id, created_at, id) WHERE removed_at IS NULL",
    "CREATE INDEX products_newest_of_category ON products (category, created_at, id) WHERE removed_at IS NULL",
    "CREATE INDEX products_priced_of_category ON products (category, price_minor, id) WHERE removed_at IS NULL",
    "CREATE INDEX products_newest_of_campus ON products (campus_id, created_at, id) WHERE removed_at IS NULL",
    """
    CREATE TABLE vendors (
        id uuid PRIMARY KEY,
        business_name text NOT NULL,
        campus_id uuid NOT NULL,
        commission_basis_points integer,
        sequence bigint NOT NULL
    )
    """,
    "CREATE TABLE campuses (id uuid PRIMARY KEY, name text NOT NULL, active boolean NOT NULL, sequence bigint NOT NULL)",
    """
    CREATE TABLE hubs (
        id uuid PRIMARY KEY,
        campus_id uuid NOT NULL,
        name text NOT NULL,
        delivery_fee_minor bigint NOT NULL,
        active boolean NOT NULL,
        sequence bigint NOT NULL
    )
    """,
)

_ORDERS = (
    f"""
    CREATE TABLE orders (
        id uuid PRIMARY KEY,
        buyer_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        campus_id uuid NOT NULL,
        hub_id uuid,
        status text NOT NULL,
        currency text NOT NULL,
        total_amount bigint NOT NULL,
        subtotal_minor bigint NOT NULL,
        delivery_fee_minor bigint NOT NULL,
        commission_minor bigint NOT NULL,
        refunded_minor bigint NOT NULL,
        delivery_note text,
        payment_due_at timestamptz NOT NULL,
        delivered_at timestamptz,
        idempotency_key uuid NOT NULL,
        fingerprint bytea NOT NULL,
        revision integer NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT orders_status_known CHECK (status IN ({_STATES})),
        CONSTRAINT orders_total_amount_is_the_sum CHECK (total_amount = subtotal_minor + delivery_fee_minor),
        CONSTRAINT orders_refunded_minor_within_total CHECK (refunded_minor BETWEEN 0 AND total_amount),
        CONSTRAINT orders_idempotency_key_once_per_buyer UNIQUE (buyer_id, idempotency_key)
    )
    """,
    "CREATE INDEX orders_newest ON orders (created_at, id)",
    "CREATE INDEX orders_newest_of_buyer ON orders (buyer_id, created_at, id)",
    "CREATE INDEX orders_newest_of_vendor ON orders (vendor_id, created_at, id)",
    "CREATE INDEX orders_newest_of_campus ON orders (campus_id, created_at, id)",
    """
    CREATE TABLE order_items (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL,
        buyer_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        campus_id uuid NOT NULL,
        position integer NOT NULL,
        product_id uuid NOT NULL,
        name text NOT NULL,
        quantity integer NOT NULL,
        unit_price_minor bigint NOT NULL,
        line_total_minor bigint NOT NULL,
        CONSTRAINT order_items_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT order_items_quantity_1_to_99 CHECK (quantity BETWEEN 1 AND 99),
        CONSTRAINT order_items_line_total_minor_is_the_product CHECK (line_total_minor = unit_price_minor * quantity)
    )
    """,
    "CREATE UNIQUE INDEX order_items_of_order ON order_items (order_id, position)",
    """
    CREATE TABLE order_timers (
        order_id uuid NOT NULL,
        kind text NOT NULL,
        due_at timestamptz NOT NULL,
        CONSTRAINT order_timers_pkey PRIMARY KEY (order_id, kind),
        CONSTRAINT order_timers_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT order_timers_kind_known CHECK (kind IN ('payment_window', 'vendor_idle', 'pin_window'))
    )
    """,
    "CREATE INDEX order_timers_due ON order_timers (due_at)",
    """
    CREATE TABLE order_refunds (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL,
        amount_minor bigint NOT NULL,
        reason text NOT NULL,
        status text NOT NULL,
        counted boolean NOT NULL,
        requested_at timestamptz NOT NULL,
        CONSTRAINT order_refunds_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT order_refunds_amount_minor_positive CHECK (amount_minor > 0),
        CONSTRAINT order_refunds_status_known CHECK (status IN ('requested', 'posted', 'failed', 'settled'))
    )
    """,
    "CREATE INDEX order_refunds_of_order ON order_refunds (order_id)",
    """
    CREATE TABLE delivery_pins (
        order_id uuid PRIMARY KEY,
        buyer_id uuid NOT NULL,
        issue integer NOT NULL,
        digest bytea NOT NULL,
        sealed text NOT NULL,
        wrong_tries integer NOT NULL,
        issued_at timestamptz NOT NULL,
        CONSTRAINT delivery_pins_order FOREIGN KEY (order_id) REFERENCES orders (id),
        CONSTRAINT delivery_pins_issue_1_to_4 CHECK (issue BETWEEN 1 AND 4),
        CONSTRAINT delivery_pins_wrong_tries_at_most_5 CHECK (wrong_tries BETWEEN 0 AND 5)
    )
    """,
    """
    CREATE TABLE delivery_verifications (
        caller_id uuid NOT NULL,
        idempotency_key uuid NOT NULL,
        order_id uuid NOT NULL,
        fingerprint bytea NOT NULL,
        attempts_remaining integer,
        tried_at timestamptz NOT NULL,
        CONSTRAINT delivery_verifications_pkey PRIMARY KEY (caller_id, idempotency_key),
        CONSTRAINT delivery_verifications_order FOREIGN KEY (order_id) REFERENCES orders (id)
    )
    """,
)

# The one thing that a checkout changes in the catalog. The API role may not update products; through this function a caller can
# take stock, at the price just read, of all the products or of none. Rows are locked in the order of their ids, so that no two
# checkouts deadlock; a row that waited is judged again on what the first one left.
_RESERVE_STOCK = """
CREATE FUNCTION reserve_stock(product_ids uuid[], quantities integer[], prices_minor bigint[])
RETURNS TABLE (product_id uuid, stock_left integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH locked AS MATERIALIZED (
        SELECT product.id, wanted.quantity
        FROM unnest(product_ids, quantities, prices_minor) AS wanted (id, quantity, price_minor)
        JOIN products AS product ON product.id = wanted.id
        WHERE wanted.quantity > 0 AND product.stock >= wanted.quantity
          AND product.price_minor = wanted.price_minor AND product.removed_at IS NULL
        ORDER BY product.id FOR NO KEY UPDATE OF product
    )
    UPDATE products AS product SET stock = product.stock - locked.quantity
    FROM locked
    WHERE product.id = locked.id AND (SELECT count(*) FROM locked) = cardinality(product_ids)
    RETURNING product.id, product.stock
$$
"""

_POLICIES = (
    "CREATE POLICY products_on_the_shelf ON products FOR SELECT USING (removed_at IS NULL OR vendor_id = app_vendor_id())",
    # What checkout asks. None of it is anybody's in particular.
    "CREATE POLICY vendors_known ON vendors FOR SELECT USING (true)",
    "CREATE POLICY campuses_known ON campuses FOR SELECT USING (true)",
    "CREATE POLICY hubs_known ON hubs FOR SELECT USING (true)",
    f"CREATE POLICY orders_of_their_parties ON orders FOR SELECT USING ({_PARTIES})",
    "CREATE POLICY orders_placed_by_their_buyer ON orders FOR INSERT "
    "WITH CHECK (buyer_id = app_user_id() AND status = 'Processing' AND app_may('orders:place'))",
    f"CREATE POLICY order_items_of_their_parties ON order_items FOR SELECT USING ({_PARTIES})",
    "CREATE POLICY order_items_placed_by_their_buyer ON order_items FOR INSERT WITH CHECK (buyer_id = app_user_id())",
    # A checkout starts the payment window; no caller sees or stops a timer.
    "CREATE POLICY order_timers_started_by_checkout ON order_timers FOR INSERT WITH CHECK (kind = 'payment_window')",
    "CREATE POLICY delivery_pins_of_the_buyer ON delivery_pins FOR SELECT USING (buyer_id = app_user_id())",
)


def upgrade() -> None:
    grant_roles_v1("orders")
    create_messaging_v1("orders")
    for statement in (*_CATALOG, *_ORDERS, _RESERVE_STOCK):
        op.execute(statement)
    op.execute("REVOKE EXECUTE ON FUNCTION reserve_stock FROM public")
    op.execute("GRANT EXECUTE ON FUNCTION reserve_stock TO campus_orders_api")
    for table in ("products", "vendors", "campuses", "hubs"):
        grant_api_v1("orders", table, "SELECT")
    for table in ("orders", "order_items"):
        grant_api_v1("orders", table, "SELECT, INSERT")
    grant_api_v1("orders", "order_timers", "INSERT")
    # Not the digest: nobody but the service compares it.
    grant_api_v1("orders", "delivery_pins", "SELECT (order_id, buyer_id, issue, sealed, wrong_tries)")
    for statement in _POLICIES:
        op.execute(statement)


def downgrade() -> None:
    raise NotImplementedError("history goes forward: restore a backup instead")
