"""Flutterwave's adapter: its calls follow the documentation, and every documented or odd shape is read."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from common.primitives.money import AMOUNT_MINOR_MAX
from payments.clients import flutterwave_records as records
from payments.clients.flutterwave import FlutterwaveGateway
from payments.clients.gateway import GatewayRejected, GatewayUnavailable
from payments.domain.bank_transfers import TransferAccount
from payments.domain.errors import MalformedEvent
from payments.domain.revisions import GatewaySubject
from testkit.providers.flutterwave import chargebacks, fields, refunds, settlements, transactions, transfers

PAID: dict[str, Any] = {
    "id": 8415006,
    "tx_ref": "ch-1",
    "flw_ref": "FLW-REF-1",
    "amount": 2500,
    "currency": "NGN",
    "charged_amount": 2500,
    "app_fee": 35,
    "merchant_fee": 0,
    "processor_response": "Approved",
    "auth_model": "NOAUTH",
    "ip": "54.0.0.1",
    "narration": "CARD Transaction",
    "status": "successful",
    "payment_type": "card",
    "created_at": "2025-02-27T18:29:34.000Z",
    "account_id": 20937,
    "meta": {"orderId": "order-1", "settlement": "250000"},
    "amount_settled": Decimal("2462.37"),
    "customer": {"id": 1, "name": None, "phone_number": None, "email": "buyer@unilag.edu.ng"},
}
REFUND: dict[str, Any] = {
    "id": 75923,
    "account_id": 73362,
    "tx_id": 908790,
    "flw_ref": "URF_1",
    "wallet_id": 74639,
    "amount_refunded": 6900,
    "status": "completed",
    "destination": "payment_source",
    "meta": {"source": "availablebalance"},
    "created_at": "2021-01-24T09:18:37.366Z",
}
TRANSFER: dict[str, Any] = {
    "id": 396432,
    "account_number": "0690000040",
    "bank_code": "044",
    "full_name": "Ada Obi",
    "created_at": "2023-03-11T01:14:21.000Z",
    "currency": "NGN",
    "debit_currency": "NGN",
    "amount": 5500,
    "fee": Decimal("26.875"),
    "status": "NEW",
    "reference": "re-1",
    "meta": None,
    "narration": "Refund",
    "complete_message": "",
    "requires_approval": 0,
    "is_approved": 1,
    "bank_name": "ACCESS BANK NIGERIA",
}
CHARGEBACK: dict[str, Any] = {
    "id": 2221,
    "amount": 3000,
    "flw_ref": "0550726510071683619721660",
    "status": "lost",
    "stage": "pre-arbitration",
    "comment": "Product/service not received",
    "meta": {"uploaded_proof": None, "history": [{"action": "lost", "description": "No merchant response"}]},
    "due_date": "2024-08-03T15:59:59.000Z",
    "settlement_id": "N/A",
    "created_at": "2024-08-01T16:58:20.000Z",
    "transaction_id": 674630970,
    "tx_ref": "ch-1",
}


def page_of(*rows: Any) -> dict[str, Any]:
    page_info = {"total": len(rows), "current_page": 1, "total_pages": 1}
    return {"status": "success", "message": "fetched", "meta": {"page_info": page_info}, "data": list(rows)}


def success(data: Any) -> dict[str, Any]:
    return {"status": "success", "message": "ok", "data": data}


def error(message: str) -> dict[str, Any]:
    return {"status": "error", "message": message, "data": None}


Respond = Callable[[httpx.Request], tuple[int, Any]]


def gateway_with(response: Respond) -> tuple[FlutterwaveGateway, list[httpx.Request]]:
    """Return the adapter over a transport with the function's responses, and the calls that it made."""
    calls: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        status, body = response(request)
        content = body if isinstance(body, bytes) else json.dumps(body, default=float).encode()
        return httpx.Response(status, content=content)

    gateway = FlutterwaveGateway("http://gateway/v3", "FLWSECK", "https://shop.example/paid")
    gateway._api.client = httpx.AsyncClient(transport=httpx.MockTransport(respond), base_url="http://gateway/v3")
    return gateway, calls


