"""What notifications keeps for a time only (decision 23)."""

from datetime import timedelta
from typing import Final, NamedTuple

from common.database.retention import Partitioned, RetentionRule, Rule

# A conversation may have hundreds of messages, which go with it: a short transaction all the same.
CONVERSATIONS_BATCH_MAX: Final = 100
# A body goes when everything in it has had its effect.
_FINAL: Final = """
outcome IN ('done', 'ignored') AND NOT EXISTS (
    SELECT FROM messaging_items AS item
    WHERE item.webhook_id = processed_webhook_events.id AND item.outcome NOT IN ('done', 'ignored')
)
"""
# Sent or given up; and all its attempts have left with their months.
_SETTLED: Final = """
status <> 'queued' AND claim_id IS NULL AND due_at IS NULL
AND NOT EXISTS (SELECT FROM notification_delivery_logs AS log WHERE log.delivery_id = notification_deliveries.id)
"""
_WITHOUT_DELIVERIES: Final = """
NOT EXISTS (SELECT FROM notification_deliveries AS delivery WHERE delivery.notification_id = notifications.id)
"""


class Times(NamedTuple):
    """How long each is kept: webhooks of the messaging app since they came, deliveries with their attempts, what stands in a
    feed, alerts since they were closed, and conversations with the assistant since the last word."""

    webhooks: timedelta
    deliveries: timedelta
    notifications: timedelta
    alerts: timedelta
    conversations: timedelta


def kept(times: Times) -> tuple[Rule, ...]:
    return (
        RetentionRule(
            "processed_webhook_events",
            ("id",),
            "processed_at",
            times.webhooks,
            over=_FINAL,
        ),
        # Only how far a message got: told again it changes nothing. That a customer wrote is remembered as long as what they wrote.
        RetentionRule(
            "messaging_items",
            ("id",),
            "received_at",
            times.webhooks,
            over="kind = 'status' AND outcome IN ('done', 'ignored')",
        ),
        Partitioned("notification_delivery_logs", times.deliveries),
        RetentionRule(
            "notification_deliveries",
            ("id",),
            "created_at",
            times.deliveries,
            over=_SETTLED,
            followers={"notification_resends": "delivery_id"},
            whole_months=True,
        ),
        RetentionRule(
            "notifications",
            ("id",),
            "created_at",
            times.notifications,
            over=_WITHOUT_DELIVERIES,
            followers={"pin_watches": "notification_id"},
        ),
        RetentionRule("alerts", ("id",), "closed_at", times.alerts),
        RetentionRule(
            "conversations", ("id",), "last_message_at", times.conversations, rows_max=CONVERSATIONS_BATCH_MAX
        ),
        # Of a process that died while it answered.
        RetentionRule("conversation_turns", ("id",), "until", timedelta(0)),
    )
