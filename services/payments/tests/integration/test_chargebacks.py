"""Chargebacks: frozen when opened, debited when lost, released when won; no money is returned twice."""

import asyncio
from typing import Any

import pytest

from common.primitives.ids import new_id
from contracts.orders import DisputeResolved, OrderDisputed, OrderPlaced
from payments.domain.errors import SubjectUnknown
from payments.use_cases.webhooks.dead_letter_webhook import dead_letter_webhook

from .balances import check_audit
from .conftest import PaymentsApp
from .disputes import CREATE, LOST, REMIND, RESOLVE, WON, dispute, numbers, paid

DISPUTED = "payments.charge_disputed.v1"


async def _deliver(app: PaymentsApp, placed: OrderPlaced) -> None:
    await app.receive(app.delivered(placed))


async def _chargebacks(app: PaymentsApp) -> list[tuple[str, int, int]]:
    rows = await app.fetch("SELECT status, amount_minor, loss_minor FROM chargebacks ORDER BY opened_at, id")
    return [(row["status"], row["amount_minor"], row["loss_minor"]) for row in rows]


async def _release_by_staff(app: PaymentsApp, placed: OrderPlaced, amount_minor: int) -> Any:
    headers = app.headers(new_id(), roles=("finance_checker",), stepped_up=True)
    path = f"/api/orders/{placed.order_id}/release"
    return await app.client.post(path, headers=headers, json={"amountMinor": amount_minor})


async def test_an_opened_chargeback_is_published_once_and_locks_the_release(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    before = await app.balances()
    number = next(numbers)
    for event in (CREATE, CREATE, REMIND):
        await app.process_webhook(dispute(number, event, reference, 500_000))
    [published] = await app.published(DISPUTED)
    assert (published["orderId"], published["buyerId"], published["vendorId"]) == tuple(
        str(value) for value in app.parties(placed).values()
    )
    assert published["amountMinor"] == 500_000
    assert "outcome" not in published
    assert (published["vendorMinor"], published["remainingVendorMinor"]) == (456_000, 456_000)
    assert await app.balances() == before
    response = await _release_by_staff(app, placed, 1)
    assert (response.status_code, response.json()["code"]) == (423, "ESCROW_LOCKED")
    alerts = await app.published("operations.alert_raised.v1")
    assert {alert["runbook"] for alert in alerts} == {"chargeback"}
    assert len({alert["dedupKey"] for alert in alerts}) == 1
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    assert (await _release_by_staff(app, placed, 1)).status_code == 200
    assert [line.get("outcome") for line in await app.published(DISPUTED)] == [None, "won"]
    await app.check_ledger()


async def test_a_lost_chargeback_debits_escrow_or_each_released_part(app: PaymentsApp) -> None:
    held, held_reference = await paid(app)
    await app.process_webhook(dispute(next(numbers), CREATE, held_reference, 500_000))
    [opened] = await app.published(DISPUTED)
    number = next(numbers)
    for _ in range(2):
        await app.process_webhook(dispute(number, RESOLVE, held_reference, 100_000, resolution=LOST))
    balances = await app.balances()
    assert (balances["gateway_cash"], balances[f"escrow:{held.order_id}"]) == (400_000, -400_000)

    released, reference = await paid(app)
    await _deliver(app, released)
    before = await app.balances()
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 250_000, resolution="auto-accepted"))
    after = await app.balances()
    changed = {name: after.get(name, 0) - before.get(name, 0) for name in after | before}
    assert {name: amount for name, amount in changed.items() if amount} == {
        "gateway_cash": -250_000,
        f"vendor_payable:{released.vendor_id}": 228_000,
        "commission": 12_000,
        "delivery_fee": 10_000,
    }
    lost = (await app.published(DISPUTED))[-1]
    assert (lost["outcome"], lost["fromVendorMinor"], lost["remainingVendorMinor"]) == ("lost", 228_000, 0)
    assert lost["orderId"] != opened["orderId"]
    [row] = await app.fetch("SELECT charged_back_minor FROM escrows WHERE order_id = $1", released.order_id)
    assert row["charged_back_minor"] == 250_000
    types = await app.fetch("SELECT count(*) AS times FROM ledger_transactions WHERE type = 'chargeback'")
    assert types[0]["times"] == 2
    await app.check_ledger()


