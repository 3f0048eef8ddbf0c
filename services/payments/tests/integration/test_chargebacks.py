"""Chargebacks: frozen when opened, taken when lost, free when won; and the same money never goes back twice."""

import asyncio
import itertools
from datetime import timedelta
from typing import Any

import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.orders import DisputeResolved, OrderDelivered, OrderDisputed, RefundRequested
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import ChargebackContradiction, RefundExceedsHeld, SubjectUnknown
from payments.use_cases.webhooks.dead_letter_webhook import dead_letter_webhook

CREATE, REMIND, RESOLVE = (f"charge.dispute.{act}" for act in ("create", "remind", "resolve"))
LOST, WON = "merchant-accepted", "declined"
DISPUTED = "payments.charge_disputed.v1"
_numbers = itertools.count(70_000)


async def _paid(story: Any, **changes: Any) -> tuple[Any, str]:
    """A paid order, and the reference of its charge."""
    placed = await story.paid_order(**changes)
    [row] = await story.service.fetch("SELECT reference FROM charges WHERE order_id = $1", placed.order_id)
    return placed, row["reference"]


def _dispute(
    number: int, event: str, reference: str, amount_minor: int | None = None, **changes: Any
) -> dict[str, Any]:
    data = {
        "id": number,
        "refund_amount": amount_minor,
        "currency": "NGN",
        "status": "resolved" if "resolution" in changes else "awaiting-merchant-feedback",
        "resolution": None,
        "category": "chargeback",
        "transaction": {"reference": reference, "currency": "NGN", "status": "success"},
        **changes,
    }
    return {"event": event, "data": data}


async def _deliver(story: Any, placed: Any) -> None:
    await story.service.hear(
        OrderDelivered(**_parties(placed), delivered_at="2026-01-01T00:00:00.000Z", verified_by=placed.vendor_id)
    )


def _parties(placed: Any) -> dict[str, Any]:
    return {"order_id": placed.order_id, "buyer_id": placed.buyer_id, "vendor_id": placed.vendor_id}


async def _ask_refund(story: Any, placed: Any, amount_minor: int) -> Any:
    event = RefundRequested(**_parties(placed), refund_id=new_id(), amount_minor=amount_minor, reason="dispute")
    await story.service.hear(event)
    return event


async def _chargebacks(story: Any) -> list[tuple[str, int, int]]:
    rows = await story.service.fetch("SELECT status, amount_minor, loss_minor FROM chargebacks ORDER BY opened_at, id")
    return [(row["status"], row["amount_minor"], row["loss_minor"]) for row in rows]


async def _refund_status(story: Any, refund_id: Any) -> str:
    [row] = await story.service.fetch("SELECT status FROM refunds WHERE id = $1", refund_id)
    return str(row["status"])


async def _work_again(story: Any) -> None:
    await story.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue = 'payments.refunds' RETURNING 1")
    await story.service.work("payments.refunds")


async def _release_by_staff(story: Any, placed: Any, amount_minor: int) -> Any:
    headers = story.service.headers(new_id(), roles=("finance_checker",), stepped_up=True)
    path = f"/api/orders/{placed.order_id}/release"
    return await story.service.client.post(path, headers=headers, json={"amountMinor": amount_minor})


