"""Disputes, refunds and releases in random order: the audit's invariants hold after every step, and no money is paid
twice.
"""

import os
import random
from contextlib import suppress
from datetime import timedelta

import pytest

from common.primitives.ids import new_id
from contracts.orders import OrderDelivered, RefundRequested
from operations.audit.invariants import INVARIANTS
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import RefundExceedsHeld, RefundOutcomeUnknown

from .conftest import PaymentsApp

STEPS = 25
RULES = [line for line in INVARIANTS if line.service == "payments"]


async def check_invariants(app: PaymentsApp) -> None:
    await app.check_ledger()
    for line in RULES:
        assert await app.fetch(line.offending) == [], line.rule
    assert sum((await app.balances()).values()) == 0


async def report_refund(app: PaymentsApp, draw: random.Random) -> None:
    """Settle or fail a refund, as the gateway."""
    waiting = [refund for refund in await app.gateway.refunds() if refund["status"] == "pending"]
    if waiting:
        refund, outcome = draw.choice(waiting), draw.choice(["processed", "processed", "failed"])
        await app.report_refund(refund, outcome, merchant_note=refund["merchant_note"])


async def send(app: PaymentsApp, draw: random.Random) -> None:
    """Send the pending refunds; a call may be lost before or after its effect, or be repeated."""
    await app.fetch(
        "UPDATE outbox SET published_at = NULL WHERE queue = 'payments.refunds' AND subject IN "
        "(SELECT id::text FROM refunds WHERE status IN ('pending', 'submitting')) RETURNING 1"
    )
    app.clock.advance(timedelta(seconds=draw.choice([0, 121])))
    lost = {"times": 1, draw.choice(["error_before", "error_after"]): True}
    await app.gateway.faults(**draw.choice([{}, {}, {"list_call": lost}, {"refund_call": lost}]))
    with suppress(GatewayUnavailable, RefundOutcomeUnknown):
        await app.work("payments.refunds")
    await app.gateway.faults(list_call=None, refund_call=None)


async def check_gateway(app: PaymentsApp, charged_minor: int) -> None:
    """Check that the gateway has each refund once, and that its balance equals the ledger's."""
    refunds = await app.gateway.refunds()
    notes = [refund["merchant_note"] for refund in refunds]
    assert len(notes) == len(set(notes))
    paid_out = sum(refund["amount"] for refund in refunds if refund["status"] == "processed")
    [fees] = await app.fetch(
        "SELECT coalesce(sum(amount_minor), 0)::bigint AS minor FROM ledger_entries WHERE account = 'gateway_fees'"
    )
    [lost] = await app.fetch(
        "SELECT coalesce(sum(amount_minor), 0)::bigint AS minor FROM chargebacks WHERE status = 'lost'"
    )
    cash_minor = (await app.balances()).get("gateway_cash", 0)
    assert cash_minor == charged_minor - paid_out - fees["minor"] - lost["minor"]


SEEDS = [int(seed) for seed in os.environ.get("CHARGEBACK_SEEDS", "3 11").split()]


@pytest.mark.parametrize("seed", SEEDS)
async def test_only_a_submitted_refund_causes_a_loss(seed: int, app: PaymentsApp) -> None:
    draw = random.Random(seed)
    placed = await app.place_order(total_minor=100_001, commission_minor=5_000, delivery_fee_minor=999)
    intent = await app.open_intent(placed.order_id)
    await app.process_webhook(await app.pay(intent["reference"], fees=draw.randint(0, 2_000)))
    parties = app.parties(placed)
    number, opened = 60_000, []
    for _ in range(STEPS):
        amount = draw.randint(1, placed.total_minor // 3)
        step = draw.choice(["open", "lose", "win", "refund", "refund", "send", "news", "release", "deliver"])
        dispute = {"refund_amount": amount, "transaction": {"reference": intent["reference"]}}
        if step == "open":
            number += 1
            opened.append(number)
            await app.process_webhook({"event": "charge.dispute.create", "data": {**dispute, "id": number}})
        elif step in ("lose", "win"):
            resolution = "auto-accepted" if step == "lose" else "declined"
            if opened and draw.random() < 0.7:
                identity = opened.pop(draw.randrange(len(opened)))
            else:
                number += 1
                identity = number
            await app.process_webhook(
                {"event": "charge.dispute.resolve", "data": {**dispute, "id": identity, "resolution": resolution}}
            )
        elif step == "refund":
            # Of a mere amount, or of items.
            commission = draw.choice([None, 0, amount // 20, amount])
            event = RefundRequested(
                **parties, refund_id=new_id(), amount_minor=amount, reason="random", commission_minor=commission
            )
            before = await app.balances()
            try:
                await app.receive(event)
            except RefundExceedsHeld:
                assert await app.balances() == before
        elif step == "send":
            await send(app, draw)
        elif step == "news":
            await report_refund(app, draw)
        elif step == "release":
            headers = app.headers(new_id(), roles=("finance_checker",), stepped_up=True)
            path = f"/api/orders/{placed.order_id}/release"
            response = await app.client.post(path, headers=headers, json={"amountMinor": amount})
            assert response.status_code in (200, 409, 423)
        else:
            delivered = OrderDelivered(**parties, delivered_at="2026-01-01T00:00:00.000Z", verified_by=placed.vendor_id)
            await app.receive(delivered)
        await check_invariants(app)
        await check_gateway(app, placed.total_minor)