@pytest.mark.parametrize("release_minor", [None, 500_000, 400_000])
async def test_escrow_that_a_won_chargeback_returns_to_a_finished_order_is_released(
    app: PaymentsApp, release_minor: int | None
) -> None:
    placed, reference = await paid(app)
    number = next(numbers)
    if release_minor is not None:
        await app.receive(OrderDisputed(**app.parties(placed), reason="bank"))
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    refund_minor = 500_000 - (release_minor or 500_000)
    if release_minor is None:
        await _deliver(app, placed)
    else:
        outcome = {"outcome": "split" if refund_minor else "vendor", "refund_minor": refund_minor}
        await app.receive(DisputeResolved(**app.parties(placed), release_minor=release_minor, **outcome))
    if refund_minor:
        await app.receive(app.refund_requested(placed, refund_minor))
    for _ in range(2):
        await app.decide_dispute(dispute(number, RESOLVE, reference, 500_000, resolution=WON))

    balances = await app.balances()
    payable = [amount for account, amount in balances.items() if account.startswith("refund_payable:")]
    assert -sum(payable) == refund_minor
    assert f"escrow:{placed.order_id}" not in balances
    assert -sum(balances[name] for name in (f"vendor_payable:{placed.vendor_id}", "commission", "delivery_fee")) == (
        500_000 - refund_minor
    )
    last = (await app.published("payments.escrow_released.v1"))[-1]
    assert (last["grossMinor"], last["remainingMinor"]) == (500_000 - refund_minor, 0)
    await app.check_ledger()


async def test_a_won_chargeback_of_an_unfinished_order_keeps_its_money_in_escrow(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    number = next(numbers)
    assert (await _release_by_staff(app, placed, 100_000)).status_code == 200
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await app.decide_dispute(dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -400_000
    await app.check_ledger()


async def test_a_decision_before_its_opening_makes_the_opening_stale(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await app.process_webhook(dispute(number, CREATE, reference, 500_000))
    assert [line.get("outcome") for line in await app.published(DISPUTED)] == [None, "lost"]
    assert await _chargebacks(app) == [("lost", 500_000, 0)]
    assert await app.outcomes() == ["done", "done", "ignored"]
    assert placed.order_id is not None


async def test_a_dispute_stays_with_its_charge_when_another_one_pays_the_order(app: PaymentsApp) -> None:
    """Both charges have one reference, and the dispute names no other."""
    placed = await app.place_order()
    reference = (await app.open_intent(placed.order_id))["reference"]
    await app.process_webhook(app.charge(reference, 100))
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 100))
    await app.process_webhook(app.charge(reference, placed.total_minor))
    await app.process_webhook(dispute(number, RESOLVE, reference, 100, resolution=LOST))
    [escrow] = await app.fetch("SELECT held_minor, charged_back_minor FROM escrows")
    assert tuple(escrow) == (placed.total_minor, 0)
    [line] = await app.fetch("SELECT c.amount_minor, b.status FROM chargebacks b JOIN charges c ON c.id = b.charge_id")
    assert tuple(line) == (100, "lost")
    await check_audit(app)


async def test_concurrent_events_of_one_dispute_have_one_effect(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    number = next(numbers)
    bodies = [
        dispute(number, CREATE, reference, 500_000),
        dispute(number, REMIND, reference, 500_000),
        dispute(number, RESOLVE, reference, 500_000, resolution=LOST),
    ]
    await asyncio.gather(*(app.send(body) for body in bodies * 3))
    await asyncio.gather(*(app.work("payments.webhooks") for _ in range(3)))
    assert await _chargebacks(app) == [("lost", 500_000, 0)]
    assert (await app.balances()).get("gateway_cash", 0) == 0
    await app.check_ledger()


async def test_a_dispute_before_its_charge_is_processed_by_a_replay(
    app: PaymentsApp,
) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    number = next(numbers)
    assert (await app.send(dispute(number, CREATE, intent["reference"], 500_000))).status_code == 200
    with pytest.raises(SubjectUnknown):
        await app.work("payments.webhooks", attempt=6, is_last_attempt=True)
    async with app.unit_of_work() as uow:
        await dead_letter_webhook(uow, f"{CREATE}:{number}", "SubjectUnknown", 6)
    await app.process_webhook(app.charge(intent["reference"], 500_000))
    [dead_letter] = await app.fetch("SELECT id FROM dead_letter_webhooks")
    headers = app.headers(new_id(), roles=("ops_oncall",), stepped_up=True)
    response = await app.client.post(f"/api/dead-letter-webhooks/{CREATE}:{number}/replay", headers=headers)
    assert response.json()["data"]["requeued"] is True
    assert response.json()["data"]["id"] == str(dead_letter["id"])
    again = await app.client.post(f"/api/dead-letter-webhooks/{dead_letter['id']}/replay", headers=headers)
    assert again.json()["data"]["requeued"] is False
    await app.work("payments.webhooks")
    assert await _chargebacks(app) == [("opened", 500_000, 0)]


@pytest.mark.parametrize(
    "changes",
    [
        {"refund_amount": 500_001},
        {"refund_amount": 0},
        {"refund_amount": -1},
        {"refund_amount": 2_500.5},
        {"refund_amount": "much"},
        {"refund_amount": None},
        {"refund_amount": 1, "currency": "USD"},
        {"resolution": "a new word"},
    ],
)
async def test_an_odd_dispute_freezes_all_of_its_charge(app: PaymentsApp, changes: dict[str, Any]) -> None:
    placed, reference = await paid(app)
    event = RESOLVE if "resolution" in changes else CREATE
    await app.process_webhook(dispute(next(numbers), event, reference, **changes))
    assert await _chargebacks(app) == [("opened", 500_000, 0)]
    [published] = await app.published(DISPUTED)
    assert (published["amountMinor"], published["vendorMinor"]) == (500_000, 456_000)
    assert (await _release_by_staff(app, placed, 1)).status_code == 423
    assert await app.outcomes() == ["done", "done"]
    await app.check_ledger()


async def test_an_order_without_money_is_released_empty_to_the_vendor(
    app: PaymentsApp,
) -> None:
    placed, reference = await paid(app)
    await app.receive(OrderDisputed(**app.parties(placed), reason="chargeback"))
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 500_000, resolution=LOST))
    resolved = DisputeResolved(**app.parties(placed), outcome="vendor", refund_minor=0, release_minor=500_000)
    await app.receive(resolved)
    [released] = await app.published("payments.escrow_released.v1")
    assert (released["grossMinor"], released["netMinor"], released["remainingMinor"]) == (0, 0, 0)


