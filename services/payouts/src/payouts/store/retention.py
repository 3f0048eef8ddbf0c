"""What payouts keeps for a time only. The book, transfers, observations, decisions and their trails stay for ever (decision 23)."""

from datetime import timedelta

from common.database.retention import RetentionRule, Rule

# What a vendor sees of their schedule is its latest period; and a period that asked for a payout belongs to the payout.
_SKIPPED = """
outcome = 'skipped' AND EXISTS (
    SELECT FROM scheduled_payouts AS later
    WHERE later.vendor_id = scheduled_payouts.vendor_id AND later.period > scheduled_payouts.period
)
"""


def retention_rules(skipped_periods: timedelta) -> tuple[Rule, ...]:
    """`skipped_periods`: how long it is known why a schedule asked for no payout."""
    return (RetentionRule("scheduled_payouts", ("vendor_id", "period"), "decided_at", skipped_periods, over=_SKIPPED),)
