"""When a dispute accepts a response, with which amount and file, and how often a response is sent."""

import base64
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import ValidationError

from common.primitives.problems import ValidationFailed
from payments.domain.chargeback_responses import (
    RespondableChargeback,
    check_accepted_amount,
    check_respondable,
    how_to_respond,
    media_type_of,
    retry_delay,
)
from payments.domain.errors import ResponseInDashboard, ResponseNotAccepted
from payments.schemas.chargebacks import ResolveChargebackRequest

OPEN = RespondableChargeback(UUID(int=1), "dispute:1", 500_000, "opened", False, False, 500_000, "paystack")


def test_an_open_dispute_accepts_a_response() -> None:
    check_respondable(OPEN)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "won"}, "The dispute is decided: won."),
        ({"status": "lost"}, "The dispute is decided: lost."),
        ({"has_response": True}, "The dispute has its response"),
        ({"is_submitting": True}, "An earlier response is being sent"),
        ({"identity": "transaction:7"}, "gave this dispute no id"),
        # A decided dispute is not sent to the dashboard.
        ({"status": "won", "gateway": "flutterwave"}, "The dispute is decided"),
    ],
)
def test_a_dispute_that_is_decided_or_has_a_response_accepts_none(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ResponseNotAccepted) as rejection:
        check_respondable(replace(OPEN, **changes))
    assert rejection.value.http_status == 409
    assert reason in str(rejection.value)


def test_a_gateway_without_responses_in_its_api_names_its_dashboard() -> None:
    with pytest.raises(ResponseInDashboard) as rejection:
        check_respondable(replace(OPEN, gateway="flutterwave"))
    assert rejection.value.http_status == 422
    assert "Flutterwave's dashboard" in str(rejection.value)
    assert how_to_respond("flutterwave") == "Respond in Flutterwave's dashboard (Transactions, Chargebacks)."
    assert how_to_respond("paystack") == "Send evidence and a resolution."


@pytest.mark.parametrize(
    ("disputed", "unrefunded", "accepted"),
    [(500_000, 500_000, 500_000), (400_000, 500_000, 400_000), (500_000, 300_000, 300_000), (500_000, 1, 1)],
)
def test_all_that_is_disputed_and_not_refunded_can_be_accepted(disputed: int, unrefunded: int, accepted: int) -> None:
    check_accepted_amount(replace(OPEN, amount_minor=disputed, unrefunded_minor=unrefunded), accepted)


@pytest.mark.parametrize(
    ("disputed", "unrefunded", "accepted", "bound"),
    [
        (500_000, 500_000, 500_001, "must not exceed the 500000 that are disputed"),
        (400_000, 500_000, 400_001, "must not exceed the 400000 that are disputed"),
        (500_000, 300_000, 300_001, "must not exceed the 300000 that refunds left"),
        (500_000, 0, 1, "must not exceed the 0 that refunds left"),
        (500_000, -5_000, 1, "must not exceed the 0 that refunds left"),
    ],
)
def test_an_acceptance_never_returns_money_twice(disputed: int, unrefunded: int, accepted: int, bound: str) -> None:
    chargeback = replace(OPEN, amount_minor=disputed, unrefunded_minor=unrefunded)
    with pytest.raises(ValidationFailed, match=bound) as rejection:
        check_accepted_amount(chargeback, accepted)
    assert [param.name for param in rejection.value.invalid_params] == ["amountMinor"]


@pytest.mark.parametrize(
    ("attachment", "media_type"),
    [
        (b"%PDF-1.4", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b" %PDF-1.4", None),
        (b"GIF89a", None),
        (b"", None),
    ],
)
def test_a_file_is_recognized_by_its_first_bytes(attachment: bytes, media_type: str | None) -> None:
    assert media_type_of(attachment) == media_type


def _with_file(size: int) -> dict[str, Any]:
    attachment = base64.b64encode(b"%PDF-".ljust(size)).decode()
    return {"resolution": "contest", "message": "Delivered", "attachment": attachment}


def test_a_file_has_at_most_180_000_bytes() -> None:
    ResolveChargebackRequest.model_validate(_with_file(180_000))
    with pytest.raises(ValidationError, match="at most 180000 bytes"):
        ResolveChargebackRequest.model_validate(_with_file(180_001))


@pytest.mark.parametrize(("attempts", "minutes"), [(1, 2), (2, 4), (3, 8), (4, 15), (5, 15), (1_000_000, 15)])
def test_a_response_is_resent_after_two_minutes_then_up_to_a_quarter_hour_apart(attempts: int, minutes: int) -> None:
    assert retry_delay(attempts) == timedelta(minutes=minutes)
