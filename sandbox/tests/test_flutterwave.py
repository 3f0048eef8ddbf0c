"""The second gateway: its responses and webhooks have the documented shapes."""

import json
from decimal import Decimal

import pytest
from jsonschema import Draft202012Validator

from testkit.fixtures import eventually
from testkit.providers.flutterwave import chargebacks, fields, refunds, settlements, transactions, transfers

from .conftest import Receiver, Sandbox

KEY = "FLWSECK_TEST-key"


class Flutterwave:
    """Calls of the second gateway; every response is checked against its schema."""

    def __init__(self, sandbox):
        self.sandbox = sandbox

    async def call(self, method, path, schema, status=200, **arguments):
        headers = {"authorization": f"Bearer {KEY}"}
        response = await self.sandbox.client.request(method, f"/flutterwave/v3/{path}", headers=headers, **arguments)
        assert response.status_code == status, response.text
        body = json.loads(response.content, parse_float=Decimal)
        Draft202012Validator(schema).validate(body)
        return body if status >= 400 else body["data"]

    async def open(self, tx_ref, amount="5000.50", **more):
        body = {"tx_ref": tx_ref, "amount": amount, "currency": "NGN", "redirect_url": "https://shop.example/paid?a=1"}
        body |= {"customer": {"email": "buyer@unilag.edu.ng"}, "meta": {"orderId": "order"}, **more}
        return (await self.call("POST", "payments", transactions.HOSTED_LINK, json=body))["link"]

    async def pay(self, link, **form):
        headers = {"Accept": "application/json"}
        paid = await self.sandbox.client.post(link, data={"action": "pay", **form}, headers=headers)
        assert paid.status_code == 200, paid.text
        return paid.json()["data"]

    async def charge(self, tx_ref, amount="5000.50"):
        await self.pay(await self.open(tx_ref, amount))
        return await self.verify(tx_ref)

    async def verify(self, tx_ref):
        query = {"tx_ref": tx_ref}
        return await self.call("GET", "transactions/verify_by_reference", transactions.TRANSACTION, params=query)

    async def balance(self):
        return await self.call("GET", "balances/NGN", transfers.BALANCE)

    async def transfer(self, reference, amount, status=200):
        account = {"account_number": "0123456785", "account_bank": "058", "beneficiary_name": "Ada Obi Ventures"}
        created = await self.call("POST", "beneficiaries", transfers.BENEFICIARY, json=account)
        again = await self.call("POST", "beneficiaries", transfers.BENEFICIARY, json=account)
        assert created["id"] == again["id"]
        body = {"beneficiary": created["id"], "amount": amount, "currency": "NGN", "reference": reference}
        schema = transfers.TRANSFER if status == 200 else fields.ERROR
        return await self.call("POST", "transfers", schema, status, json=body)


@pytest.fixture
def flutterwave(sandbox: Sandbox):
    return Flutterwave(sandbox)


async def test_a_payment_reports_naira_fee_and_settled_amount(flutterwave, receiver: Receiver) -> None:
    link = await flutterwave.open("order-1")
    missing = await flutterwave.call(
        "GET", "transactions/verify_by_reference", fields.ERROR, 400, params={"tx_ref": "order-1"}
    )
    assert missing["message"] == "No transaction was found for this id"
    paid = await flutterwave.pay(link)
    assert paid["redirect_url"].startswith(
        "https://shop.example/paid?a=1&status=successful&tx_ref=order-1&transaction_id="
    )
    found = await flutterwave.verify("order-1")
    # 1.4 %, and 7.5 % of that as tax.
    assert (found["amount"], found["app_fee"]) == (Decimal("5000.5"), Decimal("70.01"))
    assert found["amount_settled"] == Decimal("5000.5") - Decimal("75.26")
    assert found["meta"] == {"orderId": "order"}
    assert await flutterwave.balance() == {
        "currency": "NGN",
        "available_balance": found["amount_settled"],
        "ledger_balance": found["amount_settled"],
    }
    await eventually(lambda: receiver.flutterwave("charge.completed"))
    event = receiver.flutterwave("charge.completed")[0]
    Draft202012Validator(transactions.CHARGE_EVENT).validate(event)
    assert (event["data"]["tx_ref"], event["data"]["status"]) == ("order-1", "successful")
    by_id = await flutterwave.call("GET", f"transactions/{found['id']}/verify", transactions.TRANSACTION)
    assert by_id == found


