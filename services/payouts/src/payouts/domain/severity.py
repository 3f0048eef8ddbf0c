"""Severity of a payout exception, and its response time (specification: Payout failure handling)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from contracts.severities import Severity

Cause = Literal[
    "balance_insufficient",
    "bank_switch_error",
    "timeout",
    "account_number_invalid",
    "name_mismatch",
    "bank_details_changed",
    "reversed",
    "credit_not_released",
    "release_statement_late",
    "transfer_contradicted",
    "unclassified",
]
CAUSES: Final[tuple[Cause, ...]] = get_args(Cause)

RESPOND_WITHIN: Final[dict[Severity, timedelta]] = {
    "SEV-1": timedelta(minutes=15),
    "SEV-2": timedelta(hours=1),
    "SEV-3": timedelta(hours=4),
}
# 200,000 naira, in kobo: a single payout above it is large.
LARGE_PAYOUT_MINOR: Final = 20_000_000
# A failure of more vendors of one batch than this has a common cause.
VENDORS_OF_ONE_BATCH: Final = 5

# Causes at a bank's switch: one payout is SEV-1, several raise an alert for the bank itself.
SWITCH_CAUSES: Final[tuple[Cause, ...]] = ("bank_switch_error", "timeout")

# The gateway's balance, a bank's switch, or money that may leave twice.
_ALWAYS_SEV_1: Final[frozenset[Cause]] = frozenset(
    {"balance_insufficient", *SWITCH_CAUSES, "credit_not_released", "transfer_contradicted"}
)

# Texts of banks and gateways, searched in this order. Anything else is `unclassified`.
_WORDS: Final[tuple[tuple[Cause, tuple[str, ...]], ...]] = (
    ("balance_insufficient", ("balance is not enough", "insufficient balance", "insufficient fund",
        "balance_insufficient")),
    ("bank_details_changed", ("bank_details_changed",)),
    ("name_mismatch", ("name mismatch", "name_mismatch", "name does not match")),
    (
        "account_number_invalid",
        (
            "account number", "account is invalid", "invalid account", "account_number_invalid", "bank is invalid",
            "bank code", "invalid bank", "dormant", "recipient", "account not found", "could not resolve",
            "unable to locate",
        ),
    ),
    ("timeout", ("timeout", "timed out", "time-out", "no answer")),
    ("bank_switch_error", ("switch", "bank unavailable", "bank is unavailable", "bank not available", "inoperative",
        "system malfunction")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExceptionContext:
    """Facts at the opening of an exception. `vendors_in_batch` and `earlier_rejections` count related exceptions."""

    cause: Cause
    amount_minor: int
    vendors_in_batch: int = 1
    earlier_rejections: int = 0


def cause_of(status: str, reason: str | None) -> Cause:
    """Return the cause by the gateway's status and reason."""
    if status == "reversed":
        return "reversed"
    words = (reason or "").casefold()
    return next((cause for cause, signs in _WORDS if any(sign in words for sign in signs)), "unclassified")


def severity_of(trouble: ExceptionContext) -> Severity:
    """Return the severity by the first matching line of the specification's table."""
    if trouble.cause in _ALWAYS_SEV_1:
        return "SEV-1"
    if trouble.cause == "release_statement_late":
        return "SEV-2"
    if trouble.vendors_in_batch > VENDORS_OF_ONE_BATCH:
        return "SEV-1"
    if trouble.amount_minor > LARGE_PAYOUT_MINOR or trouble.earlier_rejections > 0:
        return "SEV-2"
    return "SEV-3"


def worse_severity(severity: Severity, other: Severity) -> Severity:
    """Return the worse of two: a report raises a severity, and only staff lower one."""
    return min(severity, other)


def respond_by(opened_at: datetime, severity: Severity) -> datetime:
    """Return the deadline, counted from the opening: the vendor waits since then."""
    return opened_at + RESPOND_WITHIN[severity]