def body_of(request: httpx.Request) -> Any:
    return json.loads(request.content, parse_float=Decimal)


def valid(schema: fields.Schema, body: Any) -> None:
    Draft202012Validator(schema).validate(body)


async def test_the_examples_have_the_documented_shapes() -> None:
    for schema, body in (
        (transactions.TRANSACTION, success(PAID)),
        (refunds.REFUND, success(REFUND)),
        (transfers.TRANSFER, success(TRANSFER)),
        (chargebacks.CHARGEBACKS, page_of(CHARGEBACK)),
        (fields.ERROR, error("No transaction was found for this id")),
    ):
        valid(schema, body)


@pytest.mark.parametrize(
    ("channel", "callback_url", "amount_minor"),
    [
        (None, None, 1),
        ("card", "https://shop.example/back", 250_050),
        ("bank_transfer", None, 10**15),
        ("ussd", None, 100),
    ],
)
async def test_a_payment_is_opened_with_documented_fields(
    channel: str | None, callback_url: str | None, amount_minor: int
) -> None:
    gateway, calls = gateway_with(lambda _: (200, success({"link": "https://checkout.example/v3/hosted/pay/abc"})))
    opened = await gateway.open_transaction(
        email="buyer@unilag.edu.ng",
        amount_minor=amount_minor,
        currency="NGN",
        reference="ch-1",
        callback_url=callback_url,
        channel=channel,
        metadata={"orderId": "order-1"},
    )
    assert opened.access_code == "abc"
    body = body_of(calls[0])
    valid(transactions.CREATE_PAYMENT, body)
    assert Decimal(body["amount"]) * 100 == amount_minor
    assert body["redirect_url"] == (callback_url or "https://shop.example/paid")


ACCOUNT: dict[str, Any] = {
    "transfer_reference": "FLWRef-1673365225183",
    "transfer_account": "0067100155",
    "transfer_bank": "WEMA BANK",
    "account_expiration": 1_767_226_500_000,
    "transfer_note": "Please make a bank transfer to Campus Marketplace",
    "transfer_amount": "2500.50",
    "mode": "banktransfer",
}
FULL = TransferAccount(
    "WEMA BANK", "0067100155", "Campus Marketplace", 250_050, datetime(2026, 1, 1, 0, 15, tzinfo=UTC)
)


def charged(**changes: Any) -> dict[str, Any]:
    return {"status": "success", "message": "Charge initiated", "meta": {"authorization": ACCOUNT | changes}}


async def charge_transfer(gateway: FlutterwaveGateway) -> TransferAccount | None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return await gateway.charge_bank_transfer(
        email="buyer@unilag.edu.ng",
        amount_minor=250_050,
        reference="ch-1",
        now=now,
        expires_at=now + timedelta(minutes=15),
        metadata={"orderId": "order-1"},
    )


async def test_a_charge_by_bank_transfer_has_documented_fields() -> None:
    valid(transactions.BANK_TRANSFER, charged())
    gateway, calls = gateway_with(lambda _: (200, charged()))
    assert await charge_transfer(gateway) == FULL
    [call] = calls
    assert (call.method, call.url.path, dict(call.url.params)) == ("POST", "/v3/charges", {"type": "bank_transfer"})
    body = body_of(call)
    valid(transactions.CREATE_BANK_TRANSFER, body)
    assert (body["amount"], body["tx_ref"], body["bank_transfer_options"]) == ("2500.50", "ch-1", {"expires": 900})


@pytest.mark.parametrize(
    ("changes", "account"),
    [
        ({"account_expiration": "2026-01-01 00:15:00"}, FULL),
        ({"account_expiration": "1767226500000"}, FULL),
        ({"transfer_amount": 2500.5}, FULL),
        ({"transfer_note": "Mock note"}, replace(FULL, account_name=None)),
        ({"transfer_note": None}, replace(FULL, account_name=None)),
        ({"transfer_account": None}, None),
        ({"transfer_bank": ""}, None),
        ({"transfer_amount": "2500.505"}, None),
        ({"transfer_amount": 0}, None),
        ({"account_expiration": None}, None),
        ({"account_expiration": 10**18}, None),
        ({"account_expiration": "N/A"}, None),
    ],
)
async def test_an_account_is_read_whole_or_not_at_all(changes: dict[str, Any], account: TransferAccount | None) -> None:
    gateway, _ = gateway_with(lambda _: (200, charged(**changes)))
    assert await charge_transfer(gateway) == account


