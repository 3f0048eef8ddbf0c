"""A change of one order, refund or chargeback changes no row of another, whatever state that one is in."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from msgspec import structs

from contracts.orders import OrderExpired
from testkit.neighbours import Story, assert_isolated

from .balances import balance_of, credit_refund, credit_reward
from .conftest import PaymentsApp
from .disputes import CREATE, LOST, RESOLVE, WON, dispute, numbers, paid
from .steps import OTHER_DESTINATION, RETRY
from .stories import (
    chargeback_status,
    chargeback_story,
    decided,
    newest_refund,
    order_balances,
    quarantine_story,
    refund_of,
)


async def refund_story(app: PaymentsApp) -> AsyncIterator[str]:
    """Fail a refund; its decision is rejected, and a second one sends it again."""
    placed, reference = await paid(app)
    yield "paid"
    event = app.refund_requested(placed, 200_000)
    await app.receive(event)
    await app.work("payments.refunds")
    refund = await newest_refund(app, reference)
    assert (await refund_of(app, event.refund_id))["status"] == "submitted"
    yield "submitted"
    await app.report_refund(refund, "failed", reason="the card is closed")
    assert (await refund_of(app, event.refund_id))["failure"] == "the card is closed"
    yield "failed"
    path = f"/api/refunds/{event.refund_id}"
    await decided(app, f"{path}/prepare", RETRY, "finance_maker", "prepared")
    yield "prepared"
    rejected = await decided(app, f"{path}/reject", {"reason": "ask the bank first"}, "finance_checker", "failed")
    assert rejected["decision"]["status"] == "rejected"
    yield "rejected"
    maker = uuid4()
    await decided(app, f"{path}/prepare", OTHER_DESTINATION, "finance_maker", "prepared", maker)
    shown = await app.get_as(path, "finance_checker")
    assert (shown["decision"]["preparedBy"], shown["decision"]["action"]) == (str(maker), "other_destination")
    yield "prepared again"
    assert (await app.approve(path)).status_code == 200
    await app.work("payments.refunds")
    transfer = (await app.gateway.transfers())[-1]
    assert transfer["amount"] == 200_000
    yield "sent to an account"
    await app.process_webhook(await app.gateway.move_transfer(transfer["reference"], "succeed"))
    assert (await refund_of(app, event.refund_id))["status"] == "settled"
    assert await order_balances(app, placed.order_id) == {"escrow": -300_000}
    yield "settled"


async def overtaken_story(app: PaymentsApp) -> AsyncIterator[str]:
    """Settle a failed refund after all, while its decision waits."""
    placed, reference = await paid(app)
    event = app.refund_requested(placed, 500_000)
    await app.receive(event)
    await app.work("payments.refunds")
    refund = await newest_refund(app, reference)
    await app.report_refund(refund, "failed")
    yield "failed"
    await decided(app, f"/api/refunds/{event.refund_id}/prepare", RETRY, "finance_maker", "prepared")
    yield "prepared"
    await app.report_refund({**refund, "status": "failed"}, "processed")
    shown = await refund_of(app, event.refund_id)
    assert (shown["status"], shown["decision"]["status"]) == ("settled", "overtaken")
    yield "settled"


async def balance_story(app: PaymentsApp) -> AsyncIterator[str]:
    """Hold a balance, return it, hold it again by a late charge, and refund the order by its sources."""
    await credit_refund(app, 70_000)
    await credit_reward(app, 50_000)
    yield "credited"
    placed = await app.place_order()
    response = await app.request_intent(placed.order_id, balanceMinor=120_000)
    reference = response.json()["data"]["reference"]
    assert await balance_of(app) == {"availableMinor": 0, "heldMinor": 120_000, "currency": "NGN"}
    yield "held"
    await app.receive(OrderExpired(**app.parties(placed), reason="payment window"))
    assert (await balance_of(app))["availableMinor"] == 120_000
    yield "returned"
    await app.process_webhook(await app.pay(reference))
    assert await order_balances(app, placed.order_id) == {"escrow": -500_000}
    yield "spent"
    await app.receive(app.refund_requested(placed, 420_000))
    assert (await balance_of(app))["availableMinor"] == 40_000
    yield "refunded in part"
    request = app.refund_requested(placed, 80_000)
    await app.receive(structs.replace(request, refund_to="balance"))
    assert (await balance_of(app))["availableMinor"] == 120_000
    yield "refunded"


async def lost_after_release_story(app: PaymentsApp) -> AsyncIterator[str]:
    """Staff release a part, the delivery the rest, and the bank returns all of it."""
    placed, reference = await paid(app)
    number = next(numbers)
    path = f"/api/orders/{placed.order_id}/release"
    released = await app.post_as(path, {"amountMinor": 100_000}, "finance_checker")
    assert released.json()["data"] == {"releasedMinor": 100_000, "remainingLockedMinor": 400_000}
    yield "released in part"
    await app.receive(app.delivered(placed))
    assert await order_balances(app, placed.order_id) == {}
    yield "released"
    await app.process_webhook(dispute(number, CREATE, reference, 500_000))
    yield "disputed"
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    assert await chargeback_status(app, placed.order_id) == "lost"
    [lost] = [line for line in await charge_disputed(app, placed.order_id) if line.get("outcome") == "lost"]
    assert lost["fromVendorMinor"] == 456_000
    yield "lost"
    await app.decide_dispute(dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    [won] = [line for line in await charge_disputed(app, placed.order_id) if line.get("outcome") == "won"]
    assert won["toVendorMinor"] == 456_000
    yield "won"


async def charge_disputed(app: PaymentsApp, order_id: UUID) -> list[dict[str, Any]]:
    published = await app.published("payments.charge_disputed.v1")
    return [event for event in published if event["orderId"] == str(order_id)]


@pytest.mark.parametrize(
    "story",
    [
        refund_story,
        balance_story,
        overtaken_story,
        quarantine_story,
        chargeback_story,
        lost_after_release_story,
    ],
)
async def test_no_row_of_another_order_changes(app: PaymentsApp, story: Story[PaymentsApp]) -> None:
    await assert_isolated(story, lambda: replace(app, buyer=uuid4(), vendor=uuid4()), app.fetch)
