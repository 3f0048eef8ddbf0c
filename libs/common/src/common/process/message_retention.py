"""Retention of messages, for every service (decision 23)."""

from datetime import timedelta
from typing import Final

from common.database.outbox import FLOOR
from common.database.retention import RetentionRule, Rule
from common.process.settings import ServiceSettings

# A subject without an event for so long continues at a higher number than the next one (decision 210).
SEQUENCE_LIFE: Final = timedelta(days=30)
# Longer than any statement: each one that inserts a number reads a floor that was raised before the row was removed.
_FLOOR_SETTLES: Final = "interval '1 hour'"
_NO_FLOOR: Final = f"subject <> '{FLOOR}'"
_BELOW_FLOOR: Final = f"""
{_NO_FLOOR} AND last <= (
    SELECT last FROM outbox_sequences WHERE subject = '{FLOOR}' AND used_at <= now() - {_FLOOR_SETTLES}
)
"""
# Not while the floor settles: rows would never be below one that rises every minute.
_RAISE_FLOOR: Final = f"""
INSERT INTO outbox_sequences AS floor (subject, last, used_at)
SELECT '{FLOOR}', max(last), now() FROM outbox_sequences WHERE used_at <= $1 AND {_NO_FLOOR} HAVING count(*) > 0
ON CONFLICT (subject) DO UPDATE SET last = excluded.last, used_at = excluded.used_at
WHERE floor.last < excluded.last AND floor.used_at <= now() - {_FLOOR_SETTLES}
"""
SEQUENCE_RETENTION: Final = RetentionRule(
    "outbox_sequences",
    ("subject",),
    "used_at",
    SEQUENCE_LIFE,
    over=_BELOW_FLOOR,
    stamped_by="database",
    final_statement=_RAISE_FLOOR,
)
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
        SEQUENCE_RETENTION,
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
