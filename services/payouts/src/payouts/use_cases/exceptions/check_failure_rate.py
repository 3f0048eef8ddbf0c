"""Observe the rate of failing payouts, and alert the on-call staff once when it is too high."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.operations import AlertCleared, AlertRaised
from payouts import queries
from payouts.domain.exceptions import RUNBOOK
from payouts.domain.failure_rate import (
    ALERTS_ABOVE_PERCENT,
    CLEARS_BELOW_PERCENT,
    FAILURE_RATE_KEY,
    DueStep,
    FailureRatePolicy,
    ObservedFailureRate,
    evaluate_rate,
)
from payouts.metrics import PAYOUT_ATTEMPTS, PAYOUT_FAILURE_RATE
from payouts.store import open_alerts


async def check_failure_rate(uow: UnitOfWork, policy: FailureRatePolicy, now: datetime) -> DueStep:
    """Raise or clears the SEV-2 alert. Of several workers with the same result, one publishes it."""
    observed, *_ = await queries.observe_window(uow, now, policy.window)
    PAYOUT_ATTEMPTS.set(observed.attempts)
    PAYOUT_FAILURE_RATE.set(observed.rate)
    open_alert = await queries.find_open_alert(uow, FAILURE_RATE_KEY)
    step = evaluate_rate(observed, open_alert, policy, now)
    if step == "raise" and await open_alerts.save_alert_if_new(uow, FAILURE_RATE_KEY, now):
        uow.publish(_raised(observed, policy, now), source="payouts")
    if step == "clear" and await open_alerts.remove_alert(uow, FAILURE_RATE_KEY):
        reason = f"The failure rate stayed below {CLEARS_BELOW_PERCENT} % for {int(policy.calm_for.total_seconds())} s."
        uow.publish(AlertCleared(alert_id=new_id(), dedup_key=FAILURE_RATE_KEY, reason=reason), source="payouts")
    if step in ("begin_calm", "end_calm"):
        await open_alerts.save_calm(uow, FAILURE_RATE_KEY, now if step == "begin_calm" else None)
    return step


def _raised(observed: ObservedFailureRate, policy: FailureRatePolicy, now: datetime) -> AlertRaised:
    return AlertRaised(
        alert_id=new_id(),
        severity="SEV-2",
        title=f"More than {ALERTS_ABOVE_PERCENT} % of payouts fail",
        detail=f"{observed.failures} of {observed.attempts} attempts within {int(policy.window.total_seconds())} s until {iso(now)}.",
        runbook=RUNBOOK,
        dedup_key=FAILURE_RATE_KEY,
        about="payouts",
    )
