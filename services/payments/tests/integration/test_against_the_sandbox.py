"""The same story against the sandbox's payment gateway with its own book: what it signs we take, what it holds is what we hold."""

import random
from typing import Any

import httpx

from common.primitives.ids import new_id
from contracts.orders import RefundRequested
from payments.timers import query_revised_webhooks_once
from testkit.fixtures import eventually


async def test_a_dispute_that_the_gateway_revises_is_decided_by_its_answer(sandboxed: Any) -> None:
    story, sandbox = sandboxed
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await story.webhook("charge.success")
    dispute = (await sandbox.post(f"/control/charges/{intent['reference']}/dispute")).json()
    await story.webhook("charge.dispute.create")
    await sandbox.post(f"/control/disputes/{dispute['id']}/lose")
    await story.webhook("charge.dispute.resolve")
    assert (await story.balances()).get(f"escrow:{placed.order_id}") is None
    await sandbox.post(f"/control/disputes/{dispute['id']}/overturn")

    async def revised() -> bool:
        return bool(await story.service.fetch("SELECT FROM revised_webhooks"))

    await eventually(revised)
    assert await query_revised_webhooks_once(story.service.dependencies) == 1
    await story.service.work("payments.webhooks")
    assert (await story.balances())[f"escrow:{placed.order_id}"] == -500_000
    await story.check_books()


async def test_a_payment_and_its_refund_through_the_sandbox_leave_both_books_alike(
    sandboxed: tuple[Any, httpx.AsyncClient],
) -> None:
    story, sandbox = sandboxed
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    paid = await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    assert paid.status_code < 400, paid.text
    await story.webhook("charge.success")
    assert await story.order_status(placed.order_id) == "paid_escrow"
    gateway = story.service.dependencies.gateway
    assert await gateway.balance_minor("NGN") == (await story.balances())["gateway_cash"] == 500_000
    found = await gateway.find_transaction(intent["reference"])
    assert (found["status"], found["amount"]) == ("success", 500_000)

    refund_id = new_id()
    await story.service.hear(
        RefundRequested(
            order_id=placed.order_id,
            refund_id=refund_id,
            buyer_id=placed.buyer_id,
            vendor_id=placed.vendor_id,
            amount_minor=200_000,
            reason="cancelled",
        )
    )
    await story.service.work("payments.refunds")
    await story.webhook("refund.processed")
    [settled] = await story.service.published("payments.refund_settled.v1")
    assert settled["refundId"] == str(refund_id)
    assert await gateway.balance_minor("NGN") == (await story.balances())["gateway_cash"] == 300_000
    await story.check_books()


async def test_the_sandboxs_list_shows_our_note_on_a_refund(sandboxed: tuple[Any, httpx.AsyncClient]) -> None:
    story, sandbox = sandboxed
    gateway = story.service.dependencies.gateway
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await story.webhook("charge.success")
    [charge] = await story.service.fetch("SELECT gateway_id FROM charges")
    note = f"re-{random.randbytes(16).hex()}"
    data = await gateway.start_refund(transaction=charge["gateway_id"], amount_minor=7, currency="NGN", note=note)
    listed = await gateway.list_refunds(charge["gateway_id"])
    assert [(entry["id"], entry["merchant_note"]) for entry in listed] == [(data["id"], note)]
    shown = await gateway.find_refund(str(data["id"]))
    assert shown["amount"] == 7
    assert await gateway.find_refund("424242") is None
