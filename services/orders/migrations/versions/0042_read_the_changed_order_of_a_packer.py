"""Read the order that a packer changed whatever state it has after the commit."""

from alembic import op

revision = "0042"
down_revision = "0041"

_COLUMNS = """orders.id, orders.number, orders.status, orders.hub_id, hub.name AS hub_name,
       buyer.short_name AS buyer_name, orders.delivery_note,
       orders.created_at, orders.updated_at, orders.arrived_at, orders.delivered_at,
       orders.revision,
       coalesce((
           SELECT json_agg(item) FROM (
               SELECT order_items.id, order_items.product_id AS "productId", order_items.variant_id AS "variantId",
                      order_items.name, order_items.quantity
               FROM order_items
               WHERE order_items.order_id = orders.id AND order_items.cancelled_at IS NULL
               ORDER BY order_items.position
           ) AS item
       ), '[]') AS items"""
_TABLES = """orders
    LEFT JOIN hubs AS hub ON hub.id = orders.hub_id
    LEFT JOIN user_contacts AS buyer ON buyer.user_id = orders.buyer_id"""
_OF_PACKERS = """vendor_id = (SELECT app_packing_vendor_id()) AND (SELECT app_may('orders:pack'))
  AND status IN ('paid_escrow', 'dispatched', 'delivered', 'paid')"""
_OPTIONS = "WITH (security_barrier)"


def upgrade() -> None:
    op.execute(f"CREATE VIEW orders_to_pack {_OPTIONS} AS SELECT {_COLUMNS}, orders.vendor_id FROM {_TABLES}")
    op.execute(f"""
CREATE OR REPLACE VIEW packing_orders {_OPTIONS} AS
SELECT id, number, status, hub_id, hub_name, buyer_name, delivery_note, created_at, updated_at, arrived_at,
       delivered_at, revision, items
FROM orders_to_pack
WHERE {_OF_PACKERS}
""")


def downgrade() -> None:
    conditions = _OF_PACKERS.replace("vendor_id", "orders.vendor_id", 1).replace("status", "orders.status")
    op.execute(
        f"CREATE OR REPLACE VIEW packing_orders {_OPTIONS} AS SELECT {_COLUMNS} FROM {_TABLES} WHERE {conditions}"
    )
    op.execute("DROP VIEW orders_to_pack")