async def test_an_opened_chargeback_is_said_once_takes_nothing_and_locks_the_release(story: Any) -> None:
    placed, reference = await _paid(story)
    before = await story.balances()
    number = next(_numbers)
    for event in (CREATE, CREATE, REMIND):
        await story.tell(_dispute(number, event, reference, 500_000))
    [said] = await story.service.published(DISPUTED)
    assert (said["orderId"], said["buyerId"], said["vendorId"]) == tuple(
        str(value) for value in _parties(placed).values()
    )
    assert said["amountMinor"] == 500_000
    assert "outcome" not in said
    assert (said["vendorMinor"], said["remainingVendorMinor"]) == (456_000, 456_000)
    assert await story.balances() == before
    answer = await _release_by_staff(story, placed, 1)
    assert (answer.status_code, answer.json()["code"]) == (423, "ESCROW_LOCKED")
    alerts = await story.service.published("operations.alert_raised.v1")
    assert {alert["runbook"] for alert in alerts} == {"chargeback"}
    assert len({alert["dedupKey"] for alert in alerts}) == 1
    await story.tell(_dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    assert (await _release_by_staff(story, placed, 1)).status_code == 200
    assert [line.get("outcome") for line in await story.service.published(DISPUTED)] == [None, "won"]
    await story.check_books()


async def test_a_lost_one_takes_escrow_and_after_the_release_everybodys_part(story: Any) -> None:
    held, held_reference = await _paid(story)
    await story.tell(_dispute(next(_numbers), CREATE, held_reference, 500_000))
    [opened] = await story.service.published(DISPUTED)
    number = next(_numbers)
    for _ in range(2):
        await story.tell(_dispute(number, RESOLVE, held_reference, 100_000, resolution=LOST))
    balances = await story.balances()
    assert (balances["gateway_cash"], balances[f"escrow:{held.order_id}"]) == (400_000, -400_000)

    released, reference = await _paid(story)
    await _deliver(story, released)
    before = await story.balances()
    await story.tell(_dispute(next(_numbers), RESOLVE, reference, 250_000, resolution="auto-accepted"))
    after = await story.balances()
    moved = {name: after.get(name, 0) - before.get(name, 0) for name in after | before}
    assert {name: amount for name, amount in moved.items() if amount} == {
        "gateway_cash": -250_000,
        f"vendor_payable:{released.vendor_id}": 228_000,
        "commission": 12_000,
        "delivery_fee": 10_000,
    }
    lost = (await story.service.published(DISPUTED))[-1]
    assert (lost["outcome"], lost["fromVendorMinor"], lost["remainingVendorMinor"]) == ("lost", 228_000, 0)
    assert lost["orderId"] != opened["orderId"]
    [row] = await story.service.fetch("SELECT charged_back_minor FROM escrows WHERE order_id = $1", released.order_id)
    assert row["charged_back_minor"] == 250_000
    types = await story.service.fetch("SELECT count(*) AS times FROM ledger_transactions WHERE type = 'chargeback'")
    assert types[0]["times"] == 2
    await story.check_books()


@pytest.mark.parametrize("release_minor", [None, 500_000, 400_000])
async def test_what_a_victory_brings_back_to_an_order_at_its_end_goes_on_to_its_vendor(
    story: Any, release_minor: int | None
) -> None:
    placed, reference = await _paid(story)
    number = next(_numbers)
    if release_minor is not None:
        await story.service.hear(OrderDisputed(**_parties(placed), reason="bank"))
    await story.tell(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    refund_minor = 500_000 - (release_minor or 500_000)
    if release_minor is None:
        await _deliver(story, placed)
    else:
        outcome = {"outcome": "split" if refund_minor else "vendor", "refund_minor": refund_minor}
        await story.service.hear(DisputeResolved(**_parties(placed), release_minor=release_minor, **outcome))
    if refund_minor:
        await _ask_refund(story, placed, refund_minor)
    for _ in range(2):
        await story.decide_dispute(_dispute(number, RESOLVE, reference, 500_000, resolution=WON))

    balances = await story.balances()
    owed = [amount for account, amount in balances.items() if account.startswith("refund_payable:")]
    assert -sum(owed) == refund_minor
    assert f"escrow:{placed.order_id}" not in balances
    assert -sum(balances[name] for name in (f"vendor_payable:{placed.vendor_id}", "commission", "delivery_fee")) == (
        500_000 - refund_minor
    )
    last = (await story.service.published("payments.escrow_released.v1"))[-1]
    assert (last["grossMinor"], last["remainingMinor"]) == (500_000 - refund_minor, 0)
    await story.check_books()


async def test_a_victory_leaves_the_money_of_an_order_that_is_still_under_way_in_escrow(story: Any) -> None:
    placed, reference = await _paid(story)
    number = next(_numbers)
    assert (await _release_by_staff(story, placed, 100_000)).status_code == 200
    await story.tell(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await story.decide_dispute(_dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    assert (await story.balances())[f"escrow:{placed.order_id}"] == -400_000
    await story.check_books()


async def test_a_decision_before_its_opening_opens_and_decides_and_the_late_opening_is_stale(story: Any) -> None:
    placed, reference = await _paid(story)
    number = next(_numbers)
    await story.tell(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await story.tell(_dispute(number, CREATE, reference, 500_000))
    assert [line.get("outcome") for line in await story.service.published(DISPUTED)] == [None, "lost"]
    assert await _chargebacks(story) == [("lost", 500_000, 0)]
    assert await story.outcomes() == ["done", "done", "ignored"]
    assert placed.order_id is not None


async def test_all_news_of_one_dispute_at_once_has_one_effect(story: Any) -> None:
    _, reference = await _paid(story)
    number = next(_numbers)
    bodies = [
        _dispute(number, CREATE, reference, 500_000),
        _dispute(number, REMIND, reference, 500_000),
        _dispute(number, RESOLVE, reference, 500_000, resolution=LOST),
    ]
    await asyncio.gather(*(story.send(body) for body in bodies * 3))
    await asyncio.gather(*(story.service.work("payments.webhooks") for _ in range(3)))
    assert await _chargebacks(story) == [("lost", 500_000, 0)]
    assert (await story.balances()).get("gateway_cash", 0) == 0
    await story.check_books()


async def test_a_dispute_of_an_unknown_charge_climbs_the_ladder_is_kept_and_taken_when_it_is_replayed(
    story: Any,
) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    number = next(_numbers)
    assert (await story.send(_dispute(number, CREATE, intent["reference"], 500_000))).status_code == 200
    with pytest.raises(SubjectUnknown):
        await story.service.work("payments.webhooks", attempt=6, is_last_attempt=True)
    async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await dead_letter_webhook(uow, f"{CREATE}:{number}", "SubjectUnknown", 6)
    await story.tell(story.charge(intent["reference"], 500_000))
    [dead_letter] = await story.service.fetch("SELECT id FROM dead_letter_webhooks")
    headers = story.service.headers(new_id(), roles=("ops_oncall",), stepped_up=True)
    answer = await story.service.client.post(f"/api/dead-letter-webhooks/{dead_letter['id']}/replay", headers=headers)
    assert answer.json()["data"]["requeued"] is True
    await story.service.work("payments.webhooks")
    assert await _chargebacks(story) == [("opened", 500_000, 0)]


async def test_what_does_not_fit_the_charge_is_left_for_people(story: Any) -> None:
    _, reference = await _paid(story)
    for changes in ({"amount_minor": 500_001}, {"amount_minor": 0}, {"amount_minor": 1, "currency": "GHS"}):
        with pytest.raises(ChargebackContradiction):
            await story.tell(_dispute(next(_numbers), CREATE, reference, **changes))
        await story.service.fetch("UPDATE processed_webhook_events SET outcome = 'dead' RETURNING 1")
    assert await _chargebacks(story) == []


async def test_a_refund_that_has_not_left_waits_and_is_not_sent_when_the_bank_has_returned_it(story: Any) -> None:
    placed, reference = await _paid(story)
    number = next(_numbers)
    await story.tell(_dispute(number, CREATE, reference, 500_000))
    asked = await _ask_refund(story, placed, 500_000)
    await story.service.work("payments.refunds")
    assert (story.gateway.refunds, await _refund_status(story, asked.refund_id)) == ([], "pending")
    await story.tell(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await story.service.work("payments.refunds")
    assert (story.gateway.refunds, await _refund_status(story, asked.refund_id)) == ([], "settled")
    [settled] = await story.service.published("payments.refund_settled.v1")
    assert (settled["refundId"], settled["kind"]) == (str(asked.refund_id), "order")
    assert await story.balances() == {}
    await story.check_books()


async def test_a_held_refund_is_sent_when_the_dispute_is_won_and_reduced_by_a_partial_loss(story: Any) -> None:
    placed, reference = await _paid(story)
    first, second = next(_numbers), next(_numbers)
    await story.tell(_dispute(first, CREATE, reference, 200_000))
    await story.tell(_dispute(second, CREATE, reference, 100_000))
    await _ask_refund(story, placed, 500_000)
    await story.service.work("payments.refunds")
    await story.tell(_dispute(first, RESOLVE, reference, 200_000, resolution=LOST))
    await story.service.work("payments.refunds")
    assert story.gateway.refunds == []
    await story.tell(_dispute(second, RESOLVE, reference, 100_000, resolution=WON))
    await story.service.work("payments.refunds")
    assert [refund["amount"] for refund in story.gateway.refunds] == [300_000]
    assert await story.balances() == {
        "gateway_cash": 300_000,
        **{name: -300_000 for name in await story.balances() if name.startswith("refund_payable:")},
    }


async def test_a_refund_under_way_makes_the_loss_which_its_failure_makes_good(story: Any) -> None:
    placed, reference = await _paid(story)
    asked = await _ask_refund(story, placed, 500_000)
    await story.service.work("payments.refunds")
    assert await _refund_status(story, asked.refund_id) == "submitted"
    await story.tell(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    assert (await story.balances())["chargeback_loss"] == 500_000
    alerts = await story.service.published("operations.alert_raised.v1")
    assert [alert["severity"] for alert in alerts if alert["title"] == "Chargeback lost"] == ["SEV-1"]
    sent = story.gateway.refunds[0]
    data = {"id": sent["id"], "amount": sent["amount"], "currency": "NGN", "reason": "closed account"}
    await story.tell({"event": "refund.failed", "data": data})
    # Two people send it again; nothing leaves, because the bank has returned it meanwhile.
    await story.service.fetch("UPDATE refunds SET status = 'pending' RETURNING 1")
    await _work_again(story)
    assert len(story.gateway.refunds) == 1
    assert await _refund_status(story, asked.refund_id) == "settled"
    assert await story.balances() == {}
    await story.check_books()


@pytest.mark.parametrize("taken_minor", [500_000, 200_000])
async def test_a_refund_whose_call_never_arrived_is_not_repeated_for_what_the_bank_took_meanwhile(
    story: Any, taken_minor: int
) -> None:
    placed, reference = await _paid(story)
    asked = await _ask_refund(story, placed, 500_000)
    story.gateway.fail_before = [503]
    with pytest.raises(GatewayUnavailable):
        await story.service.work("payments.refunds")
    number = next(_numbers)
    await story.tell(_dispute(number, CREATE, reference, taken_minor))
    story.clock.advance(timedelta(seconds=121))
    await _work_again(story)
    # Held, like one that was never sent.
    assert (story.gateway.refunds, await _refund_status(story, asked.refund_id)) == ([], "pending")
    await story.tell(_dispute(number, RESOLVE, reference, taken_minor, resolution=LOST))
    await story.service.work("payments.refunds")
    assert [refund["amount"] for refund in story.gateway.refunds] == [300_000][: taken_minor < 500_000]
    assert (await story.balances()).get("gateway_cash", 0) == 500_000 - taken_minor
    assert "chargeback_loss" not in await story.balances()
    await story.check_books()


async def test_a_loss_before_the_call_is_known_not_to_have_arrived_is_made_good(story: Any) -> None:
    placed, reference = await _paid(story)
    asked = await _ask_refund(story, placed, 500_000)
    story.gateway.fail_before = [503]
    with pytest.raises(GatewayUnavailable):
        await story.service.work("payments.refunds")
    # The call may be under way for all we know: what the order cannot cover is a loss.
    await story.tell(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    assert (await story.balances())["chargeback_loss"] == 500_000
    story.clock.advance(timedelta(seconds=121))
    await _work_again(story)
    assert (story.gateway.refunds, await _refund_status(story, asked.refund_id)) == ([], "settled")
    assert await story.balances() == {}
    await story.check_books()


async def test_a_refund_decided_after_the_loss_counts_what_the_bank_gave(story: Any) -> None:
    placed, reference = await _paid(story)
    await story.service.hear(OrderDisputed(**_parties(placed), reason="chargeback"))
    await story.tell(_dispute(next(_numbers), RESOLVE, reference, 400_000, resolution=LOST))
    asked = RefundRequested(**_parties(placed), refund_id=new_id(), amount_minor=500_000, reason="dispute")
    heard = await story.service.hear(asked)
    await story.service.hear(asked, event_id=heard.event_id)
    await story.service.hear(asked)
    await story.service.work("payments.refunds")
    assert [refund["amount"] for refund in story.gateway.refunds] == [100_000]
    [row] = await story.service.fetch("SELECT charged_back_minor, refunded_minor FROM escrows")
    assert (row["charged_back_minor"], row["refunded_minor"]) == (0, 500_000)
    with pytest.raises(RefundExceedsHeld):
        await _ask_refund(story, placed, 1)
    await story.check_books()


async def test_an_order_whose_money_the_bank_took_is_not_left_waiting_when_staff_give_it_to_the_vendor(
    story: Any,
) -> None:
    placed, reference = await _paid(story)
    await story.service.hear(OrderDisputed(**_parties(placed), reason="chargeback"))
    await story.tell(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    resolved = DisputeResolved(**_parties(placed), outcome="vendor", refund_minor=0, release_minor=500_000)
    await story.service.hear(resolved)
    [released] = await story.service.published("payments.escrow_released.v1")
    assert (released["grossMinor"], released["netMinor"], released["remainingMinor"]) == (0, 0, 0)


async def test_a_delivery_that_came_before_the_freeze_is_answered_whatever_the_bank_does(story: Any) -> None:
    placed, reference = await _paid(story)
    await story.tell(_dispute(next(_numbers), CREATE, reference, 500_000))
    await _deliver(story, placed)
    await _deliver(story, placed)
    [released] = await story.service.published("payments.escrow_released.v1")
    assert released["netMinor"] == 456_000
    other, reference = await _paid(story)
    await story.tell(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    await _deliver(story, other)
    await _deliver(story, other)
    said = await story.service.published("payments.escrow_released.v1")
    assert [line["netMinor"] for line in said] == [456_000, 0]
    await story.check_books()


async def test_a_lost_one_that_is_won_after_all_is_reversed_and_a_refund_it_stood_in_for_is_owed_again(
    story: Any,
) -> None:
    placed, reference = await _paid(story)
    asked = await _ask_refund(story, placed, 200_000)
    # No id of its own: the dispute is known by its transaction, and each body is a webhook of its own.
    lost = _dispute(0, RESOLVE, reference, 300_000, resolution=LOST)
    won = _dispute(0, RESOLVE, reference, 300_000, resolution=WON)
    for body in (lost, won):
        del body["data"]["id"]
    await story.tell(lost)
    assert await story.balances() == {"gateway_cash": 200_000, f"escrow:{placed.order_id}": -200_000}
    assert await _refund_status(story, asked.refund_id) == "settled"
    await story.tell(won)
    await story.tell(won)
    balances = await story.balances()
    assert (balances["gateway_cash"], balances[f"escrow:{placed.order_id}"]) == (500_000, -300_000)
    await story.service.work("payments.refunds")
    assert [refund["amount"] for refund in story.gateway.refunds] == [200_000]
    await story.check_books()
    with pytest.raises(ChargebackContradiction):
        await story.tell({"event": RESOLVE, "data": {**lost["data"], "note": "again"}})


async def test_a_dispute_that_was_lost_and_is_won_after_all_follows_the_gateways_answer(story: Any) -> None:
    placed, reference = await _paid(story)
    number = next(_numbers)
    lost = _dispute(number, RESOLVE, reference, 300_000, resolution=LOST)
    won = _dispute(number, RESOLVE, reference, 300_000, resolution=WON)
    for _ in range(3):
        await story.tell(lost)
    assert await story.balances() == {"gateway_cash": 200_000, f"escrow:{placed.order_id}": -200_000}
    for _ in range(3):
        await story.tell(won)
    assert await _chargebacks(story) == [("lost", 300_000, 0)], "the revision itself is not processed"
    for _ in range(3):
        await story.decide_dispute(won)
    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert await _chargebacks(story) == [("won", 300_000, 0)]
    recorded = await story.service.fetch("SELECT id FROM processed_webhook_events WHERE event_type = $1", RESOLVE)
    assert len([row["id"] for row in recorded if row["id"].startswith("answer:")]) == 1
    assert len(recorded) == 2
    # Late repetitions of what was said first change nothing.
    await story.tell(lost)
    assert await _chargebacks(story) == [("won", 300_000, 0)]


async def test_a_crash_before_the_commit_leaves_nothing_and_the_next_try_takes_it(story: Any, owner_of: Any) -> None:
    _, reference = await _paid(story)
    before = await story.balances()
    body = _dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST)
    async with owner_of(story) as owner:
        await owner.execute(
            "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$"
        )
        await owner.execute(
            "CREATE TRIGGER crash BEFORE INSERT ON outbox FOR EACH ROW WHEN (NEW.type = 'operations.alert_raised.v1') "
            "EXECUTE FUNCTION crash()"
        )
        with pytest.raises(Exception, match="crash"):
            await story.tell(body)
        assert (await story.balances(), await _chargebacks(story)) == (before, [])
        await owner.execute("DROP TRIGGER crash ON outbox")
    await story.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue = 'payments.webhooks' RETURNING 1")
    await story.service.work("payments.webhooks")
    assert await _chargebacks(story) == [("lost", 500_000, 0)]


async def test_a_dispute_of_money_that_pays_no_order_freezes_none(story: Any) -> None:
    _, reference = await _paid(story)
    await story.tell(story.charge(reference, 500_000))
    [refund] = await story.service.fetch("SELECT id FROM refunds")
    [second] = await story.service.fetch("SELECT gateway_id FROM charges WHERE verdict = 'second_charge'")
    body = _dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST)
    body["data"]["transaction"]["id"] = int(second["gateway_id"])
    await story.tell(body)
    assert await story.service.published(DISPUTED) == []
    assert await _refund_status(story, refund["id"]) == "settled"
    await story.service.work("payments.refunds")
    assert story.gateway.refunds == []
    await story.check_books()


async def test_the_api_role_sees_chargebacks_only_with_a_permission_and_can_write_none(
    story: Any, owner_of: Any
) -> None:
    _, reference = await _paid(story)
    await story.tell(_dispute(next(_numbers), CREATE, reference, 500_000))
    async with owner_of(story, "api") as api:
        assert await api.fetch("SELECT id FROM chargebacks") == []
        for statement in ("UPDATE chargebacks SET status = 'won'", "SELECT * FROM chargeback_refunds"):
            with pytest.raises(Exception, match="permission denied"):
                await api.execute(statement)


async def test_finance_and_auditors_find_disputes_by_status_and_order(story: Any) -> None:
    placed, reference = await _paid(story)
    number = next(_numbers)
    await story.tell(_dispute(number, CREATE, reference, 400_000))
    for query, total in (
        ("status=opened", 1),
        ("status=lost", 0),
        (f"orderId={placed.order_id}", 1),
        (f"orderId={new_id()}", 0),
    ):
        headers = story.service.headers(new_id(), roles=("auditor",))
        answer = (await story.service.client.get(f"/api/chargebacks?{query}", headers=headers)).json()
        assert answer["meta"]["total"] == total, query
        if total:
            [line] = answer["data"]
            assert (line["disputeId"], line["amountMinor"], line["status"]) == (str(number), 400_000, "opened")
    refused = await story.service.client.get("/api/chargebacks", headers=story.service.headers(story.buyer))
    assert refused.status_code == 403


async def test_a_fee_is_posted_once_for_each_charge_when_it_is_told(story: Any) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    body = story.charge(intent["reference"], 500_000, fees=7_500)
    await story.tell(body)
    await story.tell(body)
    await story.tell({"event": "charge.success", "data": {**body["data"], "id": None}})
    balances = await story.balances()
    assert (balances["gateway_fees"], balances["gateway_cash"]) == (7_500, 492_500)
    for odd in (None, "7500", 7.5, True, -1, 0, 500_001, {}):
        other = await story.place_order()
        intent = await story.open_intent(other.order_id)
        await story.tell(story.charge(intent["reference"], 500_000, fees=odd))
        assert await story.order_status(other.order_id) == "paid_escrow"
    assert (await story.balances())["gateway_fees"] == 7_500
    await story.check_books()
