"""The alert of the failure rate: when it is raised and cleared. Whole numbers only: exactly 5 % is not above 5 %."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

ALERTS_ABOVE_PERCENT: Final = 5
# A rate around one mark would raise and clear all day. The alert clears below a lower mark, after a quiet time.
CLEARS_BELOW_PERCENT: Final = 3

# This many failures at one bank's switch within this time are an outage of the bank.
SWITCH_FAILURES_OF_ONE_BANK: Final = 3
SWITCH_WINDOW: Final = timedelta(minutes=15)

# Deduplication keys of the alerts of the rate, and of one bank.
FAILURE_RATE_KEY: Final = "payout-failure-rate"
BANK_KEY_PREFIX: Final = "payout-bank-switch:"

DueStep = Literal["raise", "stay", "begin_calm", "end_calm", "clear"]


@dataclass(frozen=True, slots=True)
class ObservedFailureRate:
    """Attempts in the window, and those of them that opened an exception."""

    attempts: int
    failures: int

    @property
    def rate(self) -> float:
        """A share of attempts, 0 to 1. It is no money."""
        return self.failures / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, slots=True)
class OpenAlert:
    """A raised alert; `calm_since` is the start of the present time below the lower mark."""

    raised_at: datetime
    calm_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FailureRatePolicy:
    """The window, the fewest attempts that make a rate, and the quiet time before the alert clears."""

    window: timedelta
    attempts_min: int
    calm_for: timedelta


def is_alarming(observed: ObservedFailureRate, attempts_min: int) -> bool:
    """Return whether the rate is above 5 %, over enough attempts."""
    return observed.attempts >= attempts_min and observed.failures * 100 > ALERTS_ABOVE_PERCENT * observed.attempts


def evaluate_rate(
    observed: ObservedFailureRate, open_alert: OpenAlert | None, watch: FailureRatePolicy, now: datetime
) -> DueStep:
    """Return the next step of the alert: raised once above 5 %, cleared after an unbroken time below 3 %."""
    if open_alert is None:
        return "raise" if is_alarming(observed, watch.attempts_min) else "stay"
    if observed.failures * 100 >= CLEARS_BELOW_PERCENT * observed.attempts and observed.failures:
        return "end_calm" if open_alert.calm_since is not None else "stay"
    if open_alert.calm_since is None:
        return "begin_calm"
    return "clear" if now - open_alert.calm_since >= watch.calm_for else "stay"


def bank_key(bank_code: str) -> str:
    """Return the deduplication key of the alerts of one bank's switch."""
    return f"{BANK_KEY_PREFIX}{bank_code}"
