"""Retention of messages, for every service (decision 23)."""

from datetime import timedelta
from typing import Final

from common.database.retention import RetentionRule, Rule
from common.process.settings import ServiceSettings

# Processes load the revocations of the last two hours (common.process.revocations).
REVOCATION_LIFE: Final = timedelta(days=1)


def message_retention_rules(settings: ServiceSettings) -> tuple[Rule, ...]:
    """Return the retention rules of messages.

    An inbox row outlives any redelivery and any dead letter of its message, which one consumer may have handled.
    Unpublished messages and dead letters that were not resolved never expire.
    """
    return (
        RetentionRule(
            "outbox", ("position",), "published_at", timedelta(days=settings.outbox_keep_days), stamped_by="database"
        ),
        RetentionRule(
            "inbox",
            ("event_id", "consumer"),
            "handled_at",
            timedelta(days=settings.inbox_keep_days),
            over="event_id NOT IN (SELECT event_id FROM dead_letters WHERE event_id IS NOT NULL)",
            stamped_by="database",
        ),
        RetentionRule(
            "dead_letters",
            ("id",),
            "resolved_at",
            timedelta(days=settings.dead_letters_keep_days),
            stamped_by="database",
        ),
        # The table has no key, and its rows never change, so `ctid` identifies them.
        RetentionRule("session_revocations", ("ctid",), "heard_at", REVOCATION_LIFE, stamped_by="database"),
    )
