"""Disputes, refunds and releases in random order: after every step the promises of the audit hold, and nobody got money twice."""

import random
from typing import Any

import pytest

from campus_tools.audit.invariants import INVARIANTS
from common.ids import new_id
from contracts.orders import OrderDelivered, RefundRequested
from payments.domain.errors import RefundExceedsHeld

STEPS = 25
PROMISES = [line for line in INVARIANTS if line.service == "payments"]


async def check_promises(story: Any) -> None:
    await story.check_books()
    for line in PROMISES:
        assert await story.service.fetch(line.offending) == [], line.promise
    assert sum((await story.balances()).values()) == 0


async def tell_of_refund(story: Any, draw: random.Random) -> None:
    """The gateway settles one of the refunds that it has, or fails it."""
    waiting = [refund for refund in story.gateway.refunds if "told" not in refund]
    if not waiting:
        return
    refund = draw.choice(waiting)
    refund["told"] = draw.choice(["processed", "processed", "failed"])
    told = {"id": refund["id"], "amount": refund["amount"], "currency": "NGN", "merchant_note": refund["merchant_note"]}
    await story.tell({"event": f"refund.{refund['told']}", "data": told})


@pytest.mark.parametrize("seed", [3, 11])
async def test_whatever_the_order_the_books_are_right_and_only_a_refund_under_way_can_make_a_loss(
    seed: int, story: Any
) -> None:
    draw = random.Random(seed)
    placed = await story.place_order(total_minor=100_001, commission_minor=5_000, delivery_fee_minor=999)
    intent = await story.open_intent(placed.order_id)
    await story.tell(story.charge(intent["reference"], placed.total_minor, fees=draw.randint(0, 2_000)))
    parties = {"order_id": placed.order_id, "buyer_id": placed.buyer_id, "vendor_id": placed.vendor_id}
    number, opened = 60_000, []
    for _ in range(STEPS):
        amount = draw.randint(1, placed.total_minor // 3)
        step = draw.choice(["open", "lose", "win", "refund", "refund", "send", "news", "release", "deliver"])
        dispute = {"refund_amount": amount, "transaction": {"reference": intent["reference"]}}
        if step == "open":
            number += 1
            opened.append(number)
            await story.tell({"event": "charge.dispute.create", "data": {**dispute, "id": number}})
        elif step in ("lose", "win"):
            resolution = "auto-accepted" if step == "lose" else "declined"
            if opened and draw.random() < 0.7:
                identity = opened.pop(draw.randrange(len(opened)))
            else:
                number += 1
                identity = number
            await story.tell(
                {"event": "charge.dispute.resolve", "data": {**dispute, "id": identity, "resolution": resolution}}
            )
        elif step == "refund":
            event = RefundRequested(**parties, refund_id=new_id(), amount_minor=amount, reason="random")
            before = await story.balances()
            try:
                await story.service.hear(event)
            except RefundExceedsHeld:
                assert await story.balances() == before
        elif step == "send":
            await story.service.fetch(
                "UPDATE outbox SET published_at = NULL WHERE queue = 'payments.refunds' AND subject IN "
                "(SELECT id::text FROM refunds WHERE status = 'pending') RETURNING 1"
            )
            await story.service.work("payments.refunds")
        elif step == "news":
            await tell_of_refund(story, draw)
        elif step == "release":
            headers = story.service.headers(new_id(), roles=("finance_checker",), stepped_up=True)
            path = f"/api/orders/{placed.order_id}/release"
            answer = await story.service.client.post(path, headers=headers, json={"amountMinor": amount})
            assert answer.status_code in (200, 409, 423)
        else:
            delivered = OrderDelivered(**parties, delivered_at="2026-01-01T00:00:00.000Z", verified_by=placed.vendor_id)
            await story.service.hear(delivered)
        await check_promises(story)
