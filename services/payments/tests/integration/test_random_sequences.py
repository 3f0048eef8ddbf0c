"""Random sequences on the real database: the books are right after every step, a refused step changes nothing."""

import random
from typing import Any
from uuid import uuid4

import pytest

from common.ids import new_id
from contracts.orders import OrderDelivered, RefundRequested
from payments.domain.errors import RefundExceedsHeld

STEPS = 40


@pytest.mark.parametrize("seed", [7, 23])
async def test_the_books_are_right_after_every_step(seed: int, story: Any) -> None:
    draw = random.Random(seed)
    orders = [
        await story.place_order(
            total_minor=total,
            commission_minor=total * draw.randint(0, 10) // 100,
            delivery_fee_minor=draw.randint(0, 50),
        )
        for total in (100, 999, 500_001)
    ]
    references = {placed.order_id: (await story.open_intent(placed.order_id))["reference"] for placed in orders}
    for _ in range(STEPS):
        placed = draw.choice(orders)
        amount = draw.randint(1, placed.total_minor + placed.total_minor // 4)
        parties = {"order_id": placed.order_id, "buyer_id": placed.buyer_id, "vendor_id": placed.vendor_id}
        held = await story.service.fetch("SELECT 1 FROM escrows WHERE order_id = $1", placed.order_id)
        step = draw.choice(["charge", "release", "refund", "deliver"]) if held else "charge"
        before = await story.balances()
        if step == "charge":
            paid = placed.total_minor if draw.random() < 0.5 else amount
            await story.tell(story.charge(references[placed.order_id], paid))
        elif step == "release":
            headers = story.service.headers(uuid4(), roles=("finance_checker",), stepped_up=True)
            answer = await story.service.client.post(
                f"/api/orders/{placed.order_id}/release", headers=headers, json={"amountMinor": amount}
            )
            assert answer.status_code in (200, 409)
            assert (await story.balances() == before) is (answer.status_code == 409)
        elif step == "refund":
            event = RefundRequested(**parties, refund_id=new_id(), amount_minor=amount, reason="random")
            try:
                await story.service.hear(event)
            except RefundExceedsHeld:
                assert await story.balances() == before
        else:
            delivered = OrderDelivered(**parties, delivered_at="2026-01-01T00:00:00.000Z", verified_by=placed.vendor_id)
            await story.service.hear(delivered)
        await story.check_books()
        assert sum((await story.balances()).values()) == 0
