"""A declined payment shows as failed with the gateway's words, and another attempt, or a late success, still pays (section 7.6)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from common.observability.telemetry import STALE_EVENTS
from contracts.orders import OrderExpired
from payments.domain.errors import SubjectUnknown
from payments.timers import query_unpaid_attempts_once

FAILED = "payments.payment_failed.v1"


async def _opened(story: Any) -> tuple[Any, dict[str, Any]]:
    placed = await story.place_order()
    return placed, await story.open_intent(placed.order_id)


def _declined(story: Any, reference: str, words: str = "Insufficient Funds", **changes: Any) -> dict[str, Any]:
    body = story.charge(reference, 500_000, status="failed", gateway_response=words, paid_at=None, **changes)
    return {"event": "charge.failed", "data": body["data"]}


async def _payments(story: Any, **query: Any) -> list[dict[str, Any]]:
    answer = await story.service.client.get(
        "/api/payments", headers=story.service.headers(story.buyer), params={"order": "asc", **query}
    )
    assert answer.status_code == 200, answer.text
    listed: list[dict[str, Any]] = answer.json()["data"]
    return listed


def _stale() -> float:
    return float(STALE_EVENTS.labels("charge.failed")._value.get())


async def test_a_declined_payment_is_failed_with_the_gateways_words_and_announced_once(story: Any) -> None:
    placed, intent = await _opened(story)
    body = _declined(story, intent["reference"], "Insufficient Funds on 5060666666666666666")
    for _ in range(3):
        await story.tell(body)
    await story.tell(_declined(story, intent["reference"], "another id, the same payment"))
    [payment] = await _payments(story)
    assert (payment["status"], payment["failureReason"]) == ("failed", "Insufficient Funds on ...")
    one = await story.service.client.get(f"/api/payments/{payment['id']}", headers=story.service.headers(story.buyer))
    assert one.json()["data"] == payment
    [data] = await story.service.published(FAILED)
    assert data == {
        "orderId": str(placed.order_id),
        "buyerId": str(story.buyer),
        "paymentId": intent["id"],
        "reference": intent["reference"],
        "amountMinor": 500_000,
        "currency": "NGN",
        "failureReason": "Insufficient Funds on ...",
    }
    assert await story.balances() == {}
    assert await story.order_status(placed.order_id) == "Processing"


async def test_after_a_failure_another_payment_is_opened_under_a_new_reference_and_pays(story: Any) -> None:
    placed, intent = await _opened(story)
    key = uuid4()
    await story.tell(_declined(story, intent["reference"]))
    again = (await story.ask_intent(placed.order_id, key=key)).json()["data"]
    assert again["id"] != intent["id"]
    assert again["reference"] != intent["reference"]
    assert again["status"] == "pending"
    assert (await story.ask_intent(placed.order_id, key=key)).json()["data"] == again
    await story.tell(story.charge(again["reference"], 500_000))
    assert await story.order_status(placed.order_id) == "paid_escrow"
    assert [(row["status"], row["failureReason"]) for row in await _payments(story)] == [
        ("failed", "Insufficient Funds"),
        ("paid", None),
    ]


async def test_a_late_success_of_a_failed_reference_still_pays(story: Any) -> None:
    placed, intent = await _opened(story)
    await story.tell(_declined(story, intent["reference"]))
    await story.tell(story.charge(intent["reference"], 500_000))
    assert await story.order_status(placed.order_id) == "paid_escrow"
    [payment] = await _payments(story)
    assert (payment["status"], payment["failureReason"]) == ("paid", None)
    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}


async def test_both_attempts_paid_hold_the_order_once_and_owe_the_other_back(story: Any) -> None:
    placed, intent = await _opened(story)
    await story.tell(_declined(story, intent["reference"]))
    again = await story.open_intent(placed.order_id)
    await story.tell(story.charge(again["reference"], 500_000))
    await story.tell(story.charge(intent["reference"], 500_000))
    assert (await story.balances())[f"escrow:{placed.order_id}"] == -500_000
    [refund] = await story.service.fetch("SELECT kind, amount_minor FROM refunds")
    assert tuple(refund) == ("overpayment", 500_000)
    await story.check_books()


async def test_a_failure_after_the_success_is_stale_and_counted(story: Any) -> None:
    placed, intent = await _opened(story)
    await story.tell(story.charge(intent["reference"], 500_000))
    before = _stale()
    await story.tell(_declined(story, intent["reference"]))
    assert _stale() - before == 1
    assert [row["status"] for row in await _payments(story)] == ["paid"]
    assert await story.order_status(placed.order_id) == "paid_escrow"
    assert await story.service.published(FAILED) == []


async def test_a_failure_of_an_ended_order_is_stale_and_nobody_is_asked_to_pay_again(story: Any) -> None:
    placed, intent = await _opened(story)
    await story.service.hear(
        OrderExpired(order_id=placed.order_id, buyer_id=story.buyer, vendor_id=story.vendor, reason="test")
    )
    before = _stale()
    await story.tell(_declined(story, intent["reference"]))
    assert _stale() - before == 1
    assert [row["status"] for row in await _payments(story)] == ["closed"]
    assert await story.service.published(FAILED) == []


async def test_a_failure_and_a_success_at_the_same_moment_leave_the_order_paid(story: Any) -> None:
    for _ in range(5):
        placed, intent = await _opened(story)
        await story.send(_declined(story, intent["reference"]))
        await story.send(story.charge(intent["reference"], 500_000))
        await asyncio.gather(*(story.service.work("payments.webhooks") for _ in range(2)))
        assert await story.order_status(placed.order_id) == "paid_escrow"
        assert (await _payments(story, limit=100))[-1]["status"] == "paid"


async def test_a_failure_of_an_unknown_reference_is_retried_and_at_last_ignored(story: Any) -> None:
    body = _declined(story, "ch-" + "b" * 32)
    with pytest.raises(SubjectUnknown):
        await story.tell(body)
    await story.service.fetch("UPDATE outbox SET published_at = NULL RETURNING 1")
    await story.service.work("payments.webhooks", attempt=6, is_last_attempt=True)
    assert await story.outcomes() == ["ignored"]


@pytest.mark.parametrize("data", [{}, {"id": 1}, {"id": 2, "reference": 7}, {"id": 3, "reference": "\x00"}, []])
async def test_an_odd_failure_changes_nothing(story: Any, data: Any) -> None:
    await story.tell({"event": "charge.failed", "data": data})
    assert await story.outcomes() == ["ignored"]


async def test_a_crash_before_the_commit_leaves_the_payment_pending_and_unannounced(story: Any, owner_of: Any) -> None:
    _, intent = await _opened(story)
    async with owner_of(story) as owner:
        await owner.execute(
            "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$"
        )
        await owner.execute(
            f"CREATE TRIGGER crash BEFORE INSERT ON outbox FOR EACH ROW WHEN (NEW.type = '{FAILED}') "
            "EXECUTE FUNCTION crash()"
        )
        with pytest.raises(Exception, match="crash"):
            await story.tell(_declined(story, intent["reference"]))
        assert [row["status"] for row in await _payments(story)] == ["pending"]
        await owner.execute("DROP TRIGGER crash ON outbox")
    await story.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await story.service.work("payments.webhooks")
    assert [row["status"] for row in await _payments(story)] == ["failed"]
    assert len(await story.service.published(FAILED)) == 1


async def test_a_stranger_sees_no_failed_payment_and_support_sees_every_one(story: Any) -> None:
    _, intent = await _opened(story)
    await story.tell(_declined(story, intent["reference"]))
    stranger = await story.service.client.get("/api/payments", headers=story.service.headers(uuid4()))
    assert stranger.json()["data"] == []
    [shown] = await story.see("/api/payments", "support_agent")
    assert (shown["status"], shown["failureReason"]) == ("failed", "Insufficient Funds")


async def test_a_decline_whose_webhook_never_came_is_found_by_the_gateways_verify(
    sandboxed: tuple[Any, httpx.AsyncClient],
) -> None:
    story, sandbox = sandboxed
    await sandbox.put("/control/faults", json={"charge_webhook": {"drop": True}})
    _, intent = await _opened(story)
    declined = {"action": "decline", "reason": "Expired card"}
    await sandbox.post(intent["authorizationUrl"], data=declined)
    assert await query_unpaid_attempts_once(story.service.dependencies) == 0, "its time has not come"
    story.clock.advance(timedelta(seconds=31))
    found = await asyncio.gather(*(query_unpaid_attempts_once(story.service.dependencies) for _ in range(3)))
    assert sorted(found) == [0, 0, 1], "of several workers one queries"
    await story.service.work("payments.webhooks")
    [payment] = await _payments(story)
    assert (payment["status"], payment["failureReason"]) == ("failed", "Expired card")
    story.clock.advance(timedelta(minutes=1))
    assert await query_unpaid_attempts_once(story.service.dependencies) == 0, "the same answer is recorded once"
    # The payer tries once more on the same page, and that webhook is lost as well.
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    story.clock.advance(timedelta(minutes=2))
    assert await query_unpaid_attempts_once(story.service.dependencies) == 1
    await story.service.work("payments.webhooks")
    assert [row["status"] for row in await _payments(story)] == ["paid"]
    story.clock.advance(timedelta(hours=1))
    assert await query_unpaid_attempts_once(story.service.dependencies) == 0, "a paid one is queried no more"


async def test_a_decline_at_the_sandbox_arrives_as_its_webhook(sandboxed: tuple[Any, httpx.AsyncClient]) -> None:
    story, sandbox = sandboxed
    placed, intent = await _opened(story)
    await sandbox.post(intent["authorizationUrl"], data={"action": "decline"})
    await story.webhook("charge.failed")
    assert [row["status"] for row in await _payments(story)] == ["failed"]
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await story.webhook("charge.success")
    assert await story.order_status(placed.order_id) == "paid_escrow"


async def test_a_gateway_that_is_away_is_queried_seldomer_and_loses_nothing(story: Any) -> None:
    _, intent = await _opened(story)
    story.gateway.initialized[intent["reference"]] = _declined(story, intent["reference"])["data"]
    story.gateway.fail_before = [503, 503]
    for _ in range(2):
        story.clock.advance(timedelta(minutes=4))
        assert await query_unpaid_attempts_once(story.service.dependencies) == 0
    story.clock.advance(timedelta(minutes=8))
    assert await query_unpaid_attempts_once(story.service.dependencies) == 1
