"""When the rate of failing payouts wakes somebody, and when that is over. Whole numbers only: exactly 5 % is not above 5 %."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

ALERTS_ABOVE_PERCENT: Final = 5
# A rate that swings around the upper mark would raise and clear all day: it must fall below a lower one, and stay there.
CLEARS_BELOW_PERCENT: Final = 3

# At least so many payouts to one bank, failing by its switch within this time, are the bank's own trouble.
SWITCH_FAILURES_OF_ONE_BANK: Final = 3
SWITCH_WINDOW: Final = timedelta(minutes=15)

# What joins everything said to the people on call about the rate, and about one bank.
FAILURE_RATE_KEY: Final = "payout-failure-rate"
BANK_KEY_PREFIX: Final = "payout-bank-switch:"

DueStep = Literal["raise", "stay", "begin_calm", "end_calm", "clear"]


@dataclass(frozen=True, slots=True)
class ObservedFailureRate:
    """Attempts of the window, and those of them that opened an exception."""

    attempts: int
    failures: int

    @property
    def rate(self) -> float:
        """A share of attempts, no money."""
        return self.failures / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, slots=True)
class OpenAlert:
    """An alert that is raised; `calm_since` is when the rate last fell below the lower mark and stayed there."""

    raised_at: datetime
    calm_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FailureRatePolicy:
    """How the rate is watched: over which while, from how many attempts on, and how long it must stay low to be over."""

    window: timedelta
    attempts_min: int
    calm_for: timedelta


def is_alarming(observed: ObservedFailureRate, attempts_min: int) -> bool:
    """Above 5 %, over enough attempts to speak of a rate."""
    return observed.attempts >= attempts_min and observed.failures * 100 > ALERTS_ABOVE_PERCENT * observed.attempts


def evaluate_rate(
    observed: ObservedFailureRate, open_alert: OpenAlert | None, watch: FailureRatePolicy, now: datetime
) -> DueStep:
    """What becomes of the alert: raised once above 5 %, cleared after a while without a break below 3 %."""
    if open_alert is None:
        return "raise" if is_alarming(observed, watch.attempts_min) else "stay"
    if observed.failures * 100 >= CLEARS_BELOW_PERCENT * observed.attempts and observed.failures:
        return "end_calm" if open_alert.calm_since is not None else "stay"
    if open_alert.calm_since is None:
        return "begin_calm"
    return "clear" if now - open_alert.calm_since >= watch.calm_for else "stay"


def bank_key(bank_code: str) -> str:
    """Joins everything that is said to the people on call about one bank's switch."""
    return f"{BANK_KEY_PREFIX}{bank_code}"