async def test_no_call_shows_an_account_again() -> None:
    gateway, calls = gateway_with(lambda _: (200, charged()))
    assert (await gateway.find_transfer_account("ch-1"), calls) == (None, [])


@pytest.mark.parametrize("amount_minor", [1, 99, 100, 100_025, 123_456_789_01, AMOUNT_MINOR_MAX - 1])
async def test_a_refund_and_a_transfer_name_the_exact_amount(amount_minor: int) -> None:
    echoed = lambda data: lambda request: (200, success({**data, **_amounts(body_of(request))}))  # noqa: E731
    gateway, calls = gateway_with(echoed(REFUND))
    started = await gateway.start_refund(transaction="flw:7", amount_minor=amount_minor, currency="NGN", note="re-1")
    assert (calls[0].url.path, started.amount_minor) == ("/v3/transactions/7/refund", amount_minor)
    valid(refunds.CREATE_REFUND, body_of(calls[0]))
    gateway, calls = gateway_with(echoed(TRANSFER))
    gateway.transfer_minimum_minor = 1
    sent = await gateway.start_transfer(reference="re-1", recipient_code="flw:3644", amount_minor=amount_minor)
    assert (sent.amount_minor, sent.outcome, body_of(calls[0])["beneficiary"]) == (amount_minor, "pending", 3644)
    valid(transfers.CREATE_TRANSFER, body_of(calls[0]))


def _amounts(body: dict[str, Any]) -> dict[str, Any]:
    # Text keeps the digits that the adapter sent.
    return {"amount_refunded": str(body["amount"]), "amount": str(body["amount"])}


async def test_lists_are_queried_with_documented_parameters() -> None:
    gateway, calls = gateway_with(lambda _: (200, page_of()))
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 8, tzinfo=UTC)
    assert (await gateway.page_of_paid_transactions(start, end, 1)).is_last
    assert (await gateway.page_of_refunds(start, end, 1)).is_last
    assert await gateway.list_refunds("flw:7") == []
    assert await gateway.find_event(GatewaySubject("dispute", "flw:1@FLW-REF")) is None
    documented = (transactions.LIST_QUERY, refunds.LIST_QUERY, refunds.LIST_QUERY, chargebacks.LIST_QUERY)
    for call, names in zip(calls, documented, strict=True):
        assert set(call.url.params) <= names, call.url


async def test_a_recipient_is_created_with_documented_fields() -> None:
    gateway, calls = gateway_with(lambda _: (200, success({"id": 3644})))
    code = await gateway.create_recipient(account_number="0690000034", bank_code="044", account_name="Ade Bond")
    assert code == "flw:3644"
    valid(transfers.CREATE_BENEFICIARY, body_of(calls[0]))


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, error("No transaction was found for this id")), (404, error("Transaction not found"))],
)
async def test_an_unknown_transaction_is_absent(status: int, body: Any) -> None:
    gateway, _ = gateway_with(lambda _: (status, body))
    assert await gateway.find_transaction("ch-1") is None
    assert await gateway.find_event(GatewaySubject("charge", "flw:7")) is None


async def test_a_paid_attempt_precedes_a_later_failed_one() -> None:
    def response(request: httpx.Request) -> tuple[int, Any]:
        if request.url.path.endswith("verify_by_reference"):
            return 200, success({**PAID, "id": 2, "status": "failed"})
        if request.url.path.endswith("/transactions"):
            return 200, page_of({**PAID, "id": "1"})
        return 200, success({**PAID, "id": 1})

    gateway, _ = gateway_with(response)
    found = await gateway.find_transaction("ch-1")
    assert found is not None
    assert (found.gateway_id, found.status) == ("flw:1", "success")


