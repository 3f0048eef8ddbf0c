"""A payment whose opening got no response may be paid, and a refund whose call counted as unsent may be accepted."""

import pytest

from contracts.orders import OrderCancelled, OrderPlaced
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RefundUpdate
from payments.use_cases.refunds.record_refund_update import record_refund_update

from .conftest import PaymentsApp


async def _unanswered(app: PaymentsApp) -> tuple[OrderPlaced, str]:
    """Return an order and the reference of its payment, which the gateway has and whose response was lost."""
    placed = await app.place_order()
    await app.gateway.faults(initialize_call={"error_after": True, "times": 1})
    assert (await app.request_intent(placed.order_id)).status_code == 503
    return placed, str((await app.gateway.transactions())[-1]["reference"])


async def _statuses(app: PaymentsApp) -> list[str]:
    rows = await app.fetch("SELECT status FROM payment_intents ORDER BY created_at, id")
    return [row["status"] for row in rows]


async def test_the_end_of_the_order_closes_it_and_a_payment_is_still_the_orders(app: PaymentsApp) -> None:
    placed, reference = await _unanswered(app)
    assert await _statuses(app) == ["opening"]
    await app.receive(OrderCancelled(**app.parties(placed), reason="too late"))
    assert await _statuses(app) == ["closed"]
    await app.process_webhook(await app.pay(reference))
    assert await _statuses(app) == ["paid"]
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -500_000
    await app.check_ledger()


async def test_too_little_is_quarantined_before_the_response_and_after_a_failure(app: PaymentsApp) -> None:
    _, reference = await _unanswered(app)
    await app.process_webhook(await app.pay(reference, 499_999))
    assert await _statuses(app) == ["quarantined"]
    declined = str((await app.open_intent((await app.place_order()).order_id))["reference"])
    await app.process_webhook(await app.gateway.decline(declined, "Insufficient Funds"))
    await app.process_webhook(app.charge(declined, 499_999))
    assert await _statuses(app) == ["quarantined", "quarantined"]
    assert (await app.balances())["gateway_cash"] == 999_998
    await app.check_ledger()


async def test_a_third_payment_in_another_currency_is_quarantined(app: PaymentsApp) -> None:
    placed = await app.place_order()
    declined = (await app.open_intent(placed.order_id))["reference"]
    await app.process_webhook(await app.gateway.decline(declined, "Insufficient Funds"))
    paid = (await app.open_intent(placed.order_id))["reference"]
    await app.process_webhook(await app.pay(paid))
    await app.process_webhook(app.charge(declined, 500_000))
    assert sorted(await _statuses(app)) == ["overpaid", "paid"]
    await app.process_webhook(app.charge(declined, 500_000, currency="GHS"))
    assert sorted(await _statuses(app)) == ["paid", "quarantined"]
    await app.check_ledger()


@pytest.mark.parametrize(("reported", "status"), [("pending", "submitted"), ("failed", "failed")])
async def test_a_refund_that_counted_as_unsent_is_not_sent_after_its_report(
    app: PaymentsApp, reported: str, status: str
) -> None:
    """Another worker's call arrived after all, and its result after this one gave the call up."""
    event = app.refund_requested(await app.paid_order(), 500_000)
    await app.receive(event)
    [refund] = await app.fetch("SELECT attempt_id, status FROM refunds")
    assert refund["status"] == "pending"
    update = RefundUpdate("900001", refund_reference(refund["attempt_id"]), reported, 500_000, "NGN", None)
    async with app.unit_of_work() as uow:
        assert await record_refund_update(uow, update, app.clock.now())
    await app.work("payments.refunds")
    assert (await app.get_as(f"/api/refunds/{event.refund_id}"))["status"] == status
    assert await app.gateway.refunds() == []
    await app.check_ledger()