async def test_a_declined_payment_is_a_failed_transaction(flutterwave, receiver: Receiver) -> None:
    link = await flutterwave.open("order-1")
    await flutterwave.sandbox.client.post(link, data={"action": "decline", "reason": "Insufficient Funds"})
    assert (await flutterwave.verify("order-1"))["processor_response"] == "Insufficient Funds"
    await eventually(lambda: receiver.flutterwave("charge.completed"))
    assert receiver.flutterwave("charge.completed")[0]["data"]["status"] == "failed"


async def test_the_two_gateways_do_not_see_each_others_transactions(flutterwave, sandbox: Sandbox) -> None:
    await sandbox.charge("first", 500_000)
    await flutterwave.charge("second", 100)
    listed = await flutterwave.call("GET", "transactions", transactions.TRANSACTIONS, params={"status": "successful"})
    assert [row["tx_ref"] for row in listed] == ["second"]
    body = (await sandbox.client.get("/gateway/transaction")).json()["data"]
    assert [row["reference"] for row in body] == ["first"]
    assert (await sandbox.client.get("/gateway/transaction/verify/second")).status_code == 400
    missing = {"tx_ref": "first"}
    await flutterwave.call("GET", "transactions/verify_by_reference", fields.ERROR, 400, params=missing)
    assert await sandbox.balance() == 500_000
    ledger = (await sandbox.client.get("/control/book", params={"gateway": "flutterwave"})).json()
    assert (ledger["balance"], ledger["charges"]["amount_minor"], ledger["charge_fees"]["amount_minor"]) == (
        9_850 - 1,
        10_000,
        151,
    )


async def test_amounts_with_more_than_two_decimals_are_refused(flutterwave) -> None:
    body = {"tx_ref": "order-1", "amount": "50.005", "redirect_url": "https://shop.example"}
    body["customer"] = {"email": "buyer@unilag.edu.ng"}
    refused = await flutterwave.call("POST", "payments", fields.ERROR, 400, json=body)
    assert refused["message"] == "amount is invalid"


async def test_a_refund_is_completed_before_the_customer_has_it(
    flutterwave, sandbox: Sandbox, receiver: Receiver
) -> None:
    await sandbox.settings_are(refund_settlement="manual")
    charge = await flutterwave.charge("order-1")
    body = {"amount": 1000.25, "comments": "attempt-1"}
    started = await flutterwave.call("POST", f"transactions/{charge['id']}/refund", refunds.REFUND, json=body)
    assert (started["status"], started["amount_refunded"]) == ("completed", Decimal("1000.25"))
    await sandbox.client.post(f"/control/refunds/{started['id']}/process")
    shown = await flutterwave.call("GET", f"refunds/{started['id']}", refunds.REFUND)
    assert shown["status"] == "completed-bank-transfer"
    listed = await flutterwave.call("GET", "refunds", refunds.REFUNDS, params={"id": charge["id"]})
    assert listed == [shown]
    await eventually(lambda: receiver.flutterwave("refund.completed"))
    event = receiver.flutterwave("refund.completed")[0]
    Draft202012Validator(refunds.REFUND_EVENT).validate(event)
    assert event["data"]["TransactionId"] == charge["id"]


async def test_a_failed_transfer_has_the_banks_text_as_its_message(
    flutterwave, sandbox: Sandbox, receiver: Receiver
) -> None:
    await flutterwave.charge("order-1", 10_000)
    await sandbox.fault(transfer_call={"fail": "Account is dormant"})
    started = await flutterwave.transfer("payout-1", 4_000.75)
    assert (started["status"], started["complete_message"]) == ("PENDING", "")
    await eventually(lambda: receiver.flutterwave("transfer.completed"))
    event = receiver.flutterwave("transfer.completed")[0]
    Draft202012Validator(transfers.TRANSFER_EVENT).validate(event)
    query = {"reference": "payout-1"}
    (found,) = await flutterwave.call("GET", "transfers", transfers.TRANSFERS, params=query)
    assert (found["status"], found["complete_message"]) == ("FAILED", "DISBURSE FAILED: Account is dormant")
    assert (found["id"], found["amount"]) == (event["data"]["id"], Decimal("4000.75"))
    again = await flutterwave.transfer("payout-1", 4_000.75, status=400)
    assert again["data"] is None


