"""Show packers the orders of their shop without amounts (decision 206)."""

from alembic import op

revision = "0040"
down_revision = "0039"

_ACCESS = (
    """
CREATE FUNCTION app_packing_vendor_id() RETURNS uuid STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('app.packing_vendor_id', true), '')::uuid $$
""",
    """
CREATE VIEW packing_orders WITH (security_barrier) AS
SELECT orders.id, orders.number, orders.status, orders.hub_id, hub.name AS hub_name, buyer.short_name AS buyer_name,
       orders.delivery_note, orders.created_at, orders.updated_at, orders.arrived_at, orders.delivered_at,
       orders.revision,
       coalesce((
           SELECT json_agg(item) FROM (
               SELECT order_items.id, order_items.product_id AS "productId", order_items.variant_id AS "variantId",
                      order_items.name, order_items.quantity
               FROM order_items
               WHERE order_items.order_id = orders.id AND order_items.cancelled_at IS NULL
               ORDER BY order_items.position
           ) AS item
       ), '[]') AS items
FROM orders
    LEFT JOIN hubs AS hub ON hub.id = orders.hub_id
    LEFT JOIN user_contacts AS buyer ON buyer.user_id = orders.buyer_id
WHERE orders.vendor_id = (SELECT app_packing_vendor_id()) AND (SELECT app_may('orders:pack'))
  AND orders.status IN ('paid_escrow', 'dispatched', 'delivered', 'paid')
""",
    "GRANT SELECT ON packing_orders TO campus_orders_api",
    """
CREATE VIEW shop_actions WITH (security_barrier) AS
SELECT history.order_id, history.id, actor.short_name
FROM order_history AS history
    JOIN orders ON orders.id = history.order_id
    JOIN user_contacts AS actor ON actor.user_id = history.actor_id
WHERE orders.vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil'))
  AND history.event IN ('vendor_dispatches', 'pin_accepted')
""",
    "GRANT SELECT ON shop_actions TO campus_orders_api",
)
_NOT_OF_ONES_OWN_SHOP = """
ALTER POLICY {table}_never_of_ones_own_vendor ON {table} WITH CHECK (
        vendor_id IS DISTINCT FROM (SELECT app_vendor_id())
        {packer}AND NOT EXISTS (
            SELECT FROM vendors AS known
            WHERE known.id = {table}.vendor_id
              AND known.owner_user_id = (SELECT app_user_id())
        )
    )
"""
_PACKER = "AND vendor_id IS DISTINCT FROM (SELECT app_packing_vendor_id())\n        "


def upgrade() -> None:
    for statement in _ACCESS:
        op.execute(statement)
    for table in ("orders", "reviews"):
        op.execute(_NOT_OF_ONES_OWN_SHOP.format(table=table, packer=_PACKER))


def downgrade() -> None:
    for table in ("orders", "reviews"):
        op.execute(_NOT_OF_ONES_OWN_SHOP.format(table=table, packer=""))
    op.execute("DROP VIEW shop_actions")
    op.execute("DROP VIEW packing_orders")
    op.execute("DROP FUNCTION app_packing_vendor_id()")
