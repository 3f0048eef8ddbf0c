"""Retention rules of payouts. The ledger, transfers, observations, decisions and their histories are kept forever
(decision 23).
"""

from datetime import timedelta

from common.database.retention import RetentionRule, Rule

# The vendor sees the latest period of the schedule; a period that requested a payout belongs to that payout.
_SKIPPED = """
outcome = 'skipped' AND EXISTS (
    SELECT FROM scheduled_payouts AS later
    WHERE later.vendor_id = scheduled_payouts.vendor_id AND later.period > scheduled_payouts.period
)
"""


def retention_rules(skipped_periods: timedelta) -> tuple[Rule, ...]:
    """`skipped_periods`: how long the reasons of skipped periods are kept."""
    return (RetentionRule("scheduled_payouts", ("vendor_id", "period"), "decided_at", skipped_periods, over=_SKIPPED),)
