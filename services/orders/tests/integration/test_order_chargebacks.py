"""Chargebacks of the bank and the status of the order."""

from uuid import UUID

import pytest

from contracts.payments import ChargeDisputed
from orders.domain.order_updates import EarlyUpdate

from .conftest import Market
from .dispute_steps import decide, events, prepared, shown_dispute


def chargeback(order, outcome=None):
    return ChargeDisputed(
        order_id=UUID(order["id"]),
        buyer_id=UUID(order["buyerId"]),
        vendor_id=UUID(order["vendorId"]),
        amount_minor=order["totalMinor"],
        outcome=outcome,
    )


@pytest.mark.parametrize("dispatched", [False, True])
async def test_a_chargeback_disputes_an_order_that_was_not_delivered(market: Market, dispatched: bool) -> None:
    order = await market.paid()
    if dispatched:
        await market.post(order, "dispatch", market.as_merchant())
    received = await market.receive(chargeback(order))
    await market.receive(chargeback(order), event_id=received.event_id)
    await market.receive(chargeback(order))
    assert await market.status_of(order) == "disputed"
    assert len(await events(market, "order_disputed")) == 1
    shown = await market.client.get(f"/api/orders/{order['id']}/dispute", headers=market.as_merchant())
    assert (shown.json()["data"]["cause"], shown.json()["data"]["raisedBy"]) == ("chargeback", None)


async def test_a_chargeback_after_the_pin_keeps_the_status_one_before_the_charge_retries(market: Market) -> None:
    order = await market.ordered()
    with pytest.raises(EarlyUpdate):
        await market.receive(chargeback(order))
    await market.pay(order)
    await market.verify(order, await market.pin_of(order))
    await market.receive(chargeback(order))
    assert await market.status_of(order) == "delivered"
    await market.release(order)
    await market.receive(chargeback(order))
    await market.receive(chargeback(order, outcome="lost"))
    assert await market.status_of(order) == "paid"
    assert await events(market, "order_disputed") == []


@pytest.mark.parametrize(
    ("charge_events", "stands"),
    [
        ([None, "won"], "won"),
        ([None, "lost"], "lost"),
        ([None, "lost", "won"], "won"),
        (["lost", None], "lost"),
        ([None, "won", "lost"], "lost"),
    ],
    ids=str,
)
async def test_the_bank_s_decision_closes_no_dispute_and_is_shown(market: Market, charge_events, stands: str) -> None:
    """Payments keeps the money frozen as well until staff resolve: the two never disagree, in whichever order the
    events arrive.
    """
    order = await market.paid()
    sequences = [2, 1] if charge_events[0] else range(1, 4)
    for outcome, sequence in zip(charge_events, sequences, strict=False):
        await market.receive(chargeback(order, outcome=outcome), sequence=sequence)
        assert await market.status_of(order) == "disputed"
    assert len(await events(market, "order_disputed")) == 1
    assert await events(market, "dispute_resolved") == []
    assert (await shown_dispute(market, order))["chargebackOutcome"] == stands
    resolution = await prepared(market, order, "vendor")
    url = f"/api/dispute-resolutions/{resolution}"
    shown = await market.client.get(url, headers=market.as_staff("finance_checker"))
    assert shown.json()["data"]["dispute"]["chargebackOutcome"] == stands
    assert (await decide(market, resolution)).status_code == 200
    # Payments publishes one release, of nothing or of everything, and the order ends in both cases.
    await market.release(order)
    assert await market.status_of(order) == "paid"
