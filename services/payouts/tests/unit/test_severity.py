import pytest

from payouts.domain.severity import RESPOND_WITHIN, Trouble, cause_of, severity_of

NAIRA = 100
# cause, amount, vendors in the batch, earlier rejections -> severity, minutes to respond
TABLE = [
    ("balance_insufficient", 1, 1, 0, "SEV-1", 15),
    ("balance_insufficient", 300_000 * NAIRA, 1, 0, "SEV-1", 15),
    ("bank_switch_error", 1, 1, 0, "SEV-1", 15),
    ("timeout", 1, 1, 0, "SEV-1", 15),
    ("account_number_invalid", 1, 6, 0, "SEV-1", 15),
    ("account_number_invalid", 1, 5, 0, "SEV-3", 240),
    ("unclassified", 300_000 * NAIRA, 6, 3, "SEV-1", 15),
    ("account_number_invalid", 200_000 * NAIRA, 1, 0, "SEV-3", 240),
    ("account_number_invalid", 200_000 * NAIRA + 1, 1, 0, "SEV-2", 60),
    ("reversed", 200_000 * NAIRA + 1, 1, 0, "SEV-2", 60),
    ("reversed", 200_000 * NAIRA, 1, 0, "SEV-3", 240),
    ("unclassified", 200_000 * NAIRA + 1, 5, 0, "SEV-2", 60),
    ("account_number_invalid", 1, 1, 1, "SEV-2", 60),
    ("name_mismatch", 1, 1, 2, "SEV-2", 60),
    ("name_mismatch", 1, 1, 0, "SEV-3", 240),
    ("bank_details_changed", 1, 1, 0, "SEV-3", 240),
    ("bank_details_changed", 1, 1, 1, "SEV-2", 60),
    ("unclassified", 1, 1, 0, "SEV-3", 240),
    ("unclassified", 200_000, 1, 0, "SEV-3", 240),  # 200,000 kobo are not 200,000 naira
    ("unclassified", 1, 2, 1, "SEV-2", 60),
]


@pytest.mark.parametrize(("cause", "amount_minor", "vendors", "rejections", "severity", "minutes"), TABLE)
def test_severity_and_response_time_are_those_of_the_specification(
    cause, amount_minor, vendors, rejections, severity, minutes
):
    assert severity_of(Trouble(cause, amount_minor, vendors, rejections)) == severity
    assert RESPOND_WITHIN[severity].total_seconds() == minutes * 60


@pytest.mark.parametrize(
    ("status", "reason", "cause"),
    [
        ("failed", "Your balance is not enough to fulfil this request", "balance_insufficient"),
        ("failed", "Account number is invalid", "account_number_invalid"),
        ("failed", "Bank is invalid", "account_number_invalid"),
        ("failed", "Name mismatch on account", "name_mismatch"),
        ("failed", "Issuer or switch inoperative", "bank_switch_error"),
        ("failed", "Beneficiary bank unavailable", "bank_switch_error"),
        ("failed", "Request timed out", "timeout"),
        ("reversed", "Beneficiary bank unavailable", "reversed"),
        ("failed", "Do not honour", "unclassified"),
        ("failed", None, "unclassified"),
    ],
)
def test_a_cause_is_read_from_the_gateways_words(status, reason, cause):
    assert cause_of(status, reason) == cause
