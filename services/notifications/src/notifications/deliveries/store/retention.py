"""Retention rules (decision 23)."""

from datetime import timedelta
from typing import Final

from common.database.retention import Partitioned, RetentionRule, Rule

# Disputes and chargebacks of an order, whose messages name it, have ended long before.
ORDER_SUMMARY_LIFE: Final = timedelta(days=730)
# The delivery is final, and its attempts have expired with their partitions.
_SETTLED: Final = """
status <> 'queued' AND claim_id IS NULL AND due_at IS NULL
AND NOT EXISTS (SELECT FROM notification_delivery_logs AS log WHERE log.delivery_id = notification_deliveries.id)
"""
_WITHOUT_DELIVERIES: Final = """
NOT EXISTS (SELECT FROM notification_deliveries AS delivery WHERE delivery.notification_id = notifications.id)
"""


def retention_rules(deliveries: timedelta, notifications: timedelta, alerts: timedelta) -> tuple[Rule, ...]:
    """Return the rules of deliveries with their attempts, of the feed, of orders, and of closed alerts."""
    return (
        Partitioned("notification_delivery_logs", deliveries),
        RetentionRule(
            "notification_deliveries",
            ("id",),
            "created_at",
            deliveries,
            over=_SETTLED,
            followers={"notification_resends": "delivery_id"},
            whole_months=True,
        ),
        RetentionRule(
            "notifications",
            ("id",),
            "created_at",
            notifications,
            over=_WITHOUT_DELIVERIES,
            followers={"pin_watches": "notification_id"},
        ),
        RetentionRule("order_summaries", ("order_id",), "recorded_at", ORDER_SUMMARY_LIFE, stamped_by="database"),
        RetentionRule("alerts", ("id",), "closed_at", alerts, followers={"alert_actions": "alert_id"}),
    )
