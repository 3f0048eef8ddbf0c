"""Updates of refunds against what was recorded, and the times of calls and polls."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from payments.domain.errors import RefundContradiction
from payments.domain.refunds import (
    RefundUpdate,
    account_alert_key,
    check_refund,
    failed_alert_key,
    may_call,
    next_poll_after,
    refund_of_transfer,
)
from payments.domain.transfers import TransferUpdate

REFUND = UUID(int=1)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("success", "processed"), ("failed", "failed"), ("reversed", "reversed"), ("pending", "pending")],
)
@pytest.mark.parametrize(("code", "gateway_refund_id"), [("TRF_1", "TRF_1"), ("", None)])
def test_a_transfer_pays_its_refund_out(outcome: Any, status: str, code: str, gateway_refund_id: str | None) -> None:
    transfer = TransferUpdate("re-1", code, 5_000, "NGN", outcome, outcome, "Timed out", "6789", "011", NOW, 1_000)
    update = refund_of_transfer(transfer)
    assert update == RefundUpdate(
        gateway_refund_id, "re-1", status, 5_000, "NGN", "Timed out", NOW, is_anonymous=False, transfer_fee_minor=1_000
    )


@pytest.mark.parametrize(
    ("amount_minor", "currency", "recorded_currency"),
    [(5_000, "NGN", "NGN"), (5_000, "GHS", "GHS"), (5_000, "NGN", "XXX"), (5_000, "GHS", "XXX")],
)
def test_a_refund_of_a_charge_without_a_currency_is_in_the_gateways(
    amount_minor: int, currency: str, recorded_currency: str
) -> None:
    check_refund(RefundUpdate("501", None, "processed", amount_minor, currency, None), 5_000, recorded_currency)


@pytest.mark.parametrize(
    ("amount_minor", "currency", "recorded_currency"),
    [(4_999, "NGN", "NGN"), (5_001, "NGN", "NGN"), (5_000, "GHS", "NGN"), (5_000, "XXX", "NGN"), (5_001, "NGN", "XXX")],
)
def test_an_update_over_another_amount_or_currency_contradicts_its_refund(
    amount_minor: int, currency: str, recorded_currency: str
) -> None:
    update = RefundUpdate("501", None, "processed", amount_minor, currency, None)
    with pytest.raises(RefundContradiction, match=f"reports {amount_minor} {currency}.* is 5000 {recorded_currency}"):
        check_refund(update, 5_000, recorded_currency)


@pytest.mark.parametrize(("milliseconds", "may"), [(0, True), (29_999, True), (30_000, False), (30_001, False)])
def test_a_refund_is_sent_within_thirty_seconds_of_its_mark_or_not_at_all(milliseconds: int, may: bool) -> None:
    """A later call could be a second one: another worker may have replaced this one."""
    assert may_call(NOW, NOW + timedelta(milliseconds=milliseconds)) is may


@pytest.mark.parametrize(
    ("polls", "minutes"), [(0, 1), (1, 2), (2, 4), (5, 32), (6, 60), (7, 60), (10, 60), (1_000_000, 60)]
)
def test_a_submitted_refund_is_polled_after_a_minute_then_seldomer_up_to_each_hour(polls: int, minutes: int) -> None:
    assert next_poll_after(polls) == timedelta(minutes=minutes)


def test_the_two_alerts_of_a_refund_have_keys_of_their_own() -> None:
    assert failed_alert_key(REFUND) == f"refund-failed:{REFUND}"
    assert account_alert_key(REFUND) == f"refund-needs-account:{REFUND}"
