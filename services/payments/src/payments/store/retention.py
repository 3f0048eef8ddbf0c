"""What payments keeps for a time only. The book and everything that speaks of money stays for ever (decision 23)."""

from datetime import timedelta

from common.database.retention import RetentionRule, Rule

# Only what is final: what waits, or waits for people, stays. A dead letter goes with the webhook that was effected after all, and
# a replay is remembered as long as a webhook. Were one sent again afterwards, charges, refunds and posting keys know it.
_FINAL = """
outcome IN ('done', 'ignored') AND NOT EXISTS (
    SELECT FROM dead_letter_webhooks AS letter
    WHERE letter.webhook_id = processed_webhook_events.id AND coalesce(letter.replayed_at, letter.failed_at) > $1
) AND NOT EXISTS (
    SELECT FROM revised_webhooks AS revised
    WHERE revised.webhook_id = processed_webhook_events.id AND (revised.due_at IS NOT NULL OR revised.revised_at > $1)
)
"""


def kept(webhooks: timedelta) -> tuple[Rule, ...]:
    """`webhooks`: how long a webhook of the gateway is known, with its body."""
    return (
        RetentionRule(
            "processed_webhook_events",
            ("id",),
            "processed_at",
            webhooks,
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
