"""The arrival of a parcel at its hub."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from common.primitives.ids import new_id
from contracts.identity import HubChanged
from contracts.opening_hours import OpeningPeriod
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of

from .conftest import Market
from .steps import list_order_ids

ARRIVED = "orders.order_arrived.v1"
CANCEL = {"reason": "sold out"}


async def dispatched(market: Market, hub_id: str | None = None) -> dict[str, Any]:
    """Return an order that is on its way to a hub."""
    order = await market.paid(hubId=hub_id or await market.hub())
    return data_of(await market.post(order, "dispatch", market.as_merchant()))


async def test_an_agent_records_the_arrival_once(market: Market) -> None:
    hub_id = new_id()
    hours = (OpeningPeriod(day="mon", opens="08:00", closes="18:00"),)
    hub = HubChanged(hub_id=hub_id, campus_id=market.campus_id, name="Gate", delivery_fee_minor=0, active=True,
                     address="Main Gate", opening_hours=hours)  # fmt: skip
    await market.receive(hub)
    order, other = await dispatched(market, str(hub_id)), await dispatched(market, str(hub_id))
    assert (order["status"], order["arrivedAt"]) == ("dispatched", None)
    agent = market.as_agent(order)
    arrived = data_of(await market.post(order, "arrive", agent))
    assert (arrived["status"], arrived["arrivedAt"]) == ("dispatched", "2026-01-05T12:00:00.000Z")
    assert arrived["revision"] == order["revision"] + 1
    assert data_of(await market.post(order, "arrive", market.as_agent(order))) == arrived
    [event] = await market.published(ARRIVED)
    assert event == {
        "orderId": order["id"],
        "buyerId": str(market.buyer_id),
        "vendorId": str(market.vendor_id),
        "hubId": str(hub_id),
        "arrivedAt": "2026-01-05T12:00:00.000Z",
        "number": order["number"],
        "hubName": "Gate",
        "hubAddress": "Main Gate",
        "openingHours": [{"day": "mon", "from": "08:00", "to": "18:00"}],
    }
    timeline = data_of(await market.client.get(f"/api/orders/{order['id']}/timeline", headers=market.as_buyer()))
    assert [(entry["event"], entry["status"]) for entry in timeline[-2:]] == [
        ("vendor_dispatches", "dispatched"), ("arrived", None),
    ]  # fmt: skip
    assert (await market.show(other))["arrivedAt"] is None
    for filtered, expected in (("true", order), ("false", other)):
        assert await list_order_ids(market, agent, **{"as": "hub", "arrived": filtered}) == [expected["id"]]


async def test_a_repetition_after_the_delivery_has_no_effect(market: Market) -> None:
    order = await dispatched(market)
    agent = market.as_agent(order)
    await market.post(order, "arrive", agent)
    assert (await market.verify(order, await market.pin_of(order), headers=agent)).status_code == 200
    repeated = data_of(await market.post(order, "arrive", agent))
    assert (repeated["status"], repeated["arrivedAt"]) == ("delivered", "2026-01-05T12:00:00.000Z")
    assert len(await market.published(ARRIVED)) == 1


@pytest.mark.parametrize(
    "status", ["Processing", "paid_escrow", "delivered", "cancelled", "disputed", "refund_pending"]
)
async def test_an_order_that_is_not_on_its_way_does_not_arrive(market: Market, status: str) -> None:
    order = await market.ordered(hubId=await market.hub())
    await market.fetch("UPDATE orders SET status = $2 WHERE id = $1", UUID(order["id"]), status)
    assert error_of(await market.post(order, "arrive", market.as_agent(order))) == CONFLICT
    assert (await market.show(order))["arrivedAt"] is None
    assert await market.published(ARRIVED) == []


async def test_agents_of_the_order_s_hub_alone_record_its_arrival(market: Market) -> None:
    order = await dispatched(market)
    elsewhere = market.as_staff("hub_agent", market.campus_id, hub_id=new_id())
    absent = await market.post({"id": str(new_id())}, "arrive", elsewhere)
    assert error_of(await market.post(order, "arrive", elsewhere)) == error_of(absent) == NOT_FOUND
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        assert error_of(await market.post(order, "arrive", headers)) == FORBIDDEN
    # A buyer who is an agent of another hub reads the order, and did not receive the parcel.
    agent_who_bought = market.headers(market.buyer_id, roles=("buyer", "hub_agent"), hub_id=new_id())
    assert error_of(await market.post(order, "arrive", agent_who_bought)) == FORBIDDEN
    assert await market.published(ARRIVED) == []


async def test_parallel_arrivals_publish_one_event(market: Market) -> None:
    order = await dispatched(market)
    responses = await asyncio.gather(*(market.post(order, "arrive", market.as_agent(order)) for _ in range(5)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["data"]["revision"] for response in responses}) == 1
    assert len(await market.published(ARRIVED)) == 1


@pytest.mark.parametrize("opponent", ["cancel", "deliver"])
async def test_an_arrival_during_the_end_of_the_order_is_whole_or_rejected(market: Market, opponent: str) -> None:
    order = await dispatched(market)
    pin = await market.pin_of(order)
    ending = (
        market.post(order, "cancel", market.as_merchant(), CANCEL)
        if opponent == "cancel"
        else market.verify(order, pin, headers=market.as_merchant())
    )
    arrival, end = await asyncio.gather(market.post(order, "arrive", market.as_agent(order)), ending)
    assert end.status_code == 200
    assert arrival.status_code in (200, 409)
    has_arrived = (await market.show(order))["arrivedAt"] is not None
    assert has_arrived is (arrival.status_code == 200)
    assert len(await market.published(ARRIVED)) == int(has_arrived)
    assert await market.status_of(order) == ("refund_pending" if opponent == "cancel" else "delivered")


async def test_a_dispatched_order_names_its_hub(market: Market) -> None:
    at_hub, direct = await dispatched(market), await market.paid()
    await market.post(direct, "dispatch", market.as_merchant())
    events = {event["orderId"]: event.get("hubId") for event in await market.published("orders.order_dispatched.v1")}
    assert events == {at_hub["id"]: at_hub["hubId"], direct["id"]: None}


async def test_a_hub_of_an_earlier_version_keeps_what_is_known(market: Market) -> None:
    facts = {"hub_id": new_id(), "campus_id": market.campus_id, "name": "Gate", "delivery_fee_minor": 0, "active": True}
    await market.receive(HubChanged(**facts, address="Main Gate", opening_hours=()), sequence=1)
    await market.receive(HubChanged(**facts), sequence=2)
    [row] = await market.fetch("SELECT address, opening_hours, sequence FROM hubs WHERE id = $1", facts["hub_id"])
    assert tuple(row) == ("Main Gate", [], 2)
