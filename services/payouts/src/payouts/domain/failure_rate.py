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

Step = Literal["raise", "stay", "begin_calm", "end_calm", "clear"]


@dataclass(frozen=True, slots=True)
class Measured:
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
class Watch:
    """How the rate is watched: over which while, from how many attempts on, and how long it must stay low to be over."""

    window: timedelta
    attempts_min: int
    calm_for: timedelta


def is_alarming(measured: Measured, attempts_min: int) -> bool:
    """Above 5 %, over enough attempts to speak of a rate."""
    return measured.attempts >= attempts_min and measured.failures * 100 > ALERTS_ABOVE_PERCENT * measured.attempts


def evaluate_rate(measured: Measured, standing: OpenAlert | None, watch: Watch, now: datetime) -> Step:
    """What becomes of the alert: raised once above 5 %, cleared after a while without a break below 3 %."""
    if standing is None:
        return "raise" if is_alarming(measured, watch.attempts_min) else "stay"
    if measured.failures * 100 >= CLEARS_BELOW_PERCENT * measured.attempts and measured.failures:
        return "end_calm" if standing.calm_since is not None else "stay"
    if standing.calm_since is None:
        return "begin_calm"
    return "clear" if now - standing.calm_since >= watch.calm_for else "stay"


def bank_key(bank_code: str) -> str:
    """Joins everything that is said to the people on call about one bank's switch."""
    return f"{BANK_KEY_PREFIX}{bank_code}"
