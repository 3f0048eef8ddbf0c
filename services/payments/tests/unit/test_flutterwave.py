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
from payments.clients.flutterwave import FlutterwaveGateway
from payments.clients.gateway import GatewayRejected, GatewayUnavailable
from payments.domain.bank_transfers import TransferAccount
from payments.domain.errors import MalformedEvent
from payments.domain.revisions import GatewaySubject
from testkit.providers.flutterwave import chargebacks, fields, refunds, settlements, transactions, transfers

from .flutterwave_examples import CHARGEBACK, PAID, REFUND, SETTLED, TRANSFER, error, page_of, success

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
