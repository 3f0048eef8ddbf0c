"""An unknown transaction is not there; one odd row or reference is a case, and ends nothing (contract section 7)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from payments.domain.errors import MalformedEvent
from payments.use_cases.reconciliation.reconcile import Reconciled, reconcile

from .conftest import PaymentsApp

WHOLE_TIME = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


async def _reconcile(app: PaymentsApp) -> Reconciled:
    app.clock._now = max(app.clock.now(), datetime.now(UTC)) + timedelta(minutes=11)
    dependencies = app.dependencies
    return await reconcile(dependencies.database, dependencies.gateways, dependencies.clock, *WHOLE_TIME)


async def _paid(app: PaymentsApp) -> str:
    intent = await app.open_intent((await app.place_order()).order_id)
    await app.process_webhook(await app.pay(intent["reference"]))
    return str(intent["reference"])


async def _kinds(app: PaymentsApp, status: str = "open") -> list[tuple[str, Any]]:
    cases = await app.get_as(f"/api/reconciliation-cases?status={status}&sort=created_at&order=asc")
    return [(case["kind"], case["reference"]) for case in cases]


@pytest.mark.parametrize("status", [400, 404])
async def test_an_unknown_transaction_is_not_there(app: PaymentsApp, status: int) -> None:
    gateway = app.paystack
    if status == 404:
        await app.gateway.faults(verify_call={"error_before": 404})
    assert await gateway.find_transaction("ch-none") is None


async def test_an_odd_transaction_of_the_list_is_a_case_and_the_rest_is_compared(app: PaymentsApp) -> None:
    odd, missing = await _paid(app), await app.open_intent((await app.place_order()).order_id)
    await app.pay(missing["reference"])
    await app.gateway.faults(listed_row={"data": {"amount": None}, "match": odd})
    await app.gateway.faults(verify_call={"data": {"amount": None}, "match": odd})
    done = await _reconcile(app)
    assert (done.recovered, done.unexplained.cases) == (1, 3)
    assert sorted(await _kinds(app)) == sorted(
        [("charge_not_in_book", missing["reference"]), ("unreadable_at_gateway", odd), ("unreadable_at_gateway", odd)]
    )
    await app.gateway.faults(listed_row=None, verify_call=None)
    await app.work("payments.webhooks")
    await _reconcile(app)
    assert await _kinds(app) == [("unreadable_at_gateway", odd)] * 2, "people close it with evidence"
    assert await _kinds(app, "explained") == [("charge_not_in_book", missing["reference"])]


async def test_a_reference_that_the_gateway_rejects_is_a_case(app: PaymentsApp) -> None:
    reference = await _paid(app)
    forged = await app.open_intent((await app.place_order()).order_id)
    charge = app.charge(forged["reference"], 500_000)
    await app.process_webhook(charge)
    await app.gateway.faults(verify_call={"error_before": 422, "match": str(charge["data"]["id"])})
    assert (await _reconcile(app)).unexplained.cases == 1
    assert await _kinds(app) == [("unreadable_at_gateway", forged["reference"])]
    assert reference != forged["reference"]


async def test_an_odd_refund_that_may_be_ours_is_never_sent_again(app: PaymentsApp) -> None:
    reference = await _paid(app)
    gateway = app.paystack
    ours = f"re-{'0' * 32}"
    for note in (ours, "made in the dashboard"):
        await gateway.start_refund(transaction=reference, amount_minor=1_000, currency="NGN", note=note)
    first, second = (str(refund["id"]) for refund in await app.gateway.refunds())
    await app.gateway.faults(listed_row={"data": {"amount": "ten"}, "match": second})
    assert [update.note for update in await gateway.list_refunds(reference)] == [ours]
    await app.gateway.faults(listed_row={"data": {"amount": "ten"}, "match": first})
    with pytest.raises(MalformedEvent):
        await gateway.list_refunds(reference)
