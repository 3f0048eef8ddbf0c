"""Name who caused each event of an order."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

_NAMES = """
CREATE OR REPLACE VIEW shop_actions WITH (security_barrier) AS
SELECT history.order_id, history.id, actor.short_name
FROM order_history AS history
    JOIN orders ON orders.id = history.order_id
    JOIN user_contacts AS actor ON actor.user_id = history.actor_id
WHERE {condition}
"""
_OF_THE_SHOP = "orders.vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil'))"
_EARLIER = "history.event IN ('vendor_dispatches', 'pin_accepted')"


def upgrade() -> None:
    op.add_column("order_history", sa.Column("actor_role", sa.Text(), nullable=True))
    op.execute("GRANT SELECT (actor_role) ON order_history TO campus_orders_api")
    condition = f"""history.actor_id = (SELECT app_user_id())
   OR (SELECT app_may('orders:read'))
   OR (
        {_OF_THE_SHOP}
        AND coalesce(history.actor_role IN ('buyer', 'vendor'), {_EARLIER})
    )"""
    op.execute(_NAMES.format(condition=condition))


def downgrade() -> None:
    op.execute(_NAMES.format(condition=f"{_OF_THE_SHOP} AND {_EARLIER}"))
    op.drop_column("order_history", "actor_role")
