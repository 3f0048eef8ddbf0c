"""Starting a payment (contract section 7)."""

import asyncio
import re
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.orders import OrderCancelled, OrderExpired
from payments.use_cases.intents import start_payment
from payments.use_cases.intents.prepare_intent import PaymentRequest, prepare_intent
from testkit.events import provisioned
from testkit.fixtures import WAIT_SECONDS_MAX, eventually

from .conftest import PaymentsApp

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def test_an_intent_has_the_orders_amount_and_the_gateways_url(app: PaymentsApp) -> None:
    await app.receive(provisioned(app.buyer, "ada@unilag.edu.ng"))
    placed = await app.place_order()
    response = await app.request_intent(placed.order_id, channel="card", callbackUrl="https://shop.example/paid")

    assert response.status_code == 201
    intent = response.json()["data"]
    assert UUID(intent.pop("id"))
    reference = intent.pop("reference")
    assert re.fullmatch(r"ch-[0-9a-f]{32}", reference)
    access_code = intent.pop("accessCode")
    assert intent == {
        "orderId": str(placed.order_id),
        "amountMinor": 500_000,
        "balanceMinor": 0,
        "gatewayMinor": 500_000,
        "currency": "NGN",
        "status": "pending",
        "authorizationUrl": f"{app.gateway.address}/pay/{access_code}",
        "expiresAt": "2026-01-01T00:15:00.000Z",
        "bankTransfer": None,
    }
    opened = await app.gateway.transaction(reference)
    assert (opened["amount"], opened["currency"], opened["channel"]) == (500_000, "NGN", "card")
    assert opened["customer"]["email"] == "ada@unilag.edu.ng"
    assert opened["metadata"] == {
        "userId": str(app.buyer),
        "orderId": str(placed.order_id),
        "settlement": "500000",
    }
    page, accept = intent["authorizationUrl"], {"Accept": "application/json"}
    other_channel = await app.gateway.client.post(page, data={"channel": "ussd"}, headers=accept)
    assert other_channel.status_code == 400
    paid = (await app.gateway.client.post(page, data={"channel": "card"}, headers=accept)).json()["data"]
    assert paid["redirect_url"] == f"https://shop.example/paid?trxref={reference}&reference={reference}"


