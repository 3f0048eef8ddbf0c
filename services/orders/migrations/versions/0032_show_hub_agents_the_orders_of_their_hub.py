"""Show hub agents the orders of their own hub (decision 193)."""

from alembic import op

revision = "0032"
down_revision = "0031"

_SHARES_ORDER = """
CREATE OR REPLACE FUNCTION shares_order_with(other_user_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
    SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM orders
        WHERE buyer_id = other_user_id
          AND (
              (vendor_id = app_vendor_id() AND app_may('orders:fulfil'))
{}
          )
    ) OR EXISTS (
        SELECT FROM orders AS own JOIN vendors AS vendor ON vendor.id = own.vendor_id
        WHERE own.buyer_id = app_user_id() AND vendor.owner_user_id = other_user_id
    );
END
$$
"""
_OF_HUB = """              OR (hub_id = app_hub_id() AND app_may('orders:verify'))
              OR (campus_id = app_campus_id() AND app_may('campus_orders:read'))"""
_OF_CAMPUS = (
    "              OR (campus_id = app_campus_id() AND (app_may('orders:verify') OR app_may('campus_orders:read')))"
)
_PARTIES = """
ALTER POLICY {table}_of_their_parties ON {table}
    USING (
        buyer_id = (SELECT app_user_id())
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
        {verifier}OR (SELECT app_may('orders:read'))
    )
"""
_CAMPUS_VERIFIER = "OR (campus_id = (SELECT app_campus_id()) AND (SELECT app_may('orders:verify')))\n        "
_HUB_VERIFIER = "OR (hub_id = (SELECT app_hub_id()) AND (SELECT app_may('orders:verify')))\n        "


def upgrade() -> None:
    op.execute(
        "CREATE FUNCTION app_hub_id() RETURNS uuid STABLE LANGUAGE sql AS "
        "$$ SELECT nullif(current_setting('app.hub_id', true), '')::uuid $$"
    )
    op.execute(
        "CREATE INDEX IF NOT EXISTS orders_newest_of_hub ON orders (hub_id, created_at, id) WHERE hub_id IS NOT NULL"
    )
    op.execute(_PARTIES.format(table="orders", verifier=_HUB_VERIFIER))
    op.execute(_PARTIES.format(table="order_items", verifier=""))
    op.execute("ALTER POLICY order_items_with_a_charge ON order_items RENAME TO order_items_with_their_order")
    op.execute(
        """
ALTER POLICY order_items_with_their_order ON order_items
    USING (
        ((SELECT app_may('charged_orders:read')) OR (SELECT app_may('orders:verify')))
        AND EXISTS (SELECT FROM orders WHERE orders.id = order_items.order_id)
    )
"""
    )
    op.execute(_SHARES_ORDER.format(_OF_HUB))


def downgrade() -> None:
    op.execute(_SHARES_ORDER.format(_OF_CAMPUS))
    op.execute("ALTER POLICY order_items_with_their_order ON order_items RENAME TO order_items_with_a_charge")
    op.execute(
        """
ALTER POLICY order_items_with_a_charge ON order_items
    USING ((SELECT app_may('charged_orders:read'))
        AND EXISTS (SELECT FROM orders WHERE orders.id = order_items.order_id))
"""
    )
    op.execute(_PARTIES.format(table="order_items", verifier=_CAMPUS_VERIFIER))
    op.execute(_PARTIES.format(table="orders", verifier=_CAMPUS_VERIFIER))
    op.execute("DROP INDEX orders_newest_of_hub")
    op.execute("DROP FUNCTION app_hub_id()")
