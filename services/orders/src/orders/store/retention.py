"""What orders keeps for a time only. Orders, decisions and the keys that made them stay for ever (decision 23)."""

from datetime import timedelta

from common.database.retention import RetentionRule, Rule

# In these states no PIN opens anything, and no move leads out of them to one that it opens.
_SETTLED = """
EXISTS (
    SELECT FROM orders
    WHERE orders.id = delivery_pins.order_id AND orders.status IN ('paid', 'refunded', 'cancelled', 'expired')
)
"""


def kept(delivery_pins: timedelta) -> tuple[Rule, ...]:
    """`delivery_pins`: how long the secret of a settled order stays."""
    return (RetentionRule("delivery_pins", ("order_id",), "issued_at", delivery_pins, over=_SETTLED),)
