"""Charges by bank transfer at both gateways: the account, and every way to pay into it."""

import time
from datetime import datetime
from decimal import Decimal

import pytest
from jsonschema import Draft202012Validator

from testkit.fixtures import eventually
from testkit.providers.flutterwave import transactions
from testkit.providers.paystack import checking

from .conftest import FLUTTERWAVE_KEY, Receiver, Sandbox

MINUTE = 60


async def call(sandbox: Sandbox, method, path, **arguments):
    """Make a call whose request and response must conform. Returns its status and its `data`."""
    checking.check_request(method, path, {}, arguments.get("json"))
    response = await sandbox.client.request(method, f"/gateway{path}", **arguments)
    checking.check_response(method, path, response.status_code, response.json())
    return response.status_code, response.json().get("data")


def in_seconds(seconds):
    return datetime.fromtimestamp(time.time() + seconds).astimezone().isoformat()


async def charge(sandbox: Sandbox, reference="order-1", seconds: float = 3600):
    """Charge 500,000 kobo by bank transfer. Returns the pending charge."""
    transfer = {"account_expires_at": in_seconds(seconds)}
    body = {"email": "buyer@unilag.edu.ng", "amount": 500_000, "reference": reference, "bank_transfer": transfer}
    status, pending = await call(sandbox, "POST", "/charge", json={**body, "metadata": {"orderId": "order"}})
    assert status == 200
    return pending


async def transfer_into(sandbox: Sandbox, reference="order-1", **body):
    response = await sandbox.client.post(f"/control/charges/{reference}/transfer", json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_each_charge_has_an_account_of_its_own(sandbox: Sandbox) -> None:
    first, second = await charge(sandbox), await charge(sandbox, "order-2")
    assert first["account_number"] != second["account_number"]
    assert (first["reference"], first["amount"]) == ("order-1", 500_000)


async def test_a_reference_is_charged_once(sandbox: Sandbox) -> None:
    await charge(sandbox)
    body = {"email": "buyer@unilag.edu.ng", "amount": 1, "reference": "order-1", "bank_transfer": {}}
    again = await sandbox.client.post("/gateway/charge", json=body)
    assert (again.status_code, again.json()["code"]) == (400, "duplicate_reference")


async def test_a_pending_charge_is_returned_with_its_account(sandbox: Sandbox) -> None:
    pending = await charge(sandbox)
    assert await call(sandbox, "GET", "/charge/order-1") == (200, pending)
    assert (await call(sandbox, "GET", "/charge/order-2"))[0] == 404


async def test_a_paid_charge_is_returned_as_the_transaction(sandbox: Sandbox) -> None:
    await charge(sandbox)
    await transfer_into(sandbox)
    _, paid = await call(sandbox, "GET", "/charge/order-1")
    assert (paid["status"], paid["amount"], paid["channel"]) == ("success", 500_000, "bank_transfer")


@pytest.mark.parametrize(("requested", "given"), [(MINUTE, 15 * MINUTE), (7200, 7200), (86_400, 8 * 3600)])
async def test_the_life_of_an_account_is_bounded(sandbox: Sandbox, requested: float, given: float) -> None:
    started = time.time()
    ends_at = datetime.fromisoformat((await charge(sandbox, seconds=requested))["account_expires_at"]).timestamp()
    assert given <= ends_at - started + 0.002
    assert ends_at - time.time() <= given


async def test_a_setting_shortens_the_life_of_an_account(sandbox: Sandbox) -> None:
    await sandbox.settings_are(transfer_account_seconds=2)
    ends_at = datetime.fromisoformat((await charge(sandbox))["account_expires_at"]).timestamp()
    assert ends_at - time.time() <= 2


@pytest.mark.parametrize("amount", [499_999, 500_000, 500_001])
async def test_any_amount_is_received_and_reported(sandbox: Sandbox, receiver: Receiver, amount: int) -> None:
    await charge(sandbox)
    assert (await transfer_into(sandbox, amount=amount))["amount"] == amount
    await eventually(lambda: receiver.events("charge.success"))
    [event] = receiver.events("charge.success")
    checking.check_event(event)
    paid = event["data"]
    assert (paid["reference"], paid["amount"], paid["channel"]) == ("order-1", amount, "bank_transfer")
    assert paid["metadata"] == {"orderId": "order"}
    assert await sandbox.balance() == amount


async def test_a_second_transfer_is_a_charge_under_the_same_reference(sandbox: Sandbox, receiver: Receiver) -> None:
    await charge(sandbox)
    first, second = await transfer_into(sandbox), await transfer_into(sandbox, amount=70_000)
    assert (first["id"] != second["id"], second["reference"], second["amount"]) == (True, "order-1", 70_000)
    await eventually(lambda: len(receiver.events("charge.success")) == 2)
    assert await sandbox.balance() == 570_000
    _, verified = await call(sandbox, "GET", "/transaction/verify/order-1")
    assert verified["id"] == first["id"]
    refund = await sandbox.client.post("/gateway/refund", json={"transaction": str(second["id"])})
    assert refund.json()["data"]["amount"] == 70_000


async def test_a_transfer_after_the_end_of_the_account_is_received(sandbox: Sandbox) -> None:
    await sandbox.settings_are(transfer_account_seconds=0.01)
    ends_at = datetime.fromisoformat((await charge(sandbox))["account_expires_at"]).timestamp()
    await eventually(lambda: time.time() > ends_at)
    assert (await transfer_into(sandbox))["status"] == "success"


async def test_a_payment_page_has_no_account(sandbox: Sandbox) -> None:
    await sandbox.initialize("order-1")
    assert (await sandbox.client.post("/control/charges/order-1/transfer", json={})).status_code == 400


async def test_the_second_gateway_charges_by_bank_transfer(sandbox: Sandbox, receiver: Receiver) -> None:
    body = {"tx_ref": "order-1", "amount": "5000.50", "currency": "NGN", "email": "buyer@unilag.edu.ng"}
    body |= {"bank_transfer_options": {"expires": 1800}, "meta": {"orderId": "order"}}
    Draft202012Validator(transactions.CREATE_BANK_TRANSFER).validate(body)
    headers = {"authorization": f"Bearer {FLUTTERWAVE_KEY}"}
    path, started = "/flutterwave/v3/charges", time.time()
    response = await sandbox.client.post(path, params={"type": "bank_transfer"}, json=body, headers=headers)
    assert response.status_code == 200, response.text
    Draft202012Validator(transactions.BANK_TRANSFER).validate(response.json())
    account = response.json()["meta"]["authorization"]
    assert account["transfer_amount"] == "5000.50"
    assert started + 1800 <= account["account_expiration"] / 1000 + 0.002
    assert account["account_expiration"] / 1000 <= time.time() + 1800
    await transfer_into(sandbox)
    await transfer_into(sandbox, amount=100)
    await eventually(lambda: len(receiver.flutterwave("charge.completed")) == 2)
    amounts = {event["data"]["amount"] for event in receiver.flutterwave("charge.completed")}
    assert amounts == {Decimal("5000.50"), 1}
