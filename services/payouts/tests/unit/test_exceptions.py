from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations

import pytest

from common.primitives.ids import new_id
from payouts.domain.errors import ExceptionIsClosed, PayoutUnsettled
from payouts.domain.exceptions import Finding, OpenException, Settlement, check_classification, check_closing, revised

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OPEN = OpenException(
    new_id(),
    new_id(),
    None,
    new_id(),
    Finding("account_number_invalid", "SEV-3"),
    "Account number is invalid",
    NOW,
    NOW,
    True,
)

# payout, reversed after a success, returned to the wallet -> may be closed by hand
CLOSING = [
    ("pending", False, False, False),
    ("pending", True, False, False),
    ("failed", False, True, True),
    ("failed", False, False, True),
    ("processed", False, False, True),
    ("processed", True, False, False),
    ("processed", True, True, True),
]


@pytest.mark.parametrize(("status", "reversed_after_success", "returned", "may"), CLOSING)
def test_an_exception_closes_only_after_the_money_has_arrived(
    status: str, reversed_after_success: bool, returned: bool, may: bool
) -> None:
    settlement = Settlement(status, reversed_after_success, returned)
    if may:
        assert check_closing(OPEN, settlement)
    else:
        with pytest.raises(PayoutUnsettled):
            check_closing(OPEN, settlement)


def test_a_batchs_exception_closes_without_settlement() -> None:
    assert check_closing(replace(OPEN, payout_id=None, batch_id=new_id()), None)
    assert not check_closing(replace(OPEN, is_open=False), Settlement("pending", False, False))


def test_a_repeated_classification_has_no_effect() -> None:
    assert check_classification(OPEN, Finding("name_mismatch", "SEV-3"))
    assert check_classification(OPEN, Finding("account_number_invalid", "SEV-1"))
    assert not check_classification(OPEN, OPEN.finding)
    with pytest.raises(ExceptionIsClosed):
        check_classification(replace(OPEN, is_open=False), OPEN.finding)


def test_a_report_sets_the_cause_unless_staff_named_one() -> None:
    assert revised(OPEN, Finding("reversed", "SEV-3")).cause == "reversed"
    assert revised(OPEN, Finding("unclassified", "SEV-3")).cause == "account_number_invalid"
    assert revised(OPEN, Finding("timeout", "SEV-1")) == Finding("account_number_invalid", "SEV-1")
    assert revised(replace(OPEN, classified=True), Finding("reversed", "SEV-2")) == Finding(
        "account_number_invalid", "SEV-2"
    )


def test_reports_never_lower_a_severity() -> None:
    for order in permutations(
        [Finding("reversed", "SEV-2"), Finding("unclassified", "SEV-1"), Finding("timeout", "SEV-1")]
    ):
        exception = OPEN
        for update in order:
            exception = replace(exception, finding=revised(exception, update))
        assert exception.finding == Finding("reversed", "SEV-1")
