"""Retention rules (decision 23)."""

from datetime import timedelta
from typing import Final, NamedTuple

from common.database.retention import Partitioned, RetentionRule, Rule
from notifications.domain.webhooks import EVENT_LIFETIME

# Conversations cascade to hundreds of messages; small batches keep transactions short.
CONVERSATIONS_BATCH_MAX: Final = 100
# A body expires after all of its items are processed.
_FINAL: Final = """
outcome IN ('done', 'ignored') AND NOT EXISTS (
    SELECT FROM messaging_items AS item
    WHERE item.webhook_id = processed_webhook_events.id AND item.outcome NOT IN ('done', 'ignored')
)
"""
# The delivery is final, and its attempts have expired with their partitions.
_SETTLED: Final = """
status <> 'queued' AND claim_id IS NULL AND due_at IS NULL
AND NOT EXISTS (SELECT FROM notification_delivery_logs AS log WHERE log.delivery_id = notification_deliveries.id)
"""
_WITHOUT_PENDING: Final = """
NOT EXISTS (
    SELECT FROM webhook_deliveries AS delivery WHERE delivery.event_id = webhook_events.id AND delivery.status = 'pending'
)
"""
_WITHOUT_DELIVERIES: Final = """
NOT EXISTS (SELECT FROM notification_deliveries AS delivery WHERE delivery.notification_id = notifications.id)
"""


class RetentionPeriods(NamedTuple):
    """Retention by table: messaging webhooks since arrival, deliveries with their attempts, the feed, alerts since they
    were closed, and conversations since their last message."""

    webhooks: timedelta
    deliveries: timedelta
    notifications: timedelta
    alerts: timedelta
    conversations: timedelta


def retention_rules(periods: RetentionPeriods) -> tuple[Rule, ...]:
    return (
        RetentionRule(
            "processed_webhook_events",
            ("id",),
            "processed_at",
            periods.webhooks,
            over=_FINAL,
        ),
        # A repeated status has no effect. Items of customer messages stay as long as their tickets.
        RetentionRule(
            "messaging_items",
            ("id",),
            "received_at",
            periods.webhooks,
            over="kind = 'status' AND outcome IN ('done', 'ignored')",
        ),
        RetentionRule("dead_letter_webhooks", ("id",), "resolved_at", periods.webhooks),
        Partitioned("notification_delivery_logs", periods.deliveries),
        RetentionRule(
            "notification_deliveries",
            ("id",),
            "created_at",
            periods.deliveries,
            over=_SETTLED,
            followers={"notification_resends": "delivery_id"},
            whole_months=True,
        ),
        RetentionRule(
            "notifications",
            ("id",),
            "created_at",
            periods.notifications,
            over=_WITHOUT_DELIVERIES,
            followers={"pin_watches": "notification_id"},
        ),
        RetentionRule("alerts", ("id",), "closed_at", periods.alerts),
        RetentionRule(
            "conversations", ("id",), "last_message_at", periods.conversations, rows_max=CONVERSATIONS_BATCH_MAX
        ),
        RetentionRule(
            "webhook_events",
            ("id",),
            "recorded_at",
            EVENT_LIFETIME,
            over=_WITHOUT_PENDING,
            followers={"webhook_deliveries": "event_id"},
        ),
        # Turns of processes that died.
        RetentionRule("conversation_turns", ("id",), "until", timedelta(0)),
    )
