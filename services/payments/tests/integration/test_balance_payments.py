"""Payments from a buyer's balance, and refunds back to where the money came from (contract sections 7.1, 7.6 and
7.9).
"""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from msgspec import structs

from contracts.identity import ErasureRequested
from contracts.orders import OrderCancelled, OrderExpired, OrderPlaced
from payments.timers import sweep_holds_once
from payments.use_cases.reconciliation.reconcile import reconcile

from .balances import balance_of, check_audit, credit_refund, credit_reward, statement_of
from .conftest import PaymentsApp
from .purchases import Purchase, place_purchase
from .steps import WHOLE_TIME

ROUNDS = 6


async def _intent(app: PaymentsApp, order_id: UUID | None, balance_minor: int | None, **body: Any) -> dict[str, Any]:
    fields = {} if balance_minor is None else {"balanceMinor": balance_minor}
    response = await app.request_intent(order_id, **fields, **body)
    assert response.status_code == 201, response.text
    return dict(response.json()["data"])


async def _amounts(app: PaymentsApp) -> tuple[int, int]:
    balance = await balance_of(app)
    return balance["availableMinor"], balance["heldMinor"]


async def _statuses(app: PaymentsApp) -> list[str]:
    rows = await app.fetch("SELECT status FROM payment_intents ORDER BY created_at, id")
    return [row["status"] for row in rows]


async def _end(app: PaymentsApp, placed: OrderPlaced, event: type[OrderCancelled] | type[OrderExpired]) -> None:
    await app.receive(event(**app.parties(placed), reason="test"))


async def _pay(app: PaymentsApp, reference: str, amount_minor: int | None = None) -> None:
    await app.process_webhook(await app.pay(reference, amount_minor))


