"""Observe the rate of failing payouts, and alert the on-call staff once when it is too high."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payouts.domain.failure_rate import (
    FAILURE_RATE_KEY,
    DueStep,
    FailureRatePolicy,
    evaluate_rate,
)
from payouts.metrics import PAYOUT_ATTEMPTS, PAYOUT_FAILURE_RATE
from payouts.queries.observations import find_open_alert, observe_window
from payouts.store import open_alerts
from payouts.use_cases.alerts import alert_failure_rate, clear_failure_rate


async def check_failure_rate(uow: UnitOfWork, policy: FailureRatePolicy, now: datetime) -> DueStep:
    """Raise or clears the SEV-2 alert. Of several workers with the same result, one publishes it."""
    observed, *_ = await observe_window(uow, now, policy.window)
    PAYOUT_ATTEMPTS.set(observed.attempts)
    PAYOUT_FAILURE_RATE.set(observed.rate)
    open_alert = await find_open_alert(uow, FAILURE_RATE_KEY)
    step = evaluate_rate(observed, open_alert, policy, now)
    if step == "raise" and await open_alerts.save_alert_if_new(uow, FAILURE_RATE_KEY, now):
        alert_failure_rate(uow, observed, policy, now)
    if step == "clear" and await open_alerts.remove_alert(uow, FAILURE_RATE_KEY):
        clear_failure_rate(uow, policy)
    if step in ("begin_calm", "end_calm"):
        await open_alerts.save_calm(uow, FAILURE_RATE_KEY, now if step == "begin_calm" else None)
    return step