async def test_a_settlement_has_its_transactions_and_transfers_the_money_to_the_bank(
    flutterwave, sandbox: Sandbox
) -> None:
    await flutterwave.charge("order-1", 1_000)
    before = await flutterwave.balance()
    body = {"gateway": "flutterwave"}
    assert (await sandbox.client.post("/control/settlements", json=body)).status_code == 200
    (listed,) = await flutterwave.call("GET", "settlements", settlements.SETTLEMENTS)
    assert (listed["status"], listed["destination"]) == ("completed", "account")
    assert listed["net_amount"] == before["available_balance"]
    found = await flutterwave.call("GET", f"settlements/{listed['id']}", settlements.SETTLEMENT)
    assert [line["tx_ref"] for line in found["transactions"]] == ["order-1"]
    assert (await flutterwave.balance())["available_balance"] == 0
    await flutterwave.charge("order-2", 1_000)
    body["destination"] = "autowallet"
    assert (await sandbox.client.post("/control/settlements", json=body)).status_code == 200
    assert (await flutterwave.balance())["available_balance"] == before["available_balance"]
    paystacks = (await sandbox.client.get("/gateway/settlement")).json()
    assert paystacks["data"] == []


async def test_a_chargeback_holds_its_amount_until_it_is_decided(
    flutterwave, sandbox: Sandbox, receiver: Receiver
) -> None:
    charge = await flutterwave.charge("order-1", 1_000)
    dispute = (await sandbox.client.post("/control/charges/order-1/dispute", json={"amount": 40_000})).json()
    before = await flutterwave.balance()
    assert before["ledger_balance"] - before["available_balance"] == 400
    query = {"flw_ref": charge["flw_ref"]}
    (listed,) = await flutterwave.call("GET", "chargebacks", chargebacks.CHARGEBACKS, params=query)
    assert (listed["status"], listed["tx_ref"]) == ("initiated", "order-1")
    await sandbox.client.post(f"/control/disputes/{dispute['id']}/lose")
    (listed,) = await flutterwave.call("GET", "chargebacks", chargebacks.CHARGEBACKS, params=query)
    assert listed["status"] == "lost"
    after = await flutterwave.balance()
    assert after["ledger_balance"] == after["available_balance"] == before["available_balance"]
    await eventually(lambda: receiver.flutterwave("chargeback.lost"))


async def test_webhooks_are_signed_by_either_scheme(flutterwave, sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.settings_are(flutterwave_signature="hmac")
    await flutterwave.charge("order-1")
    # The receiver checks the signature of everything that it accepts.
    await eventually(lambda: receiver.flutterwave("charge.completed"))


async def test_accounts_banks_and_keys(flutterwave, sandbox: Sandbox) -> None:
    banks = await flutterwave.call("GET", "banks/NG", transfers.BANKS)
    assert {"058", "044"} <= {bank["code"] for bank in banks}
    account = {"account_number": "0123456785", "account_bank": "058"}
    known = await flutterwave.call("POST", "accounts/resolve", transfers.ACCOUNT, json=account)
    assert known["account_name"] == "Ada Obi Ventures"
    await flutterwave.call(
        "POST", "accounts/resolve", fields.ERROR, 400, json={**account, "account_number": "0123456780"}
    )
    for headers in ({"authorization": ""}, {"authorization": "Bearer sk_test_current"}):
        refused = await sandbox.client.get("/flutterwave/v3/balances/NGN", headers=headers)
        assert refused.status_code == 401
        Draft202012Validator(fields.ERROR).validate(refused.json())