@pytest.mark.parametrize("rows", [[TRANSFER], [{**TRANSFER, "reference": "other"}] * 2])
async def test_a_list_of_other_references_proves_nothing(rows: list[Any]) -> None:
    gateway, _ = gateway_with(lambda _: (200, page_of(*rows)))
    with pytest.raises(GatewayUnavailable):
        await gateway.find_transfer("re-absent")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>"),
        (200, []),
        (200, {"status": True, "data": {}}),
        (200, success([])),
        (200, success(None)),
        (404, b'{"detail": "proxy"}'),
        (401, error("Invalid authorization key")),
        (429, error("Too many requests")),
        (500, error("Internal server error")),
        (200, b"[" * 100_000),
    ],
)
async def test_an_unusable_response_is_no_decision(status: int, body: Any) -> None:
    gateway, _ = gateway_with(lambda _: (status, body))
    with pytest.raises((GatewayUnavailable, MalformedEvent)):
        await gateway.find_transaction("ch-1")
    with pytest.raises((GatewayUnavailable, MalformedEvent)):
        await gateway.start_refund(transaction="flw:7", amount_minor=1, currency="NGN", note="re-1")


async def test_an_error_of_the_gateway_is_a_rejection() -> None:
    gateway, _ = gateway_with(lambda _: (400, error("Refund amount is more than the amount left")))
    with pytest.raises(GatewayRejected, match="amount left"):
        await gateway.start_refund(transaction="flw:7", amount_minor=1, currency="NGN", note="re-1")


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


SETTLED: dict[str, Any] = {
    "id": 41_748,
    "settlement_account": "0031318432",
    "bank_code": "063",
    "due_date": "2026-01-01T04:00:00.000Z",
    "status": "completed",
    "currency": "NGN",
    "gross_amount": 1_220,
    "app_fee": 21.08,
    "merchant_fee": 0,
    "chargeback": 0,
    "refund": 0,
    "stampduty_charge": 0,
    "net_amount": 1_198.92,
    "disburse_ref": None,
    "destination": "account",
    "created_at": "2026-01-02T01:30:00.000Z",
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [("settled", 119_892)]),
        ({"status": "pending"}, [("pending", 119_892)]),
        ({"status": "failed"}, [("failed", 119_892)]),
        ({"status": "flagged"}, [("pending", 119_892)]),
        ({"destination": "bank"}, [("settled", 119_892)]),
        ({"destination": "autowallet"}, []),
        ({"destination": "wallet"}, []),
    ],
)
async def test_a_settlement_is_read_unless_its_money_stays(changes: Any, expected: Any) -> None:
    valid(settlements.SETTLEMENTS, json.loads(json.dumps(page_of(SETTLED | changes)), parse_float=Decimal))
    gateway, calls = gateway_with(lambda _: (200, page_of(SETTLED | changes)))
    listed = await gateway.page_of_settlements(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 8, tzinfo=UTC), 1)
    assert [(row.status, row.amount_minor) for row in listed.rows] == expected
    assert {row.id for row in listed.rows} <= {"flw:41748"}
    assert set(calls[0].url.params) <= settlements.LIST_QUERY


@pytest.mark.parametrize("changes", [{"net_amount": None}, {"net_amount": 1.005}, {"net_amount": -5}, {"id": None}])
async def test_a_settlement_that_cannot_be_read_is_kept_for_staff(changes: Any) -> None:
    gateway, _ = gateway_with(lambda _: (200, page_of(SETTLED | changes)))
    listed = await gateway.page_of_settlements(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 8, tzinfo=UTC), 1)
    assert (list(listed.rows), len(listed.unreadable)) == ([], 1)


async def test_a_settlement_without_its_transactions_proves_nothing() -> None:
    gateway, _ = gateway_with(lambda _: (200, success(SETTLED)))
    with pytest.raises(GatewayUnavailable):
        await gateway.page_of_settlement_charges("flw:41748", 1)
