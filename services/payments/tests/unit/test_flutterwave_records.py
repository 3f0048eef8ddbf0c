"""Every documented or odd row of Flutterwave is read, or malformed."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from payments.clients import flutterwave_records as records
from payments.domain.errors import MalformedEvent
from payments.domain.revisions import GatewaySubject
from testkit.providers.flutterwave import chargebacks, refunds

from .flutterwave_examples import CHARGEBACK, PAID, REFUND, TRANSFER


def test_a_charge_is_what_the_customer_paid_and_its_fee_what_we_did_not_receive() -> None:
    charge = records.read_charge(PAID)
    assert (charge.reference, charge.gateway_id, charge.gateway) == ("ch-1", "flw:8415006", "flutterwave")
    assert (charge.amount_minor, charge.fee_minor, charge.currency) == (250_000, 3_763, "NGN")
    assert (charge.order_named, charge.settlement) == ("order-1", "250000")
    borne = records.read_charge({**PAID, "charged_amount": Decimal("2535.5"), "amount_settled": 2500})
    assert (borne.amount_minor, borne.fee_minor) == (253_550, 3_550)
    assert records.read_charge({**PAID, "amount_settled": None}).fee_minor == 3_500
    assert records.read_charge({**PAID, "amount_settled": None, "app_fee": None}).fee_minor == 0
    assert records.read_charge({**PAID, "amount_settled": None, "app_fee": Decimal("26.875")}).fee_minor == 2_688


@pytest.mark.parametrize(
    "amount", [None, "", "abc", True, -5, 0, Decimal("10.005"), "NaN", "Infinity", 10**30, [], {}, 2500.5]
)
def test_a_paid_charge_without_an_exact_amount_is_malformed(amount: Any) -> None:
    with pytest.raises(MalformedEvent):
        records.read_charge({**PAID, "amount": amount, "charged_amount": amount})


@pytest.mark.parametrize("odd", [None, [], {}, 7, "text", "\x00", True])
@pytest.mark.parametrize(
    ("read", "example"),
    [
        (records.read_charge, PAID),
        (records.read_refund, REFUND),
        (records.read_transfer, TRANSFER),
        (records.read_chargeback, CHARGEBACK),
    ],
    ids=["charge", "refund", "transfer", "chargeback"],
)
def test_no_odd_field_breaks_a_reader(read: Callable[[Any], Any], example: dict[str, Any], odd: Any) -> None:
    for name in example:
        for shape in ({**example, name: odd}, {key: value for key, value in example.items() if key != name}):
            try:
                read({**shape, "unknown_field": odd})
            except MalformedEvent:
                continue


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *((status, status) for status in refunds.ACCEPTED),
        *((status, "processed") for status in refunds.PAID),
        ("failed", "failed"),
    ],
)
def test_a_refund_is_paid_only_with_a_status_of_the_payout(status: str, expected: str) -> None:
    update = records.read_refund({**REFUND, "status": status})
    assert (update.status, update.amount_minor, update.gateway_refund_id) == (expected, 690_000, "flw:75923")
    assert update.is_anonymous
    webhook = {"id": 1, "AmountRefunded": "69.5", "status": status, "comments": "re-1"}
    assert records.read_refund(webhook).amount_minor == 6_950
    assert not records.read_refund(webhook).is_anonymous


@pytest.mark.parametrize(
    ("status", "outcome", "reason"),
    [
        ("NEW", "pending", None),
        ("PENDING", "pending", None),
        ("SUCCESSFUL", "success", None),
        ("FAILED", "failed", "DISBURSE FAILED"),
    ],
)
def test_the_cause_of_a_transfer_is_the_banks_text(status: str, outcome: str, reason: str | None) -> None:
    update = records.read_transfer({**TRANSFER, "status": status, "complete_message": "DISBURSE FAILED"})
    assert (update.outcome, update.reason, update.transfer_code) == (outcome, reason, "flw:396432")
    assert update.fee_minor == (2_688 if outcome == "success" else 0)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        *((status, None) for status in chargebacks.OPEN),
        *((status, "lost") for status in chargebacks.LOST),
        ("won", "won"),
    ],
)
def test_a_chargeback_is_decided_by_its_status(status: str, outcome: str | None) -> None:
    update = records.read_chargeback({**CHARGEBACK, "status": status})
    assert (update.identity, update.gateway_id, update.outcome) == (
        "flw:2221@0550726510071683619721660",
        "flw:674630970",
        outcome,
    )
    assert update.awaits_response == (status == "initiated")
    assert update.due_at == datetime(2024, 8, 3, 15, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("event", "data", "subject"),
    [
        ("charge.completed", PAID, GatewaySubject("charge", "flw:8415006")),
        ("refund.completed", {"id": 1}, GatewaySubject("refund", "flw:1")),
        ("transfer.completed", TRANSFER, GatewaySubject("transfer", "re-1")),
        ("chargeback.initiated", CHARGEBACK, GatewaySubject("dispute", "flw:2221@0550726510071683619721660")),
        ("subscription.cancelled", {"id": 1}, None),
        ("charge.completed", {}, None),
        ("charge.completed", None, None),
    ],
)
def test_a_webhook_names_the_subject_to_query_and_is_never_read(
    event: str, data: Any, subject: GatewaySubject | None
) -> None:
    raw = json.dumps({"event": event, "data": data}, default=float).encode()
    arrival = records.identify(raw)
    assert arrival.id.startswith("flutterwave:")
    assert records.subject_of(arrival.event_type, raw) == subject
    assert records.read_event(arrival.id, arrival.event_type, raw) is None


@pytest.mark.parametrize(
    "raw", [b"", b"null", b"[]", b"\xff", b'{"event": 1}', b'{"data": {"id": 1e999}}', b"[" * 100_000]
)
def test_a_body_of_any_shape_has_a_key(raw: bytes) -> None:
    arrival = records.identify(raw)
    assert arrival.id.startswith("flutterwave:")
    assert records.subject_of(arrival.event_type, raw) is None


def test_each_status_of_an_object_is_an_event_of_its_own() -> None:
    keys = {
        records.identify(json.dumps({"event": "transfer.completed", "data": {"id": 1, "status": status}}).encode()).id
        for status in ("SUCCESSFUL", "FAILED")
    }
    assert len(keys) == 2