async def test_a_delivery_is_released_during_a_chargeback(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await app.process_webhook(dispute(next(numbers), CREATE, reference, 500_000))
    await _deliver(app, placed)
    await _deliver(app, placed)
    [released] = await app.published("payments.escrow_released.v1")
    assert released["netMinor"] == 456_000
    other, reference = await paid(app)
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 500_000, resolution=LOST))
    await _deliver(app, other)
    await _deliver(app, other)
    published = await app.published("payments.escrow_released.v1")
    assert [line["netMinor"] for line in published] == [456_000, 0]
    await app.check_ledger()


async def test_a_reversed_dispute_follows_the_gateways_response(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    number = next(numbers)
    lost = dispute(number, RESOLVE, reference, 300_000, resolution=LOST)
    won = dispute(number, RESOLVE, reference, 300_000, resolution=WON)
    for _ in range(3):
        await app.process_webhook(lost)
    assert await app.balances() == {"gateway_cash": 200_000, f"escrow:{placed.order_id}": -200_000}
    for _ in range(3):
        await app.process_webhook(won)
    assert await _chargebacks(app) == [("lost", 300_000, 0)], "the revision itself is not processed"
    for _ in range(3):
        await app.decide_dispute(won)
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert await _chargebacks(app) == [("won", 300_000, 0)]
    recorded = await app.fetch("SELECT id FROM processed_webhook_events WHERE event_type = $1", RESOLVE)
    assert len([row["id"] for row in recorded if row["id"].startswith("answer:")]) == 1
    assert len(recorded) == 2
    # Late repetitions of the first decision change nothing.
    await app.process_webhook(lost)
    assert await _chargebacks(app) == [("won", 300_000, 0)]


async def test_a_crash_before_the_commit_is_retried(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    before = await app.balances()
    body = dispute(next(numbers), RESOLVE, reference, 500_000, resolution=LOST)
    async with app.crashing("NEW.type = 'operations.alert_raised.v1'"):
        with pytest.raises(Exception, match="crash"):
            await app.process_webhook(body)
        assert (await app.balances(), await _chargebacks(app)) == (before, [])
    await app.requeue("payments.webhooks")
    await app.work("payments.webhooks")
    assert await _chargebacks(app) == [("lost", 500_000, 0)]


async def test_the_api_role_sees_chargebacks_only_with_a_permission_and_can_write_none(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    await app.process_webhook(dispute(next(numbers), CREATE, reference, 500_000))
    async with app.connected("api") as api:
        assert await api.fetch("SELECT id FROM chargebacks") == []
        for statement in ("UPDATE chargebacks SET status = 'won'", "SELECT * FROM chargeback_refunds"):
            with pytest.raises(Exception, match="permission denied"):
                await api.execute(statement)


async def test_finance_and_auditors_find_disputes_by_status_and_order(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 400_000))
    for query, total in (
        ("status=opened", 1),
        ("status=lost", 0),
        (f"orderId={placed.order_id}", 1),
        (f"orderId={new_id()}", 0),
    ):
        headers = app.headers(new_id(), roles=("auditor",))
        response = (await app.client.get(f"/api/chargebacks?{query}", headers=headers)).json()
        assert response["meta"]["total"] == total, query
        if total:
            [line] = response["data"]
            assert (line["disputeId"], line["amountMinor"], line["status"]) == (str(number), 400_000, "opened")
    rejected = await app.client.get("/api/chargebacks", headers=app.headers(app.buyer))
    assert rejected.status_code == 403
