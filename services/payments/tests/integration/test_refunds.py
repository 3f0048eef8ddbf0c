"""Money back to the payer: decide, call, record; what a lost call did is found out by asking."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.orders import RefundRequested
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import RefundContradiction, RefundExceedsHeld, RefundOutcomeUnknown, SubjectUnknown
from payments.timers import settle_refunds_once
from payments.use_cases.refunds.submit_refund import submit_refund


async def _refunded(story: Any, amount_minor: int = 500_000) -> tuple[Any, RefundRequested]:
    placed = await story.paid_order()
    event = RefundRequested(
        order_id=placed.order_id,
        refund_id=new_id(),
        buyer_id=placed.buyer_id,
        vendor_id=placed.vendor_id,
        amount_minor=amount_minor,
        reason="cancelled",
    )
    heard = await story.service.hear(event)
    await story.service.hear(event, event_id=heard.event_id)
    await story.service.hear(event)
    return placed, event


async def _status(story: Any) -> str:
    [row] = await story.service.fetch("SELECT status FROM refunds")
    return str(row["status"])


async def _again(story: Any) -> None:
    await story.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue = 'payments.refunds' RETURNING 1")


def _news(story: Any, event: str, **changes: Any) -> dict[str, Any]:
    refund = story.gateway.refunds[0]
    data = {"id": refund["id"], "amount": refund["amount"], "currency": "NGN", "integration": {}, **changes}
    return {"event": event, "data": data}


async def test_a_refund_is_posted_once_sent_once_and_settled_by_its_webhook(story: Any) -> None:
    placed, event = await _refunded(story, 200_000)
    owed = f"refund_payable:{event.refund_id}"
    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -300_000, owed: -200_000}
    [said] = await story.service.published("payments.escrow_refunded.v1")
    assert (said["refundId"], said["amountMinor"], said["fromVendorMinor"]) == (str(event.refund_id), 200_000, 0)
    assert (said["remainingMinor"], said["remainingVendorMinor"]) == (300_000, 273_600)
    [posted] = await story.service.fetch(
        "SELECT type FROM ledger_transactions WHERE posting_key = $1", str(event.refund_id)
    )
    assert posted["type"] == "refund"

    assert await story.service.work("payments.refunds") == 1
    await _again(story)
    await story.service.work("payments.refunds")
    [sent] = story.gateway.refunds
    assert (sent["amount"], sent["merchant_note"]) == (200_000, f"re-{event.refund_id.hex}")
    assert await _status(story) == "submitted"

    await story.tell(_news(story, "refund.processed"))
    assert await story.balances() == {"gateway_cash": 300_000, f"escrow:{placed.order_id}": -300_000}
    [settled] = await story.service.published("payments.refund_settled.v1")
    assert settled == {
        "refundId": str(event.refund_id),
        "kind": "order",
        "amountMinor": 200_000,
        "orderId": str(placed.order_id),
        "buyerId": str(story.buyer),
    }
    await story.tell(_news(story, "refund.failed"))
    assert await _status(story) == "settled"
    await story.check_books()


async def test_a_failed_refund_stays_owed_and_alerts(story: Any) -> None:
    _, event = await _refunded(story)
    await story.service.work("payments.refunds")
    await story.tell(_news(story, "refund.failed", reason="bank said no"))
    assert (await story.balances())[f"refund_payable:{event.refund_id}"] == -500_000
    assert len(await story.service.published("payments.refund_failed.v1")) == 1
    [alert] = await story.service.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["subject"]) == ("SEV-2", str(event.refund_id))
    assert "bank said no" in alert["detail"]
    assert str(event.refund_id) in alert["detail"]


async def test_a_refusal_of_the_gateway_fails_the_refund(story: Any) -> None:
    await _refunded(story)
    story.gateway.fail_before = [400]
    await story.service.work("payments.refunds")
    assert await _status(story) == "failed"
    assert story.gateway.refunds == []


async def test_an_answer_that_was_lost_is_found_by_asking_and_nothing_is_sent_twice(story: Any) -> None:
    await _refunded(story)
    # The list is asked for first, and that is answered.
    story.gateway.fail_after = [None, 500]
    with pytest.raises(GatewayUnavailable):
        await story.service.work("payments.refunds")
    assert await _status(story) == "submitting"
    await _again(story)
    await story.service.work("payments.refunds")
    assert len(story.gateway.refunds) == 1
    assert await _status(story) == "submitted"


async def test_a_call_that_never_arrived_is_repeated_only_when_it_can_no_longer_be_at_work(story: Any) -> None:
    await _refunded(story)
    story.gateway.fail_before = [503]
    with pytest.raises(GatewayUnavailable):
        await story.service.work("payments.refunds")
    await _again(story)
    with pytest.raises(RefundOutcomeUnknown):
        await story.service.work("payments.refunds")
    story.clock.advance(timedelta(seconds=121))
    await _again(story)
    await story.service.work("payments.refunds")
    assert len(story.gateway.refunds) == 1
    assert await _status(story) == "submitted"


async def test_a_repeated_call_is_waited_for_as_long_as_the_first(story: Any) -> None:
    """Else the third try would overtake the second, which may still be at work at the gateway."""
    await _refunded(story)
    # Before a call is repeated the list is asked for, and that is answered.
    for lost in ([503], [None, 503]):
        story.gateway.fail_before = list(lost)
        with pytest.raises(GatewayUnavailable):
            await story.service.work("payments.refunds")
        await _again(story)
        with pytest.raises(RefundOutcomeUnknown):
            await story.service.work("payments.refunds")
        await _again(story)
        story.clock.advance(timedelta(seconds=121))
    await story.service.work("payments.refunds")
    assert len(story.gateway.refunds) == 1
    assert await _status(story) == "submitted"


async def test_whoever_slept_between_its_decision_and_its_call_makes_none_any_more(story: Any) -> None:
    _, event = await _refunded(story, 200_000)
    needs, work = story.service.dependencies, story.gateway._work

    async def listed_long_ago(request: Any) -> Any:
        answer = await work(request)
        # The message went to somebody else meanwhile, who found nothing sent, and sent it.
        story.gateway._work = work
        story.clock.advance(timedelta(minutes=3))
        await submit_refund(needs.database, needs.gateway, story.clock, event.refund_id)
        return answer

    story.gateway._work = listed_long_ago
    with pytest.raises(RefundOutcomeUnknown):
        await submit_refund(needs.database, needs.gateway, story.clock, event.refund_id)
    assert [refund["amount"] for refund in story.gateway.refunds] == [200_000]
    assert await _status(story) == "submitted"


async def test_a_worker_whose_clock_is_ahead_repeats_no_call_that_is_on_its_way(story: Any) -> None:
    _, event = await _refunded(story, 200_000)
    needs, work = story.service.dependencies, story.gateway._work
    ahead = ManualClock(story.clock.now() + timedelta(seconds=90))
    ended: list[Any] = []

    async def on_its_way(request: Any) -> Any:
        if request.method == "POST":
            story.gateway._work = work
            again = submit_refund(needs.database, needs.gateway, ahead, event.refund_id)
            ended.extend(await asyncio.gather(again, return_exceptions=True))
        return await work(request)

    story.gateway._work = on_its_way
    await submit_refund(needs.database, needs.gateway, story.clock, event.refund_id)
    assert [type(error) for error in ended] == [RefundOutcomeUnknown]
    assert [refund["amount"] for refund in story.gateway.refunds] == [200_000]
    assert await _status(story) == "submitted"


async def test_of_two_workers_that_repeat_a_call_one_sends_it(story: Any) -> None:
    _, event = await _refunded(story)
    story.gateway.fail_before = [500]
    with pytest.raises(GatewayUnavailable):
        await story.service.work("payments.refunds")
    story.clock.advance(timedelta(seconds=121))
    story.gateway.slow_seconds = 0.4
    needs = story.service.dependencies
    ended = await asyncio.gather(
        *(submit_refund(needs.database, needs.gateway, story.clock, event.refund_id) for _ in range(5)),
        return_exceptions=True,
    )
    assert len(story.gateway.refunds) == 1
    assert all(error is None or isinstance(error, RefundOutcomeUnknown) for error in ended)
    assert await _status(story) == "submitted"


async def test_a_refund_without_a_webhook_is_settled_by_asking(story: Any) -> None:
    await _refunded(story)
    await story.service.work("payments.refunds")
    assert await settle_refunds_once(story.service.dependencies) == 0
    story.clock.advance(timedelta(minutes=2))
    story.gateway.refunds[0]["status"] = "processed"
    assert await settle_refunds_once(story.service.dependencies) == 1
    assert await settle_refunds_once(story.service.dependencies) == 0
    assert await story.balances() == {}
    assert len(await story.service.published("payments.refund_settled.v1")) == 1


async def test_the_webhook_may_come_before_our_own_call_has_returned(story: Any) -> None:
    _, event = await _refunded(story)
    note = f"re-{event.refund_id.hex}"
    body = {"event": "refund.processed", "data": {"id": 1, "amount": 500_000, "currency": "NGN", "merchant_note": note}}
    await story.tell(body)
    assert await _status(story) == "settled"
    await story.service.work("payments.refunds")
    assert story.gateway.refunds == []


async def test_news_of_an_unknown_refund_or_of_another_amount_is_not_lost(story: Any) -> None:
    await _refunded(story)
    await story.service.work("payments.refunds")
    with pytest.raises(RefundContradiction):
        await story.tell(_news(story, "refund.processed", amount=1))
    with pytest.raises(SubjectUnknown):
        await story.tell(_news(story, "refund.processed", id=424_242))
    assert await _status(story) == "submitted"


async def test_more_than_was_held_is_never_refunded(story: Any) -> None:
    placed, _ = await _refunded(story, 400_000)
    before = await story.balances()
    event = RefundRequested(
        order_id=placed.order_id,
        refund_id=new_id(),
        buyer_id=placed.buyer_id,
        vendor_id=placed.vendor_id,
        amount_minor=100_001,
        reason="too much",
    )
    with pytest.raises(RefundExceedsHeld):
        await story.service.hear(event)
    assert await story.balances() == before
    assert len(await story.service.fetch("SELECT * FROM refunds")) == 1


async def test_the_client_reads_balance_and_transactions(story: Any) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    gateway = story.service.dependencies.gateway
    found = await gateway.find_transaction(intent["reference"])
    assert found["amount"] == 500_000
    assert await gateway.find_transaction("ch-none") is None
    assert await gateway.balance_minor("NGN") == 123_456
    assert await gateway.balance_minor("GHS") == 0
