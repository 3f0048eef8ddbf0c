"""Disputes, refunds and releases in random order: after every step the promises of the audit hold, and nobody got money twice."""

import os
import random
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from common.primitives.ids import new_id
from contracts.orders import OrderDelivered, RefundRequested
from operations.audit.invariants import INVARIANTS
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import RefundExceedsHeld, RefundOutcomeUnknown

STEPS = 25
PROMISES = [line for line in INVARIANTS if line.service == "payments"]


async def check_promises(story: Any) -> None:
    await story.check_books()
    for line in PROMISES:
        assert await story.service.fetch(line.offending) == [], line.promise
    assert sum((await story.balances()).values()) == 0


async def tell_of_refund(story: Any, draw: random.Random) -> None:
    """The gateway settles one of the refunds that it has, or fails it."""
    waiting = [refund for refund in story.gateway.refunds if "reported" not in refund]
    if not waiting:
        return
    refund = draw.choice(waiting)
    refund["reported"] = draw.choice(["processed", "processed", "failed"])
    data = {"id": refund["id"], "amount": refund["amount"], "currency": "NGN", "merchant_note": refund["merchant_note"]}
    await story.tell({"event": f"refund.{refund['reported']}", "data": data})


async def send(story: Any, draw: random.Random) -> None:
    """The refunds that have not left are sent; a call may be lost before or after the gateway has worked, or be repeated."""
    await story.service.fetch(
        "UPDATE outbox SET published_at = NULL WHERE queue = 'payments.refunds' AND subject IN "
        "(SELECT id::text FROM refunds WHERE status IN ('pending', 'submitting')) RETURNING 1"
    )
    story.clock.advance(timedelta(seconds=draw.choice([0, 121])))
    story.gateway.fail_before = draw.choice([[], [], [503], [None, 503]])
    story.gateway.fail_after = draw.choice([[], [], [500], [None, 500]])
    with suppress(GatewayUnavailable, RefundOutcomeUnknown):
        await story.service.work("payments.refunds")
    story.gateway.fail_before, story.gateway.fail_after = [], []


async def check_gateway(story: Any, charged_minor: int) -> None:
    """Each refund stands at the gateway once, and what it has of ours is what the book says."""
    notes = [refund["merchant_note"] for refund in story.gateway.refunds]
    assert len(notes) == len(set(notes))
    paid_out = sum(refund["amount"] for refund in story.gateway.refunds if refund.get("reported") == "processed")
    [fees] = await story.service.fetch(
        "SELECT coalesce(sum(amount_minor), 0)::bigint AS minor FROM ledger_entries WHERE account = 'gateway_fees'"
    )
    [lost] = await story.service.fetch(
        "SELECT coalesce(sum(amount_minor), 0)::bigint AS minor FROM chargebacks WHERE status = 'lost'"
    )
    cash_minor = (await story.balances()).get("gateway_cash", 0)
    assert cash_minor == charged_minor - paid_out - fees["minor"] - lost["minor"]


SEEDS = [int(seed) for seed in os.environ.get("CHARGEBACK_SEEDS", "3 11").split()]


@pytest.mark.parametrize("seed", SEEDS)
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
            await send(story, draw)
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
        await check_gateway(story, placed.total_minor)
