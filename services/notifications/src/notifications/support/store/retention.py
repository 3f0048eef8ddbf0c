"""Retention rules (decision 23)."""

from datetime import timedelta
from typing import Final

from common.database.retention import RetentionRule, Rule

# A body expires after all of its items are processed.
_FINAL: Final = """
outcome IN ('done', 'ignored') AND NOT EXISTS (
    SELECT FROM messaging_items AS item
    WHERE item.webhook_id = processed_webhook_events.id AND item.outcome NOT IN ('done', 'ignored')
)
"""


def retention_rules(webhooks: timedelta) -> tuple[Rule, ...]:
    """Return the rules of the webhooks of the messaging app, since their arrival."""
    return (
        RetentionRule(
            "processed_webhook_events",
            ("id",),
            "processed_at",
            webhooks,
            over=_FINAL,
        ),
        # A repeated status has no effect. Items of customer messages stay as long as their tickets.
        RetentionRule(
            "messaging_items",
            ("id",),
            "received_at",
            webhooks,
            over="kind = 'status' AND outcome IN ('done', 'ignored')",
        ),
        RetentionRule("dead_letter_webhooks", ("id",), "resolved_at", webhooks),
    )