async def test_a_balance_pays_a_part_and_the_gateway_the_rest(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    intent = await _intent(app, placed.order_id, 30_000)
    assert (intent["amountMinor"], intent["balanceMinor"], intent["gatewayMinor"]) == (500_000, 30_000, 470_000)
    [transaction] = await app.gateway.transactions()
    assert (transaction["amount"], transaction["metadata"]["settlement"]) == (470_000, "470000")
    assert await _amounts(app) == (20_000, 30_000)
    await check_audit(app)
    await _pay(app, intent["reference"])
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert await _amounts(app) == (20_000, 0)
    assert await app.balances() == {
        "gateway_cash": 470_000,
        "referral_expense": 50_000,
        f"buyer_balance:{app.buyer}": -20_000,
        f"escrow:{placed.order_id}": -500_000,
    }
    lines = [(line["kind"], line["amountMinor"], line["balanceMinor"]) for line in await statement_of(app)]
    assert lines == [("spent", -30_000, 20_000), ("reward", 50_000, 50_000)]
    [held] = await app.published("payments.escrow_held.v1")
    assert (held["amountMinor"], held["reference"]) == (500_000, intent["reference"])
    assert "paidOrders" not in held
    await check_audit(app)


async def test_a_balance_alone_pays_at_once_without_the_gateway(app: PaymentsApp) -> None:
    await credit_refund(app, 600_000)
    calls = len(app.gateway.calls)
    placed = await app.place_order()
    key = uuid4()
    intent = await _intent(app, placed.order_id, 500_000, key=key)
    assert (intent["status"], intent["gatewayMinor"], intent["authorizationUrl"]) == ("paid", 0, None)
    assert app.gateway.calls[calls:] == []
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert await _amounts(app) == (100_000, 0)
    held = (await app.published("payments.escrow_held.v1"))[-1]
    assert (held["orderId"], held["amountMinor"]) == (str(placed.order_id), 500_000)
    again = await _intent(app, placed.order_id, 500_000, key=key)
    assert (again["id"], again["status"]) == (intent["id"], "paid")
    assert await _amounts(app) == (100_000, 0)
    [listed] = (await app.client.get("/api/payments?status=paid&limit=1", headers=app.headers(app.buyer))).json()[
        "data"
    ]
    assert (listed["balanceMinor"], listed["gatewayMinor"]) == (500_000, 0)
    await check_audit(app)


async def test_more_than_available_or_due_changes_nothing(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed, small = await app.place_order(), await app.place_order(30_000, 0, 0)
    before = await app.snapshot()
    for order_id, balance_minor, status in ((placed.order_id, 50_001, 409), (small.order_id, 30_001, 422)):
        response = await app.request_intent(order_id, balanceMinor=balance_minor)
        assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (status, "balanceMinor")
    assert (await app.request_intent(placed.order_id, balanceMinor=-1)).status_code == 422
    assert (await app.request_intent(placed.order_id, balanceMinor=100, user=uuid4())).status_code == 404
    assert await app.snapshot() == before


async def test_two_payments_cannot_hold_one_balance(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    orders = [await app.place_order() for _ in range(3)]
    responses = await asyncio.gather(*(app.request_intent(one.order_id, balanceMinor=50_000) for one in orders))
    assert sorted(response.status_code for response in responses) == [201, 409, 409]
    assert await _amounts(app) == (0, 50_000)
    await check_audit(app)


@pytest.mark.parametrize("event", [OrderCancelled, OrderExpired])
async def test_a_closed_payment_returns_what_it_held(app: PaymentsApp, event: type[OrderCancelled]) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    await _intent(app, placed.order_id, 50_000)
    await _end(app, placed, event)
    assert await _amounts(app) == (50_000, 0)
    assert [line["kind"] for line in await statement_of(app)] == ["returned", "spent", "reward"]
    rewards = await app.client.get("/api/rewards/balance", headers=app.headers(app.buyer))
    assert rewards.json()["data"] == {"balanceMinor": 50_000}
    await check_audit(app)


async def test_a_failed_payment_returns_its_hold_and_a_late_success_holds_it_again(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    intent = await _intent(app, placed.order_id, 50_000)
    await app.process_webhook(await app.gateway.decline(intent["reference"], "no funds"))
    assert await _amounts(app) == (50_000, 0)
    await _pay(app, intent["reference"])
    assert (await _amounts(app), await app.order_status(placed.order_id)) == ((0, 0), "paid_escrow")
    await check_audit(app)


async def test_a_late_charge_is_quarantined_when_the_balance_is_spent_elsewhere(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed, other = await app.place_order(), await app.place_order(50_000, 0, 0)
    intent = await _intent(app, placed.order_id, 50_000)
    await _end(app, placed, OrderExpired)
    assert (await _intent(app, other.order_id, 50_000))["status"] == "paid"
    await _pay(app, intent["reference"])
    assert await app.order_status(placed.order_id) == "expired"
    [quarantined] = await app.published("payments.charge_quarantined.v1")
    assert (quarantined["reason"], quarantined["amountMinor"]) == ("underpaid", 450_000)
    assert await _amounts(app) == (0, 0)
    await check_audit(app)


async def test_a_late_charge_of_an_expired_order_holds_the_balance_again(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    intent = await _intent(app, placed.order_id, 50_000)
    await _end(app, placed, OrderExpired)
    await _pay(app, intent["reference"])
    assert (await app.order_status(placed.order_id), await _amounts(app)) == ("paid_escrow", (0, 0))
    await check_audit(app)


async def test_a_charge_below_its_part_is_quarantined_and_returns_the_hold(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    intent = await _intent(app, placed.order_id, 50_000)
    await _pay(app, intent["reference"], 449_999)
    assert (await _statuses(app), await _amounts(app)) == (["quarantined"], (50_000, 0))
    await check_audit(app)


async def test_a_surplus_of_the_charge_is_refunded_and_the_hold_is_spent(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    intent = await _intent(app, placed.order_id, 50_000)
    await _pay(app, intent["reference"], 470_000)
    assert await _amounts(app) == (0, 0)
    [refund] = await app.fetch("SELECT kind, amount_minor, balance_minor FROM refunds")
    assert tuple(refund) == ("overpayment", 20_000, 0)
    await check_audit(app)


async def test_another_part_of_the_balance_replaces_the_live_payment(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    first = await _intent(app, placed.order_id, None)
    second = await _intent(app, placed.order_id, 50_000)
    assert second["id"] != first["id"]
    assert await _intent(app, placed.order_id, 50_000) == second
    assert await _intent(app, placed.order_id, None) == second, "a request that names no part keeps the live payment"
    third = await _intent(app, placed.order_id, 0)
    assert (third["gatewayMinor"], await _amounts(app)) == (500_000, (50_000, 0))
    assert await _statuses(app) == ["closed", "closed", "pending"]
    await _pay(app, second["reference"])
    assert (await app.order_status(placed.order_id), await _amounts(app)) == ("paid_escrow", (0, 0))
    await _pay(app, third["reference"])
    assert await _statuses(app) == ["closed", "paid", "overpaid"]
    await check_audit(app)


async def test_a_payment_of_all_by_the_charge_returns_the_hold_of_another(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    whole = await _intent(app, placed.order_id, None)
    await _intent(app, placed.order_id, 50_000)
    await _pay(app, whole["reference"])
    assert (await _statuses(app), await _amounts(app)) == (["paid", "closed"], (50_000, 0))
    await check_audit(app)


async def test_a_lost_response_of_the_gateway_keeps_the_hold_for_the_next_try(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    await app.gateway.faults(initialize_call={"error_after": True, "times": 1})
    assert (await app.request_intent(placed.order_id, balanceMinor=50_000)).status_code == 503
    assert await _amounts(app) == (0, 50_000)
    intent = await _intent(app, placed.order_id, 50_000)
    assert (intent["gatewayMinor"], await _amounts(app)) == (450_000, (0, 50_000))
    lost, used = [one["reference"] for one in (await app.gateway.transactions())[-2:]]
    assert used == intent["reference"]
    await _pay(app, lost)
    assert (await app.order_status(placed.order_id), await _amounts(app)) == ("paid_escrow", (0, 0))
    await check_audit(app)


async def test_a_purchase_is_paid_by_charge_and_balance_in_proportion(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    purchase = await place_purchase(app)
    intent = await _intent(app, None, 50_000, purchaseId=str(purchase.id))
    assert intent["gatewayMinor"] == 950_000
    await _pay(app, intent["reference"])
    rows = await app.fetch("SELECT order_id, held_minor, balance_minor, rewards_minor FROM escrows")
    shares = {row["order_id"]: tuple(row)[1:] for row in rows}
    assert [shares[order.order_id] for order in purchase.orders] == [
        (500_000, 25_000, 25_000),
        (300_000, 15_000, 15_000),
        (200_000, 10_000, 10_000),
    ]
    await check_audit(app)


async def _cancelled_order_of_a_purchase(app: PaymentsApp) -> tuple[Purchase, dict[str, Any]]:
    await credit_reward(app, 50_000)
    purchase = await place_purchase(app)
    intent = await _intent(app, None, 50_000, purchaseId=str(purchase.id))
    await _end(app, purchase.orders[1], OrderCancelled)
    return purchase, intent


async def test_a_cancelled_order_returns_the_hold_of_its_purchase(app: PaymentsApp) -> None:
    purchase, _ = await _cancelled_order_of_a_purchase(app)
    assert await _amounts(app) == (50_000, 0)
    intent = await _intent(app, None, 50_000, purchaseId=str(purchase.id))
    assert (intent["amountMinor"], intent["gatewayMinor"]) == (700_000, 650_000)
    await _pay(app, intent["reference"])
    await check_audit(app)


async def test_a_late_charge_of_a_purchase_pays_its_cancelled_order_too(app: PaymentsApp) -> None:
    purchase, intent = await _cancelled_order_of_a_purchase(app)
    await _pay(app, intent["reference"])
    assert [await app.order_status(order.order_id) for order in purchase.orders] == ["paid_escrow"] * 3
    await check_audit(app)


async def test_a_hold_that_was_left_is_returned_once_its_payment_ended(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    await _intent(app, placed.order_id, 50_000)
    assert await sweep_holds_once(app.dependencies) == 0
    await app.fetch("UPDATE payment_intents SET status = 'closed' RETURNING id")
    assert (await sweep_holds_once(app.dependencies), await sweep_holds_once(app.dependencies)) == (1, 0)
    assert await _amounts(app) == (50_000, 0)
    await check_audit(app)


async def _mixed_order(app: PaymentsApp) -> OrderPlaced:
    """Return a paid order of 500,000: 380,000 by the charge, 70,000 of refunds and 50,000 of rewards."""
    await credit_refund(app, 70_000)
    await credit_reward(app, 50_000)
    placed = await app.place_order()
    await _pay(app, (await _intent(app, placed.order_id, 120_000))["reference"])
    return placed


async def _refunds(app: PaymentsApp, placed: OrderPlaced) -> list[tuple[Any, ...]]:
    rows = await app.fetch(
        "SELECT status, amount_minor, balance_minor FROM refunds WHERE order_id = $1 ORDER BY created_at, id",
        placed.order_id,
    )
    return [tuple(row) for row in rows]


async def test_a_refund_goes_back_to_the_charge_first_and_the_rest_to_the_balance(app: PaymentsApp) -> None:
    placed = await _mixed_order(app)
    for amount_minor in (200_000, 250_000, 30_000, 20_000):
        await app.receive(app.refund_requested(placed, amount_minor))
    assert await _refunds(app, placed) == [
        ("pending", 200_000, 0),
        ("pending", 180_000, 70_000),
        ("settled", 0, 30_000),
        ("settled", 0, 20_000),
    ]
    returned = "SELECT balance_refunded_minor, rewards_refunded_minor FROM escrows WHERE order_id = $1"
    assert [tuple(row) for row in await app.fetch(returned, placed.order_id)] == [(120_000, 50_000)]
    assert await _amounts(app) == (120_000, 0)
    rewards = await app.client.get("/api/rewards/balance", headers=app.headers(app.buyer))
    assert rewards.json()["data"] == {"balanceMinor": 50_000}, "a reward returns as a reward"
    await check_audit(app)
    settled = await app.published("payments.refund_settled.v1")
    assert [(one["amountMinor"], one.get("balanceMinor")) for one in settled][-1] == (20_000, 20_000)
    await app.work("payments.refunds")
    for refund in await app.gateway.refunds():
        if refund["status"] == "pending":
            await app.report_refund(refund)
    published = (await app.published("payments.refund_settled.v1"))[-2:]
    amounts = {(one["amountMinor"], one.get("balanceMinor")) for one in published}
    assert amounts == {(200_000, None), (250_000, 70_000)}
    await check_audit(app)


async def test_an_order_that_the_balance_paid_is_refunded_to_it_at_once(app: PaymentsApp) -> None:
    await credit_refund(app, 500_000)
    placed = await app.place_order()
    await _intent(app, placed.order_id, 500_000)
    calls = len(app.gateway.calls)
    event = app.refund_requested(placed, 500_000)
    await app.receive(event)
    await app.receive(event)
    await app.work("payments.refunds")
    assert (app.gateway.calls[calls:], await _amounts(app)) == ([], (500_000, 0))
    [shown] = (await app.client.get(f"/api/refunds?orderId={placed.order_id}", headers=app.headers(app.buyer))).json()[
        "data"
    ]
    assert (shown["amountMinor"], shown["balanceMinor"], shown["status"]) == (500_000, 500_000, "settled")
    await check_audit(app)


async def test_a_buyers_choice_sends_all_of_a_refund_to_the_balance_at_once(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    calls = len(app.gateway.calls)
    request = app.refund_requested(placed, 200_000)
    await app.receive(structs.replace(request, refund_to="balance"))
    await app.work("payments.refunds")
    assert (app.gateway.calls[calls:], await _amounts(app)) == ([], (200_000, 0))
    [settled] = await app.published("payments.refund_settled.v1")
    assert (settled["refundId"], settled["amountMinor"]) == (str(request.refund_id), 200_000)
    await app.receive(app.refund_requested(placed, 300_000))
    assert await _refunds(app, placed) == [("settled", 0, 200_000), ("pending", 300_000, 0)]
    await check_audit(app)


async def test_a_refund_goes_to_the_charge_while_a_bank_disputes_it(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await _pay(app, intent["reference"])
    data = {"id": 77, "refund_amount": 500_000, "currency": "NGN", "transaction": {"reference": intent["reference"]}}
    await app.process_webhook({"event": "charge.dispute.create", "data": data})
    request = app.refund_requested(placed, 500_000)
    await app.receive(structs.replace(request, refund_to="balance"))
    assert (await _refunds(app, placed), await _amounts(app)) == ([("pending", 500_000, 0)], (0, 0))


async def test_a_refunded_balance_blocks_an_erasure_and_a_reward_does_not(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    for expected in ([], ["refunded_balance"]):
        await app.receive(ErasureRequested(request_id=uuid4(), user_id=app.buyer))
        assert (await app.published("payments.erasure_judged.v1"))[-1].get("openMatters", []) == expected
        await credit_refund(app, 10_000)


async def _settle_later(app: PaymentsApp, body: dict[str, Any]) -> None:
    """Process a webhook again until it is done, as the broker does after a conflict of locks."""
    assert (await app.send(body)).status_code == 200
    await app.work("payments.webhooks")


async def test_a_late_charge_uses_the_part_that_a_later_payment_of_the_order_holds(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    placed = await app.place_order(60_000, 0, 0)
    first = await _intent(app, placed.order_id, 40_000)
    paid = await app.pay(first["reference"])
    await _intent(app, placed.order_id, 50_000)
    assert await _amounts(app) == (0, 50_000)
    await app.process_webhook(paid)
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert await _statuses(app) == ["paid", "closed"]
    assert await _amounts(app) == (10_000, 0)
    await check_audit(app)


async def test_concurrent_ends_of_a_payment_keep_every_kobo(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    for number in range(ROUNDS):
        placed = await app.place_order(60_000, 0, 0)
        intent = await _intent(app, placed.order_id, 40_000)
        paid = await app.pay(intent["reference"])
        responses = await asyncio.gather(
            _settle_later(app, paid),
            _end(app, placed, OrderCancelled if number % 2 else OrderExpired),
            app.request_intent(placed.order_id, balanceMinor=50_000),
            app.request_intent(placed.order_id),
        )
        assert {response.status_code for response in responses[2:]} <= {201, 409}
        assert await app.order_status(placed.order_id) == "paid_escrow"
        assert (await _amounts(app))[1] == 0, "nothing is held for a paid order"
        await app.receive(app.refund_requested(placed, 60_000))
        assert sum(await _amounts(app)) == 50_000
        await check_audit(app)


async def test_the_trial_balance_shows_the_liability_to_buyers(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    await credit_reward(app, 30_000, uuid4())
    placed = await app.place_order()
    await _intent(app, placed.order_id, 20_000)
    lines = {line["kind"]: line for line in await app.get_as("/api/ledger/trial-balance")}
    balances = {
        kind: (lines[kind]["accounts"], lines[kind]["balanceMinor"]) for kind in ("buyer_balance", "balance_held")
    }
    assert balances == {"buyer_balance": (2, -60_000), "balance_held": (1, -20_000)}
    assert (await app.get_as("/api/sales/balances"))["buyerBalancesMinor"] == 80_000


async def test_the_reconciliation_ignores_refunds_to_the_balance(app: PaymentsApp) -> None:
    await credit_refund(app, 70_000)
    placed = await app.place_order()
    await _pay(app, (await _intent(app, placed.order_id, 70_000))["reference"])
    done = await reconcile(app.database, app.dependencies.gateways, app.clock, *WHOLE_TIME)
    assert (done.differences, done.unexplained.cases) == (0, 0)
