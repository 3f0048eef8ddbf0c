from datetime import UTC, datetime, timedelta

import pytest

from payouts.domain.severity import CAUSES, ExceptionContext, cause_of, respond_by, severity_of, worse_severity
from testkit.cases import for_each

NAIRA = 100
LIMIT = 200_000 * NAIRA
OPENED = datetime(2026, 1, 1, tzinfo=UTC)

BALANCE = "Your balance is not enough to fulfil this request"
SWITCH = "Issuer or switch inoperative"
BANK_UNAVAILABLE = "Beneficiary bank unavailable"
SLOW = "Request timed out"
NUMBER = "Account number is invalid"
BANK_CODE = "Bank is invalid"
DORMANT = "Beneficiary account is dormant"
NAME = "Name mismatch on account"
CHANGED = "bank_details_changed: the vendor's bank details changed before the gateway took the transfer"
ODD = "Do not honour"

# The gateway's reason, kobo, vendors of the batch with exceptions, earlier rejections -> cause, severity, minutes to
# respond.
TABLE = [
    # The gateway's own balance, and a bank's switch: SEV-1 whatever the amount.
    ("failed", BALANCE, 1, 1, 0, "balance_insufficient", "SEV-1", 15),
    ("failed", BALANCE, LIMIT + 1, 1, 0, "balance_insufficient", "SEV-1", 15),
    ("failed", SWITCH, 1, 1, 0, "bank_switch_error", "SEV-1", 15),
    ("failed", BANK_UNAVAILABLE, LIMIT, 1, 3, "bank_switch_error", "SEV-1", 15),
    ("failed", SLOW, 1, 1, 0, "timeout", "SEV-1", 15),
    # A batch: five vendors are not more than five, six are.
    ("failed", NUMBER, 1, 5, 0, "account_number_invalid", "SEV-3", 240),
    ("failed", NUMBER, 1, 6, 0, "account_number_invalid", "SEV-1", 15),
    ("failed", ODD, LIMIT + 1, 6, 3, "unclassified", "SEV-1", 15),
    ("failed", ODD, LIMIT + 1, 5, 0, "unclassified", "SEV-2", 60),
    # The amount: 200,000 naira are not above 200,000 naira; a kobo more is.
    ("failed", NUMBER, LIMIT - 1, 1, 0, "account_number_invalid", "SEV-3", 240),
    ("failed", NUMBER, LIMIT, 1, 0, "account_number_invalid", "SEV-3", 240),
    ("failed", NUMBER, LIMIT + 1, 1, 0, "account_number_invalid", "SEV-2", 60),
    ("reversed", None, LIMIT, 1, 0, "reversed", "SEV-3", 240),
    ("reversed", None, LIMIT + 1, 1, 0, "reversed", "SEV-2", 60),
    ("failed", ODD, 200_000, 1, 0, "unclassified", "SEV-3", 240),  # kobo are not naira
    # Rejected again.
    ("failed", NUMBER, 1, 1, 1, "account_number_invalid", "SEV-2", 60),
    ("failed", NAME, 1, 1, 2, "name_mismatch", "SEV-2", 60),
    ("rejected", ODD, 1, 2, 1, "unclassified", "SEV-2", 60),
    # The account and the bank, once.
    ("failed", BANK_CODE, 1, 1, 0, "account_number_invalid", "SEV-3", 240),
    ("failed", DORMANT, 1, 1, 0, "account_number_invalid", "SEV-3", 240),
    ("failed", NAME, 1, 1, 0, "name_mismatch", "SEV-3", 240),
    ("failed", CHANGED, 1, 1, 0, "bank_details_changed", "SEV-3", 240),
    # A reversal is one whatever reason the gateway gives; an unknown reason is unclassified.
    ("reversed", SWITCH, 1, 1, 0, "reversed", "SEV-3", 240),
    ("blocked", ODD, 1, 1, 0, "unclassified", "SEV-3", 240),
    ("abandoned", None, 1, 1, 0, "unclassified", "SEV-3", 240),
    ("failed", "", 1, 1, 0, "unclassified", "SEV-3", 240),
    ("failed", NUMBER.upper(), 1, 1, 0, "account_number_invalid", "SEV-3", 240),
]


@for_each(("status", "reason", "amount_minor", "vendors", "rejections", "cause", "severity", "minutes"), TABLE)
def test_cause_severity_and_response_time_are_those_of_the_specification(
    status: str, reason, amount_minor, vendors: int, rejections: int, cause: str, severity: str, minutes: int
) -> None:
    found = severity_of(ExceptionContext(cause_of(status, reason), amount_minor, vendors, rejections))
    assert (cause_of(status, reason), found) == (cause, severity)
    assert respond_by(OPENED, found) == OPENED + timedelta(minutes=minutes)


# Found by comparing a wallet with payments' statements (decision 32), never by a reason of the gateway.
# Causes that follow from the ledger, not from a reason of the gateway.
OF_THE_LEDGER = {
    "credit_not_released": ("SEV-1", 15),
    "release_statement_late": ("SEV-2", 60),
    "transfer_contradicted": ("SEV-1", 15),
}


def test_the_table_names_every_cause() -> None:
    assert {row[5] for row in TABLE} | set(OF_THE_LEDGER) == set(CAUSES)


@pytest.mark.parametrize(("cause", "expected"), OF_THE_LEDGER.items())
def test_a_cause_of_the_ledger_has_one_severity_whatever_the_amount(cause, expected) -> None:
    for amount_minor in (0, LIMIT + 1):
        found = severity_of(ExceptionContext(cause, amount_minor))
        assert (found, respond_by(OPENED, found)) == (expected[0], OPENED + timedelta(minutes=expected[1]))


def test_the_worse_of_two_severities_is_kept() -> None:
    assert [worse_severity("SEV-3", "SEV-1"), worse_severity("SEV-1", "SEV-2"), worse_severity("SEV-2", "SEV-2")] == [
        "SEV-1",
        "SEV-1",
        "SEV-2",
    ]