async def test_an_open_intent_is_returned_to_twenty_concurrent_requests(app: PaymentsApp) -> None:
    placed = await app.place_order()
    responses = await asyncio.gather(*(app.request_intent(placed.order_id) for _ in range(20)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    assert len({response.json()["data"]["reference"] for response in responses}) == 1
    later = await app.open_intent(placed.order_id)
    [transaction] = await app.gateway.transactions()
    assert later["reference"] == transaction["reference"]


async def test_a_key_stays_bound_to_its_effect_for_good(app: PaymentsApp) -> None:
    placed, key = await app.place_order(), uuid4()
    first = await app.request_intent(placed.order_id, key=key)
    again = await app.request_intent(placed.order_id, key=str(key).upper())
    assert again.json()["data"] == first.json()["data"]
    other = await app.place_order()
    for rejected in (
        await app.request_intent(other.order_id, key=key),
        await app.request_intent(placed.order_id, key=key, channel="card"),
    ):
        assert (rejected.status_code, rejected.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    assert len(await app.gateway.transactions()) == 1
    other_user = uuid4()
    other_origin = await app.place_order(buyer_id=other_user)
    assert (await app.request_intent(other_origin.order_id, key=key, user=other_user)).status_code == 201


async def test_a_key_that_a_concurrent_request_binds_to_another_order_is_rejected(app: PaymentsApp) -> None:
    async def second_waits() -> bool:
        async with app.connected("admin") as server:
            return bool(await server.fetchval(_WAITING))

    one, other, key = await app.place_order(), await app.place_order(), uuid4()
    caller = Caller(user_id=app.buyer, permissions=frozenset({"orders:place"}))
    request = PaymentRequest(one.order_id, None, None, key)
    async with app.unit_of_work(caller) as uow:
        first = await prepare_intent(uow, request, app.buyer, app.clock.now(), "paystack", as_service=False)
        second = asyncio.create_task(app.request_intent(other.order_id, key=key))
        await eventually(second_waits)
    response = await second
    assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "Idempotency-Key")
    recorded = await app.fetch("SELECT order_id, reference FROM payment_intents")
    assert [tuple(row) for row in recorded] == [(one.order_id, first.intent.reference)]
    assert len(await app.fetch("SELECT reference FROM payment_references")) == 1
    assert await app.gateway.transactions() == []


async def test_an_absent_or_malformed_idempotency_key_is_rejected(app: PaymentsApp) -> None:
    placed = await app.place_order()
    for key in (None, "", "nonsense", "018cc251-f400-7000-8000-000000000001"):
        headers = app.headers(app.buyer, idempotency_key=key)
        response = await app.client.post(
            "/api/payments/intent", headers=headers, json={"orderId": str(placed.order_id)}
        )
        assert response.status_code == 422
        assert response.json()["invalid_params"][0]["name"] == "Idempotency-Key"
    assert await app.gateway.transactions() == []


async def test_foreign_and_absent_orders_are_404_alike(app: PaymentsApp) -> None:
    foreign = await app.place_order(buyer_id=uuid4())
    responses = await asyncio.gather(app.request_intent(foreign.order_id), app.request_intent(uuid4()))
    documents = [response.json() for response in responses]
    for document in documents:
        document.pop("requestId")
    assert [response.status_code for response in responses] == [404, 404]
    assert documents[0] == documents[1]
    assert await app.gateway.transactions() == []


async def test_an_order_whose_event_is_under_way_is_waited_for(app: PaymentsApp) -> None:
    order_id = uuid4()
    waiting = asyncio.create_task(app.request_intent(order_id))
    await asyncio.sleep(0)
    await app.place_order(order_id=order_id)
    assert (await waiting).status_code == 201


async def test_what_is_not_payable_is_409(app: PaymentsApp) -> None:
    paid = await app.paid_order()
    assert (await app.request_intent(paid.order_id)).status_code == 409
    for event in (OrderCancelled, OrderExpired):
        placed = await app.place_order()
        await app.open_intent(placed.order_id)
        await app.receive(event(order_id=placed.order_id, buyer_id=app.buyer, vendor_id=app.vendor, reason="test"))
        response = await app.request_intent(placed.order_id)
        assert (response.status_code, response.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    late = await app.place_order()
    app.clock.advance(timedelta(minutes=15))
    assert (await app.request_intent(late.order_id)).status_code == 409


async def test_a_foreign_callback_and_odd_bodies_are_422_and_change_nothing(app: PaymentsApp) -> None:
    placed = await app.place_order()
    for body in (
        {"callbackUrl": "https://evil.example/"},
        {"callbackUrl": ""},
        {"channel": "cash"},
        {"amountMinor": 1},
        {"orderId": "not-a-uuid"},
    ):
        assert (await app.request_intent(placed.order_id, **body)).status_code == 422, body
    assert (await app.fetch("SELECT * FROM payment_intents")) == []
    assert await app.gateway.transactions() == []


async def test_a_rejected_callback_names_its_origin_and_the_setting(app: PaymentsApp) -> None:
    placed = await app.place_order()
    response = await app.request_intent(placed.order_id, callbackUrl="https://evil.example/paid?token=not-shown")
    [param] = response.json()["invalid_params"]
    assert param["name"] == "callbackUrl"
    assert all(word in param["reason"] for word in ("https://evil.example", "ALLOWED_ORIGINS", "payments", "gateway"))
    assert "not-shown" not in response.text


async def test_a_payment_needs_the_permission_to_order(app: PaymentsApp) -> None:
    placed = await app.place_order()
    url, body = "/api/payments/intent", {"orderId": str(placed.order_id)}
    assert (await app.client.post(url, json=body)).status_code == 401
    staff = app.headers(app.buyer, idempotency_key=uuid4(), roles=("finance_checker",))
    assert (await app.client.post(url, json=body, headers=staff)).status_code == 403


async def test_a_payment_that_the_gateway_rejects_is_422_with_its_reason(app: PaymentsApp) -> None:
    placed = await app.place_order()
    await app.gateway.faults(initialize_call={"fail": "Invalid Email Address Passed: <ada@unilag.edu.ng>", "times": 1})
    rejected = await app.request_intent(placed.order_id)
    assert (rejected.status_code, rejected.json()["code"]) == (422, "VALIDATION_FAILED")
    assert "Invalid Email Address Passed" in rejected.json()["detail"]
    assert "ada@" not in rejected.text
    again = await app.request_intent(placed.order_id)
    assert again.status_code == 201, "the next try uses a new reference"


def test_a_payment_waits_three_seconds_for_its_order_and_polls_often_at_first() -> None:
    assert sum(start_payment.WAITS_SECONDS) == pytest.approx(3.0)
    assert start_payment.WAITS_SECONDS[0] <= 0.01


async def test_a_payment_continues_when_its_order_arrives_in_this_process(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_payment, "WAITS_SECONDS", (WAIT_SECONDS_MAX,))
    await app.receive(provisioned(app.buyer))
    order_id = new_id()
    early = asyncio.create_task(app.request_intent(order_id))

    async def waits() -> bool:
        return app.dependencies.placed.is_awaited(app.buyer)

    await eventually(waits)
    await app.place_order(order_id=order_id)
    async with asyncio.timeout(WAIT_SECONDS_MAX / 2):
        assert (await early).status_code == 201
    assert not await waits()


async def test_no_payment_is_opened_under_an_invented_address(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_payment, "WAITS_SECONDS", (0.1,))
    placed = await app.place_order()
    await app.fetch("DELETE FROM buyers RETURNING 1")
    early = await app.request_intent(placed.order_id)
    assert (early.status_code, early.headers["retry-after"]) == (409, "3")
    assert await app.gateway.transactions() == []
    await app.receive(provisioned(app.buyer))
    assert (await app.request_intent(placed.order_id)).status_code == 201


async def test_a_gateway_that_fails_is_503_and_the_intent_stays_for_another_try(app: PaymentsApp) -> None:
    placed, key = await app.place_order(), uuid4()
    failures = [{"error_before": 500}, {"error_before": 403}, {"error_before": 401}, {"error_after": 500}]
    await app.gateway.faults(initialize_call=[{**failure, "times": 1} for failure in failures])
    for _ in range(4):
        response = await app.request_intent(placed.order_id, key=key)
        assert (response.status_code, response.json()["code"]) == (503, "INTERNAL_ERROR")
        assert response.headers["retry-after"]
    response = await app.request_intent(placed.order_id, key=key)
    assert response.status_code == 201
    assert len(await app.fetch("SELECT * FROM payment_intents")) == 1
    # Each attempt recorded its own reference before the call: a charge under any of them finds the order.
    written = {row["reference"] for row in await app.fetch("SELECT reference FROM payment_references")}
    assert len(written) == 5
    lost, repeated = (transaction["reference"] for transaction in await app.gateway.transactions())
    assert repeated == response.json()["data"]["reference"]
    await app.process_webhook(await app.pay(lost))
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_payments_are_the_buyers_own_and_everybodys_for_staff(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    other = uuid4()
    foreign = await app.place_order(buyer_id=other)
    foreign_intent = (await app.request_intent(foreign.order_id, user=other)).json()["data"]
    client, own = app.client, app.headers(app.buyer)

    mine = (await client.get("/api/payments", headers=own)).json()
    assert (mine["meta"]["total"], mine["data"][0]["orderId"]) == (1, str(placed.order_id))
    assert (mine["data"][0]["status"], mine["data"][0]["paidAt"]) == ("paid", "2026-01-01T00:00:00.000Z")
    assert (await client.get(f"/api/payments/{mine['data'][0]['id']}", headers=own)).status_code == 200
    assert (await client.get(f"/api/payments/{foreign_intent['id']}", headers=own)).status_code == 404
    assert (await client.get("/api/payments/nonsense", headers=own)).status_code == 404
    auditor = app.headers(uuid4(), roles=("auditor",))
    assert (await client.get("/api/payments?order=asc", headers=auditor)).json()["meta"]["total"] == 2
    assert (await client.get(f"/api/payments/{foreign_intent['id']}", headers=auditor)).status_code == 200

    async def orders_of(**query: str) -> list[str]:
        response = await client.get("/api/payments", params=query, headers=auditor)
        assert response.status_code == 200, response.text
        assert response.json()["meta"]["total"] == len(response.json()["data"])
        return [payment["orderId"] for payment in response.json()["data"]]

    assert await orders_of(orderId=str(foreign.order_id)) == [str(foreign.order_id)]
    assert await orders_of(status="paid") == [str(placed.order_id)]
    assert await orders_of(status="closed") == []
    assert await orders_of(reference=foreign_intent["reference"]) == [str(foreign.order_id)]
    assert await orders_of(reference="ch-0") == []
    assert await orders_of(**{"from": "2026-01-02"}) == []
    assert await orders_of(to="2026-01-02", status="pending") == [str(foreign.order_id)]
    stolen = await client.get(f"/api/payments?orderId={foreign.order_id}", headers=own)
    assert (stolen.status_code, stolen.json()["data"]) == (200, [])
    rejected = await client.get("/api/payments?status=lost", headers=own)
    assert (rejected.status_code, rejected.json()["invalid_params"][0]["name"]) == (422, "status")
