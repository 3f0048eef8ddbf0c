from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from uuid import UUID

import pytest

from common.primitives.ids import new_id
from payouts.domain.errors import ExceptionIsClosed, PayoutUnsettled
from payouts.domain.exceptions import (
    Finding,
    OpenException,
    Settlement,
    alert_key,
    check_classification,
    check_closing,
    revised,
    runbook_of,
)
from payouts.domain.gateway_faults import key_alert
from payouts.domain.severity import CAUSES

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
    assert check_closing(replace(OPEN, is_open=False), Settlement("pending", False, False)) is False


def test_only_an_exception_without_a_payout_or_a_batch_holds_its_vendor() -> None:
    payout_id, batch_id, vendor_id = UUID(int=1), UUID(int=2), UUID(int=3)
    of_payout = replace(OPEN, payout_id=payout_id, batch_id=None, vendor_id=vendor_id)
    of_batch = replace(OPEN, payout_id=None, batch_id=batch_id, vendor_id=None)
    of_vendor = replace(OPEN, payout_id=None, batch_id=None, vendor_id=vendor_id)
    assert [exception.held_vendor_id for exception in (of_payout, of_batch, of_vendor)] == [None, None, vendor_id]
    assert replace(of_batch, vendor_id=vendor_id).held_vendor_id is None
    subjects = [exception.subject for exception in (of_payout, of_batch, of_vendor)]
    assert subjects == [str(payout_id), str(batch_id), str(vendor_id)]
    assert replace(of_payout, batch_id=batch_id).subject == str(payout_id)


def test_the_alerts_of_an_exception_have_one_key_and_the_page_of_its_cause() -> None:
    # Stored with the open alert: another key would leave it open.
    assert alert_key(UUID(int=1)) == "payout-exception:00000000-0000-0000-0000-000000000001"
    assert key_alert("paystack") == "payouts:gateway-key:paystack"
    pages = {cause: runbook_of(cause) for cause in CAUSES}
    assert [cause for cause, page in pages.items() if page == "credit-not-released"] == [
        "credit_not_released",
        "release_statement_late",
    ]
    assert set(pages.values()) == {"credit-not-released", "payout-exceptions"}


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
