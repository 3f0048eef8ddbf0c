"""Retention rules of orders. Orders, decisions and their idempotency keys are kept for ever (decision 23)."""

from datetime import timedelta

from common.database.retention import RetentionRule, Rule

# No PIN verifies in these states, and no transition leads from them to a state in which one does.
_SETTLED = """
EXISTS (
    SELECT FROM orders
    WHERE orders.id = delivery_pins.order_id AND orders.status IN ('paid', 'refunded', 'cancelled', 'expired')
)
"""


def retention_rules(delivery_pins: timedelta) -> tuple[Rule, ...]:
    """`delivery_pins` is the retention of the PIN of a settled order."""
    return (RetentionRule("delivery_pins", ("order_id",), "issued_at", delivery_pins, over=_SETTLED),)
