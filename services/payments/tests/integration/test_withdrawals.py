"""Withdrawals of refunded money from a balance to a bank account (contract section 7.9)."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from contracts.identity import ErasureRequested, UserErased
from contracts.payouts import BankDetailsChanged, BankDetailsQuarantined
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import WithdrawalOutcomeUnknown
from payments.timers import settle_withdrawals_once

from .balances import balance_of, check_audit, credit_refund, credit_reward, statement_of
from .conftest import PaymentsApp
from .steps import ACCOUNT_NUMBER

PATH = "/api/balance/withdrawals"
QUEUE = "payments.withdrawals"
ACCOUNT = {"accountNumber": ACCOUNT_NUMBER, "bankCode": "058"}
LIMIT = 5_000_000
ROUNDS = 6


async def _request(
    app: PaymentsApp, amount_minor: Any = 300_000, *, key: UUID | None = None, stepped_up: bool = True, **body: Any
) -> Any:
    headers = app.headers(app.buyer, idempotency_key=key or uuid4(), stepped_up=stepped_up)
    return await app.client.post(PATH, headers=headers, json={"amountMinor": amount_minor, **ACCOUNT, **body})


async def _withdraw(app: PaymentsApp, amount_minor: int = 300_000) -> str:
    response = await _request(app, amount_minor)
    assert response.status_code == 201, response.text
    return str(response.json()["data"]["id"])


async def _sent(app: PaymentsApp, amount_minor: int = 300_000) -> tuple[str, dict[str, Any]]:
    """Return a withdrawal that the gateway accepted, and its transfer."""
    withdrawal_id = await _withdraw(app, amount_minor)
    await app.work(QUEUE)
    return withdrawal_id, (await app.gateway.transfers())[-1]


async def _own(app: PaymentsApp, withdrawal_id: str) -> dict[str, Any]:
    response = await app.client.get(f"{PATH}/{withdrawal_id}", headers=app.headers(app.buyer))
    assert response.status_code == 200, response.text
    return dict(response.json()["data"])


async def _available(app: PaymentsApp) -> int:
    return int((await balance_of(app))["availableMinor"])


async def _move(app: PaymentsApp, transfer: dict[str, Any], action: str) -> None:
    await app.process_webhook(await app.gateway.move_transfer(transfer["reference"], action))


async def test_refunded_money_goes_to_the_account_that_the_bank_confirms(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    response = await _request(app)
    assert response.status_code == 201, response.text
    created = response.json()["data"]
    assert {name: created[name] for name in ("amountMinor", "status", "accountLast4", "accountName")} == {
        "amountMinor": 300_000,
        "status": "pending",
        "accountLast4": "6789",
        "accountName": "OKAFOR CHIDI",
    }
    assert await _available(app) == 200_000
    await check_audit(app)
    await app.work(QUEUE)
    [transfer] = await app.gateway.transfers()
    assert (transfer["amount"], transfer["reference"]) == (300_000, f"wd-{UUID(created['id']).hex}")
    assert ACCOUNT_NUMBER not in json.dumps(await app.snapshot(), default=str)
    await _move(app, transfer, "succeed")
    assert (await _own(app, created["id"]))["status"] == "paid"
    line = (await statement_of(app))[0]
    assert (line["kind"], line["amountMinor"], line["balanceMinor"]) == ("withdrawn", -300_000, 200_000)
    assert await app.published("payments.transfer_succeeded.v1") == [], "payouts knows nothing of it"
    names = ("payments.withdrawal_requested.v1", "payments.withdrawal_paid.v1")
    assert [len(await app.published(name)) for name in names] == [1, 1]
    await check_audit(app)


async def test_a_repetition_withdraws_once(app: PaymentsApp) -> None:
    await credit_refund(app, 1_000_000)
    key = uuid4()
    responses = await asyncio.gather(*(_request(app, key=key) for _ in range(3)))
    assert {response.status_code for response in responses} == {201}, [one.text for one in responses]
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    assert await _available(app) == 700_000
    other = await _request(app, 300_001, key=key)
    assert (other.status_code, other.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    await check_audit(app)


async def test_bad_requests_change_nothing(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    await credit_reward(app, 50_000)
    before = await app.snapshot()
    cases: list[tuple[int, str, dict[str, Any]]] = [
        (409, "amountMinor", {"amountMinor": 500_001}),
        (422, "amountMinor", {"amountMinor": 9_999}),
        (422, "amountMinor", {"amountMinor": 0}),
        (422, "amountMinor", {"amountMinor": "300000"}),
        (422, "amountMinor", {"amountMinor": 10.5}),
        (422, "accountNumber", {"accountNumber": "0000000000"}),
        (422, "accountNumber", {"accountNumber": "12345"}),
        (422, "accountNumber", {"accountNumber": "٠١٢٣٤٥٦٧٨٩"}),
        (422, "bankCode", {"bankCode": "ab"}),
        (422, "userId", {"userId": str(uuid4())}),
    ]
    for status, name, body in cases:
        response = await _request(app, amount_minor=body.pop("amountMinor", 300_000), **body)
        named = [param["name"] for param in response.json()["invalid_params"]]
        assert (response.status_code, named) == (status, [name]), (body, response.text)
    headers = app.headers(app.buyer, stepped_up=True)
    without_key = await app.client.post(PATH, headers=headers, json={"amountMinor": 300_000, **ACCOUNT})
    assert (without_key.status_code, without_key.json()["code"]) == (422, "VALIDATION_FAILED")
    at_aal1 = await _request(app, stepped_up=False)
    assert (at_aal1.status_code, at_aal1.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    assert await app.snapshot() == before


async def test_an_unavailable_gateway_does_not_change_the_balance(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    await app.gateway.faults(resolve_call={"error_before": True, "times": 1})
    key = uuid4()
    assert (await _request(app, key=key)).status_code == 503
    assert await _available(app) == 500_000
    assert (await _request(app, key=key)).status_code == 201


async def test_a_quarantined_account_gets_no_withdrawal_until_its_release(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    account: dict[str, Any] = {"vendor_id": uuid4(), "last4": "6789", "bank_code": "058"}
    await app.receive(BankDetailsQuarantined(reason="fraud", **account))
    refused = await _request(app)
    assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "accountNumber")
    assert await _available(app) == 500_000
    await app.receive(BankDetailsChanged(verified=False, **account))
    assert (await _request(app)).status_code == 422
    await app.receive(BankDetailsChanged(verified=True, **account))
    assert (await _request(app)).status_code == 201


@pytest.mark.parametrize("fault", [{"error_after": True}, {"error_before": True}])
async def test_a_lost_response_sends_the_transfer_once(app: PaymentsApp, fault: dict[str, bool]) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id = await _withdraw(app)
    await app.gateway.faults(transfer_call={**fault, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.work(QUEUE)
    assert (await _own(app, withdrawal_id))["status"] == "submitting"
    await check_audit(app)
    if "error_before" in fault:
        await app.requeue(QUEUE)
        with pytest.raises(WithdrawalOutcomeUnknown):
            await app.work(QUEUE)
    app.clock.advance(timedelta(minutes=3))
    assert await settle_withdrawals_once(app.dependencies) == 1
    [transfer] = await app.gateway.transfers()
    await _move(app, transfer, "succeed")
    assert ((await _own(app, withdrawal_id))["status"], await _available(app)) == ("paid", 200_000)
    await check_audit(app)


@pytest.mark.parametrize("action", ["fail", "reverse"])
async def test_a_transfer_that_does_not_arrive_returns_the_money(app: PaymentsApp, action: str) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id, transfer = await _sent(app)
    await _move(app, transfer, action)
    found = await _own(app, withdrawal_id)
    assert (found["status"], await _available(app)) == ("failed", 500_000)
    assert found["failure"]
    assert [line["kind"] for line in await statement_of(app)] == ["returned", "withdrawn", "refund"]
    [returned] = await app.published("payments.withdrawal_returned.v1")
    assert (returned["amountMinor"], returned["accountLast4"]) == (300_000, "6789")
    await app.requeue(QUEUE)
    await app.work(QUEUE)
    assert len(await app.gateway.transfers()) == 1
    assert await _withdraw(app, 500_000), "all of it can be withdrawn again"
    await check_audit(app)


async def test_a_rejected_transfer_returns_the_money(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id = await _withdraw(app)
    await app.gateway.faults(transfer_call={"error_before": 400, "times": 1})
    await app.work(QUEUE)
    assert ((await _own(app, withdrawal_id))["status"], await _available(app)) == ("failed", 500_000)
    await check_audit(app)


async def test_a_paid_withdrawal_that_the_bank_reverses_returns_the_money(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id, transfer = await _sent(app)
    await _move(app, transfer, "succeed")
    await _move(app, transfer, "reverse")
    assert ((await _own(app, withdrawal_id))["status"], await _available(app)) == ("failed", 500_000)
    await settle_withdrawals_once(app.dependencies)
    await check_audit(app)


@pytest.mark.parametrize("status", ["failed", "reversed"])
async def test_another_report_of_the_failure_returns_the_money_once(app: PaymentsApp, status: str) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id, transfer = await _sent(app)
    await _move(app, transfer, "fail")
    await app.process_webhook({"event": f"transfer.{status}", "data": {**transfer, "id": 9, "status": status}})
    [again] = await app.fetch("SELECT outcome FROM processed_webhook_events WHERE id = $1", f"transfer.{status}:9")
    assert again["outcome"] == "ignored"
    assert ((await _own(app, withdrawal_id))["status"], await _available(app)) == ("failed", 500_000)
    await check_audit(app)


@pytest.mark.parametrize(("spent_minor", "loss_minor"), [(0, 0), (400_000, 200_000)])
async def test_a_success_after_the_return_debits_the_balance_again(
    app: PaymentsApp, spent_minor: int, loss_minor: int
) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id, transfer = await _sent(app)
    await _move(app, transfer, "fail")
    if spent_minor:
        await _withdraw(app, spent_minor)
    # The gateway's webhook alone moves nothing: its present state decides.
    data = {**transfer, "status": "success"}
    await app.process_webhook({"event": "transfer.success", "data": data})
    assert (await _own(app, withdrawal_id))["status"] == "failed"
    await app.gateway.faults(verify_call={"data": {"status": "success"}, "match": transfer["reference"]})
    assert await settle_withdrawals_once(app.dependencies) == 1
    assert (await _own(app, withdrawal_id))["status"] == "paid"
    assert await _available(app) == 500_000 - spent_minor - (300_000 - loss_minor)
    assert (await app.balances()).get("withdrawal_loss", 0) == loss_minor
    [alert] = [one for one in await app.published("operations.alert_raised.v1") if "Withdrawal" in one["title"]]
    assert alert["severity"] == ("SEV-1" if loss_minor else "SEV-2")
    await check_audit(app)


@pytest.mark.parametrize("days", [1, 7])
@pytest.mark.parametrize(
    ("first", "later", "status", "available_minor"),
    [("fail", "success", "paid", 200_000), ("succeed", "reversed", "failed", 500_000)],
)
async def test_a_later_end_whose_webhook_is_lost_is_found(
    app: PaymentsApp, first: str, later: str, status: str, available_minor: int, days: int
) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id, transfer = await _sent(app)
    await _move(app, transfer, first)
    assert await settle_withdrawals_once(app.dependencies) == 0
    if days == 7:
        app.clock.advance(timedelta(days=1))
        assert await settle_withdrawals_once(app.dependencies) == 0
    await app.gateway.faults(verify_call={"data": {"status": later}, "match": transfer["reference"]})
    assert await settle_withdrawals_once(app.dependencies) == 0, "it is not queried before its time"
    app.clock.advance(timedelta(days=days))
    assert await settle_withdrawals_once(app.dependencies) == 1
    assert ((await _own(app, withdrawal_id))["status"], await _available(app)) == (status, available_minor)
    await check_audit(app)


async def test_a_transfer_that_the_gateway_never_had_is_queried_twice_after_its_end(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id = await _withdraw(app)
    await app.gateway.faults(transfer_call={"error_before": 400, "times": 1})
    await app.work(QUEUE)
    for days in (1, 6):
        app.clock.advance(timedelta(days=days))
        await settle_withdrawals_once(app.dependencies)
    [row] = await app.fetch("SELECT status, due_at FROM withdrawals WHERE id = $1", UUID(withdrawal_id))
    assert tuple(row) == ("failed", None)
    await check_audit(app)


async def test_a_large_withdrawal_waits_for_two_users(app: PaymentsApp) -> None:
    await credit_refund(app, 4 * LIMIT)
    assert (await _request(app, LIMIT)).json()["data"]["status"] == "pending"
    paid, returned = await _withdraw(app, LIMIT + 1), await _withdraw(app, LIMIT + 2)
    await app.work(QUEUE)
    assert len(await app.gateway.transfers()) == 1
    assert await _available(app) == LIMIT - 3
    maker, checker = uuid4(), uuid4()
    for withdrawal_id, outcome in ((paid, "pay"), (returned, "return")):
        path = f"/api/withdrawals/{withdrawal_id}"
        body = {"outcome": outcome, "reason": "checked"}
        assert (await app.post_as(f"{path}/prepare", body, "finance_maker", app.buyer)).status_code == 403
        assert (await app.post_as(f"{path}/prepare", body, "finance_maker", stepped_up=False)).status_code == 403
        prepared = await app.post_as(f"{path}/prepare", body, "finance_maker", maker)
        assert prepared.status_code == 200, prepared.text
        assert (await app.post_as(f"{path}/prepare", body, "finance_maker", maker)).status_code == 409
        waiting = await app.get_as("/api/withdrawals?awaiting=approval", "finance_checker")
        assert [one["id"] for one in waiting] == [withdrawal_id]
        assert (await app.post_as(f"{path}/approve", {"hash": "0" * 64}, "finance_checker", checker)).status_code == 409
        assert (await app.approve(path, maker)).status_code == 403
        assert (await app.approve(path, app.buyer)).status_code == 403
        rejection = {"reason": "call the buyer first"}
        assert (await app.post_as(f"{path}/reject", rejection, "finance_checker", checker)).status_code == 200
        assert (await app.get_as(path))["status"] == "waiting"
        app.clock.advance(timedelta(seconds=1))
        assert (await app.post_as(f"{path}/prepare", body, "finance_maker", maker)).status_code == 200
        approved = await app.approve(path, checker)
        assert (approved.status_code, approved.json()["data"]["decision"]["decidedBy"]) == (200, str(checker))
    await app.work(QUEUE)
    assert [one["amount"] for one in await app.gateway.transfers()] == [LIMIT, LIMIT + 1]
    assert (await _own(app, returned))["status"] == "rejected"
    assert await _available(app) == 2 * LIMIT - 1
    await check_audit(app)


async def test_a_payment_and_withdrawals_never_debit_one_kobo_twice(app: PaymentsApp) -> None:
    for _ in range(ROUNDS):
        await credit_refund(app, 500_000 - await _available(app))
        placed = await app.place_order()
        responses = await asyncio.gather(
            _request(app, 500_000),
            app.request_intent(placed.order_id, balanceMinor=500_000),
            _request(app, 500_000),
        )
        assert sorted(response.status_code for response in responses) == [201, 409, 409]
        await app.work(QUEUE)
        await check_audit(app)


async def test_a_process_that_dies_between_commit_and_call_sends_the_transfer_later(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    withdrawal_id = await _withdraw(app)
    async with app.crashing("NEW.status = 'submitted'", operation="UPDATE", table="withdrawals"):
        with pytest.raises(Exception, match="crash"):
            await app.work(QUEUE)
    assert (await _own(app, withdrawal_id))["status"] == "submitting"
    await app.requeue(QUEUE)
    await app.work(QUEUE)
    [transfer] = await app.gateway.transfers()
    await _move(app, transfer, "succeed")
    assert (await _own(app, withdrawal_id))["status"] == "paid"
    await check_audit(app)


async def test_withdrawals_are_their_owners_alone(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    ids = [await _withdraw(app, 10_000 + number) for number in range(3)]
    listed: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await app.client.get(f"{PATH}?limit=2{cursor}", headers=app.headers(app.buyer))).json()
        listed += [one["id"] for one in page["data"]]
        following = page["meta"]["next_cursor"]
        cursor = None if following is None else f"&cursor={following}"
    assert sorted(listed) == sorted(ids)
    other_user = app.headers(uuid4())
    assert (await app.client.get(PATH, headers=other_user)).json()["data"] == []
    assert (await app.client.get(f"{PATH}/{ids[0]}", headers=other_user)).status_code == 404
    assert (await app.client.get("/api/withdrawals", headers=other_user)).status_code == 403
    assert len(await app.get_as("/api/withdrawals?status=pending")) == 3


async def test_an_open_withdrawal_blocks_erasure_and_an_ended_one_is_erased(app: PaymentsApp) -> None:
    await credit_refund(app, 300_000)
    withdrawal_id, transfer = await _sent(app)

    async def obligations() -> Any:
        await app.receive(ErasureRequested(request_id=uuid4(), user_id=app.buyer))
        return (await app.published("payments.erasure_judged.v1"))[-1].get("openMatters", [])

    assert await obligations() == ["open_withdrawals"]
    await _move(app, transfer, "succeed")
    assert await obligations() == []
    await app.receive(UserErased(user_id=app.buyer))
    query = "SELECT account_name, account_last4, amount_minor FROM withdrawals WHERE id = $1"
    [row] = await app.fetch(query, UUID(withdrawal_id))
    assert tuple(row) == ("", "", 300_000)
