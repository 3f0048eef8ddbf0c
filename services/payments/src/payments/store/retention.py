"""Retention of webhooks. The ledger and every record of money stays for ever (decision 23)."""

from datetime import timedelta

from common.database.retention import RetentionRule, Rule

# Only final webhooks expire: queued and dead ones stay. A replay or closure is recorded as long as a webhook. A webhook
# that is resent after its expiry has no second effect: charges, refunds and posting keys are unique.
_FINAL = """
outcome IN ('done', 'ignored') AND NOT EXISTS (
    SELECT FROM dead_letter_webhooks AS dead
    WHERE dead.webhook_id = processed_webhook_events.id
        AND coalesce(dead.replayed_at, dead.closed_at, dead.failed_at) > $1
) AND NOT EXISTS (
    SELECT FROM revised_webhooks AS revised
    WHERE revised.webhook_id = processed_webhook_events.id AND (revised.due_at IS NOT NULL OR revised.revised_at > $1)
)
"""


def retention_rules(webhook_retention: timedelta) -> tuple[Rule, ...]:
    """Return the rules; a webhook and its body are stored for `webhook_retention`."""
    return (
        RetentionRule(
            "processed_webhook_events",
            ("id",),
            "processed_at",
            webhook_retention,
            over=_FINAL,
            followers={
                "dead_letter_webhooks": "webhook_id",
                "webhook_revisions": "webhook_id",
                "revised_webhooks": "webhook_id",
            },
            stamped_by="database",
            remover="remove_final_webhooks",
        ),
    )
