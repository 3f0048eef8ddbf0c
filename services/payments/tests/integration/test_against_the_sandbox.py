"""Payments against the sandbox's payment gateway: both ledgers agree."""

import random
from typing import Any

import httpx

from payments.timers import query_revised_webhooks_once
from testkit.fixtures import eventually


async def test_a_revised_dispute_follows_the_gateways_response(sandbox_app: Any) -> None:
    app, sandbox = sandbox_app
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await app.webhook("charge.success")
    dispute = (await sandbox.post(f"/control/charges/{intent['reference']}/dispute")).json()
    await app.webhook("charge.dispute.create")
    await sandbox.post(f"/control/disputes/{dispute['id']}/lose")
    await app.webhook("charge.dispute.resolve")
    assert (await app.balances()).get(f"escrow:{placed.order_id}") is None
    await sandbox.post(f"/control/disputes/{dispute['id']}/overturn")

    async def revised() -> bool:
        return bool(await app.fetch("SELECT FROM revised_webhooks"))

    await eventually(revised)
    assert await query_revised_webhooks_once(app.dependencies) == 1
    await app.work("payments.webhooks")
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -500_000
    await app.check_ledger()


async def test_a_payment_and_its_refund_keep_the_ledgers_of_sandbox_and_payments_equal(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    paid = await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    assert paid.status_code < 400, paid.text
    await app.webhook("charge.success")
    assert await app.order_status(placed.order_id) == "paid_escrow"
    gateway = app.paystack
    assert await gateway.balance_minor("NGN") == (await app.balances())["gateway_cash"] == 500_000
    found = await gateway.find_transaction(intent["reference"])
    assert (found.status, found.amount_minor) == ("success", 500_000)

    requested = app.refund_requested(placed, 200_000)
    await app.receive(requested)
    await app.work("payments.refunds")
    await app.webhook("refund.processed")
    [settled] = await app.published("payments.refund_settled.v1")
    assert settled["refundId"] == str(requested.refund_id)
    assert await gateway.balance_minor("NGN") == (await app.balances())["gateway_cash"] == 300_000
    await app.check_ledger()


async def test_the_sandboxs_list_shows_our_note_on_a_refund(sandbox_app: tuple[Any, httpx.AsyncClient]) -> None:
    app, sandbox = sandbox_app
    gateway = app.paystack
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await app.webhook("charge.success")
    [charge] = await app.fetch("SELECT gateway_id FROM charges")
    note = f"re-{random.randbytes(16).hex()}"
    refund = await gateway.start_refund(transaction=charge["gateway_id"], amount_minor=7, currency="NGN", note=note)
    listed = await gateway.list_refunds(charge["gateway_id"])
    assert [(update.gateway_refund_id, update.note) for update in listed] == [(refund.gateway_refund_id, note)]
    shown = await gateway.find_refund(refund.gateway_refund_id)
    assert shown.amount_minor == 7
    assert await gateway.find_refund("424242") is None
