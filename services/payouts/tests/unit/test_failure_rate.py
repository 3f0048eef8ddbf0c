import random
from datetime import timedelta

import pytest

from common.primitives.clock import ManualClock
from payouts.domain.failure_rate import (
    FailureRatePolicy,
    ObservedFailureRate,
    OpenAlert,
    bank_key,
    evaluate_rate,
    is_alarming,
)

WATCH = FailureRatePolicy(timedelta(hours=1), attempts_min=20, calm_for=timedelta(minutes=10))

# attempts, failures, at least so many attempts -> alarming
ALARMS = [
    (0, 0, 1, False),
    (1, 1, 1, True),
    (20, 1, 1, False),  # exactly 5 %
    (19, 1, 1, True),
    (100, 5, 1, False),
    (100, 6, 1, True),
    (1000, 50, 1, False),
    (1000, 51, 1, True),
    (19, 19, 20, False),  # too few for a rate
    (20, 2, 20, True),
    (10**9, 5 * 10**7, 1, False),
    (10**9, 5 * 10**7 + 1, 1, True),
]


@pytest.mark.parametrize(("attempts", "failures", "attempts_min", "alarming"), ALARMS)
def test_above_five_percent_alarms_and_exactly_five_does_not(
    attempts, failures, attempts_min: int, alarming: bool
) -> None:
    assert is_alarming(ObservedFailureRate(attempts, failures), attempts_min) is alarming


def alert_steps(rates, *, every=timedelta(seconds=5)):
    """Return the alert's steps for these numbers of failures of a thousand attempts, one after another."""
    clock, open_alert, steps = ManualClock(), None, []
    for failures in rates:
        step = evaluate_rate(ObservedFailureRate(1000, failures), open_alert, WATCH, clock.now())
        if step == "raise":
            open_alert = OpenAlert(clock.now())
        elif step == "clear":
            open_alert = None
        elif step in ("begin_calm", "end_calm"):
            open_alert = OpenAlert(open_alert.raised_at, clock.now() if step == "begin_calm" else None)
        if step in ("raise", "clear"):
            steps.append(step)
        clock.advance(every)
    return steps


@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_rate_around_five_percent_raises_one_alert(seed: int) -> None:
    noise = random.Random(seed)
    assert alert_steps(noise.randint(35, 65) for _ in range(3000)) == ["raise"]


def test_a_low_rate_clears_the_alert() -> None:
    minutes = 12  # of a poll each five seconds
    assert alert_steps([60] * 3 + [20] * 119) == ["raise"]
    assert alert_steps([60] * 3 + [29] * 122) == ["raise", "clear"]
    assert alert_steps([60] * 3 + [30] * 500) == ["raise"]  # 3 % is not below 3 %
    assert alert_steps(([60] * minutes * 12 + [20] * minutes * 12) * 2) == ["raise", "clear", "raise", "clear"]


def test_an_interruption_restarts_the_quiet_time() -> None:
    assert alert_steps([60] + ([20] * 100 + [40]) * 5) == ["raise"]
    assert alert_steps([60] + [20] * 100 + [40] + [20] * 122) == ["raise", "clear"]


def test_an_hour_without_attempts_is_calm() -> None:
    clock = ManualClock()
    open_alert = OpenAlert(clock.now())
    assert evaluate_rate(ObservedFailureRate(0, 0), open_alert, WATCH, clock.now()) == "begin_calm"
    assert evaluate_rate(ObservedFailureRate(0, 0), None, WATCH, clock.now()) == "stay"


@pytest.mark.parametrize(
    ("attempts", "failures", "step"),
    [
        (3334, 100, "begin_calm"),
        # 2.97 %, by less than one failure.
        (3333, 99, "begin_calm"),
        (3333, 100, "stay"),
        (100, 3, "stay"),
    ],
)
def test_a_rate_is_calm_only_below_three_percent(attempts: int, failures: int, step: str) -> None:
    now = ManualClock().now()
    assert evaluate_rate(ObservedFailureRate(attempts, failures), OpenAlert(now), WATCH, now) == step


@pytest.mark.parametrize(
    ("calm_for", "step"),
    [(timedelta(minutes=9, seconds=59), "stay"), (timedelta(minutes=10), "clear"), (timedelta(minutes=11), "clear")],
)
def test_the_alert_clears_when_the_whole_quiet_time_is_over(calm_for: timedelta, step: str) -> None:
    now = ManualClock().now()
    assert evaluate_rate(ObservedFailureRate(1000, 29), OpenAlert(now, now), WATCH, now + calm_for) == step


def test_the_rate_is_the_share_of_failures_and_zero_without_attempts() -> None:
    assert [ObservedFailureRate(*counts).rate for counts in ((0, 0), (4, 0), (4, 1), (4, 4))] == [0.0, 0.0, 0.25, 1.0]
    # Stored with the open alert of the bank: another key would leave it open.
    assert bank_key("058") == "payout-bank-switch:058"
