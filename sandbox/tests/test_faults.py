import asyncio
from typing import Any

import httpx
import pytest

from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox


async def hangs_up(sandbox: Sandbox, method, path, **body):
    """Yield a caller with a short timeout."""
    with pytest.raises(httpx.ReadTimeout):
        await sandbox.client.request(method, path, timeout=httpx.Timeout(60, read=0.3), **body)


async def test_a_webhook_can_be_delivered_several_times(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.fault(charge_webhook={"duplicate": 2, "times": 1})
    await sandbox.charge("order-1")
    await sandbox.charge("order-2")
    await eventually(lambda: len(receiver.events()) == 4)
    bodies = [raw for _, raw in receiver.received if b'"order-1"' in raw]
    assert len(bodies) == 3
    assert len(set(bodies)) == 1


async def test_a_dropped_webhook_is_sent_on_request_only(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.fault(charge_webhook={"drop": True, "match": "order-1"})
    await sandbox.charge("order-1")
    await sandbox.charge("order-2")
    await eventually(lambda: len(receiver.events()) == 1)
    assert receiver.events()[0]["data"]["reference"] == "order-2"
    dropped = await sandbox.webhooks(status="dropped")
    assert [webhook["reference"] for webhook in dropped] == ["order-1"]
    assert dropped[0]["attempts"] == []
    await sandbox.client.post(f"/control/webhooks/{dropped[0]['id']}/resend")
    await eventually(lambda: len(receiver.events()) == 2)


async def test_a_delayed_webhook_arrives_after_a_later_one(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.fault(charge_webhook=[{"delay": 600, "match": 500_000}, {"delay": 0.05, "match": 300_000}])
    await sandbox.charge("late", 500_000)
    await sandbox.charge("early", 400_000)
    await sandbox.charge("soon", 300_000)
    await eventually(lambda: len(receiver.events()) == 2)
    assert {event["data"]["reference"] for event in receiver.events()} == {"early", "soon"}

    async def only_the_late_one_waits():
        return [webhook["reference"] for webhook in await sandbox.webhooks(status="pending")] == ["late"]

    await eventually(only_the_late_one_waits)


@pytest.mark.parametrize("kind", ["transfer_webhook", "refund_webhook"])
async def test_transfer_and_refund_webhooks_have_their_own_switches(
    sandbox: Sandbox, receiver: Receiver, kind: str
) -> None:
    await sandbox.fault(**{kind: {"duplicate": 1}})
    await sandbox.charge("order-1")
    await sandbox.transfer("po-0000000000000001", 10_000)
    await sandbox.client.post("/gateway/refund", json={"transaction": "order-1", "amount": 1_000})
    await eventually(lambda: len(receiver.events()) == 4)
    doubled = kind.removesuffix("_webhook")
    assert len([event for event in receiver.events() if event["event"].startswith(doubled)]) == 2


async def test_a_transfer_call_that_times_out_has_moved_the_money(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("funds", 500_000)
    recipient = await sandbox.recipient()
    await sandbox.fault(transfer_call={"timeout": True, "times": 1})
    body = {"source": "balance", "amount": 100_000, "recipient": recipient, "reference": "po-0000000000000001"}
    await hangs_up(sandbox, "POST", "/gateway/transfer", json=body)
    await eventually(lambda: receiver.events("transfer.success"))
    assert await sandbox.balance() == 400_000
    again = await sandbox.client.post("/gateway/transfer", json=body)
    assert again.status_code == 400
    assert await sandbox.balance() == 400_000


async def test_a_response_can_arrive_after_the_webhook(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("funds", 500_000)
    await sandbox.fault(transfer_call={"timeout": True, "times": 1})
    waiting = asyncio.create_task(sandbox.transfer("po-0000000000000001"))
    await eventually(lambda: receiver.events("transfer.success"))
    assert not waiting.done()
    waiting.cancel()
    await sandbox.fault(transfer_call={"timeout": 0.1, "times": 1})
    response = await sandbox.transfer("po-0000000000000002")
    assert response.json()["data"]["status"] == "pending"


async def test_an_error_before_or_after_the_effect_can_be_chosen(sandbox: Sandbox) -> None:
    await sandbox.charge("funds", 500_000)
    await sandbox.fault(transfer_call=[{"error_before": True, "times": 1}, {"error_after": True, "times": 1}])
    assert (await sandbox.transfer("po-0000000000000001", 100_000)).status_code == 500
    assert await sandbox.balance() == 500_000
    assert (await sandbox.transfer("po-0000000000000001", 100_000)).status_code == 500
    assert await sandbox.balance() == 400_000
    assert (await sandbox.transfer("po-0000000000000001", 100_000)).status_code == 400


CALLS = {
    "initialize_call": (
        "POST",
        "/gateway/transaction/initialize",
        {"email": "a@b.ng", "amount": 100, "reference": "x-1"},
    ),
    "verify_call": ("GET", "/gateway/transaction/verify/funds", None),
    "resolve_call": ("GET", "/gateway/bank/resolve?account_number=0123456785&bank_code=058", None),
    "list_call": ("GET", "/gateway/transaction", None),
    "balance_call": ("GET", "/gateway/balance", None),
    "refund_call": ("POST", "/gateway/refund", {"transaction": "funds", "amount": 100}),
}


@pytest.mark.parametrize("kind", CALLS)
async def test_every_call_can_fail_and_recover(sandbox: Sandbox, kind: str) -> None:
    method, path, body = CALLS[kind]
    await sandbox.charge("funds", 500_000)

    async def call():
        return await sandbox.client.request(method, path, json=body)

    await sandbox.fault(**{kind: {"error_before": True, "times": 2}})
    assert [(await call()).status_code for _ in range(2)] == [500, 500]
    await sandbox.fault(**{kind: {"timeout": True}})
    await hangs_up(sandbox, method, path, json=None if body is None else {**body, "reference": "x-2"})
    assert (await sandbox.client.delete("/control/faults")).json() == {}
    assert (await call()).status_code == 200


@pytest.mark.parametrize(
    ("kind", "status"), [("initialize_call", 400), ("verify_call", 400), ("resolve_call", 422), ("balance_call", 400)]
)
async def test_a_failing_call_returns_the_configured_reason(sandbox: Sandbox, kind: str, status: int) -> None:
    method, path, body = CALLS[kind]
    await sandbox.fault(**{kind: {"fail": "Bank switch is down"}})
    response = await sandbox.client.request(method, path, json=body)
    assert (response.status_code, response.json()) == (status, {"status": False, "message": "Bank switch is down"})


async def test_an_error_can_have_another_status(sandbox: Sandbox) -> None:
    await sandbox.charge("funds", 500_000)
    await sandbox.fault(refund_call=[{"error_before": 400, "times": 1}, {"error_after": 502, "times": 1}])
    statuses = []
    for _ in range(2):
        response = await sandbox.client.post("/gateway/refund", json={"transaction": "funds", "amount": 100})
        statuses.append((response.status_code, response.json()["status"]))
    assert statuses == [(400, False), (502, False)]
    assert len((await sandbox.client.get("/gateway/refund")).json()["data"]) == 1


async def test_a_verification_can_show_other_data(sandbox: Sandbox) -> None:
    await sandbox.charge("funds", 500_000)
    await sandbox.fault(verify_call=[{"data": {"amount": 7}, "match": "funds"}, {"data": {"status": "resolved"}}])
    shown = (await sandbox.client.get("/gateway/transaction/verify/funds")).json()["data"]
    assert (shown["amount"], shown["reference"]) == (7, "funds")
    absent = await sandbox.client.get("/gateway/dispute/70001")
    assert (absent.status_code, absent.json()["data"]) == (200, {"status": "resolved"})


async def test_a_transaction_is_paid_or_declined_by_control(sandbox: Sandbox) -> None:
    await sandbox.initialize("order-1")
    declined = await sandbox.client.post("/control/charges/order-1/decline", json={"reason": "Expired card"})
    assert (declined.json()["status"], declined.json()["gateway_response"]) == ("failed", "Expired card")
    paid = await sandbox.client.post("/control/charges/order-1/pay", json={"amount": 400, "currency": "GHS"})
    assert (paid.json()["status"], paid.json()["amount"], paid.json()["currency"]) == ("success", 400, "GHS")
    assert (await sandbox.client.post("/control/charges/order-1/pay")).status_code == 400
    assert (await sandbox.client.post("/control/charges/order-1/lose")).status_code == 400


async def test_null_removes_the_rules_of_one_kind(sandbox: Sandbox) -> None:
    await sandbox.fault(verify_call={"error_before": True}, balance_call={"error_before": True})
    await sandbox.fault(sms={"fail": "no"}, verify_call=None)
    shown = (await sandbox.client.get("/control/faults")).json()
    assert shown == {"balance_call": [{"error_before": True}], "sms": [{"fail": "no"}]}


@pytest.mark.parametrize(
    "rules",
    [
        {"nothing": {"drop": True}},
        {"charge_webhook": {"fail": "x"}},
        {"transfer_call": {"times": 1}},
        {"transfer_call": {"fail": "x", "typo": 1}},
        {"transfer_call": {"fail": "x", "times": 0}},
        {"charge_webhook": {"duplicate": 10_000}},
        {"refund_call": {"error_before": 200}},
        {"refund_call": {"data": {"status": "failed"}}},
    ],
)
async def test_an_impossible_rule_is_rejected(sandbox: Sandbox, rules: dict[str, Any]) -> None:
    assert (await sandbox.client.put("/control/faults", json=rules)).status_code == 400
    assert (await sandbox.client.get("/control/faults")).json() == {}
