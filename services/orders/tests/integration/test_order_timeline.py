import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from common.primitives.ids import new_id
from testkit.responses import NOT_FOUND, data_of, error_of

from .conftest import Market
from .dispute_steps import decide, disputed, prepared
from .steps import another_pin


async def timeline_of(market: Market, order: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
    response = await market.client.get(f"/api/orders/{order['id']}/timeline", headers=headers or market.as_buyer())
    return data_of(response)


async def steps_of(market: Market, order: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(entry["event"], entry["status"]) for entry in await timeline_of(market, order)]


async def test_a_timeline_has_each_transition_with_its_instant(market: Market) -> None:
    order = await market.ordered()
    market.clock.advance(timedelta(minutes=1))
    await market.pay(order)
    market.clock.advance(timedelta(minutes=1))
    await market.post(order, "dispatch", market.as_merchant())
    market.clock.advance(timedelta(minutes=1))
    await market.verify(order, await market.pin_of(order))
    market.clock.advance(timedelta(minutes=1))
    await market.release(order)
    assert [tuple(entry.values())[:3] for entry in await timeline_of(market, order)] == [
        ("placed", "Processing", "2026-01-05T12:00:00.000Z"),
        ("escrow_held", "paid_escrow", "2026-01-05T12:01:00.000Z"),
        ("pin_issued", None, "2026-01-05T12:01:00.000Z"),
        ("vendor_dispatches", "dispatched", "2026-01-05T12:02:00.000Z"),
        ("pin_accepted", "delivered", "2026-01-05T12:03:00.000Z"),
        ("escrow_fully_released", "paid", "2026-01-05T12:04:00.000Z"),
    ]


async def test_wrong_attempts_a_lock_and_a_new_pin_are_in_the_timeline(market: Market) -> None:
    order = await market.paid()
    for _ in range(6):
        await market.verify(order, another_pin(await market.pin_of(order)))
    await market.post(order, "delivery-pin/reissue", market.as_buyer())
    assert (await steps_of(market, order))[2:] == [
        ("pin_issued", None),
        *[("pin_rejected", None)] * 4,
        ("pin_locked", None),
        ("pin_issued", None),
    ]


async def test_a_repeated_trigger_is_recorded_once(market: Market) -> None:
    order = await market.ordered()
    await market.pay(order)
    await market.pay(order)
    for _ in range(2):
        await market.post(order, "dispatch", market.as_merchant())
    pin = await market.pin_of(order)
    key = new_id()
    for _ in range(2):
        await market.verify(order, another_pin(pin), key=UUID(int=key.int, version=4))
    events = [event for event, _ in await steps_of(market, order)]
    assert events == ["placed", "escrow_held", "pin_issued", "vendor_dispatches", "pin_rejected"]


async def test_parallel_cancellations_record_one_transition(market: Market) -> None:
    order = await market.paid()
    body = {"reason": "changed my mind"}
    await asyncio.gather(*(market.post(order, "cancel", market.as_buyer(), body) for _ in range(4)))
    assert (await steps_of(market, order))[3:] == [("buyer_cancels", "refund_pending")]


async def test_a_transition_that_rolls_back_stores_no_entry(market: Market) -> None:
    order = await market.paid()
    before = await timeline_of(market, order)
    async with market.crashing():
        assert (await market.post(order, "dispatch", market.as_merchant())).status_code == 500
    assert await timeline_of(market, order) == before


@pytest.mark.parametrize("reader", ["vendor", "hub_agent", "support_agent", "auditor", "campus_admin"])
async def test_every_reader_of_the_order_reads_its_timeline(market: Market, reader: str) -> None:
    order = await market.paid(hubId=await market.hub())
    hub_id = UUID(order["hubId"])
    headers = market.as_merchant() if reader == "vendor" else market.as_staff(reader, market.campus_id, hub_id=hub_id)
    assert await timeline_of(market, order, headers) == await timeline_of(market, order)


async def test_the_timeline_of_another_s_order_is_404(market: Market) -> None:
    order = await market.paid()
    agent = market.as_staff("hub_agent", market.campus_id, hub_id=new_id())
    for headers in (market.as_buyer(new_id()), market.as_merchant(new_id()), agent):
        assert error_of(await market.client.get(f"/api/orders/{order['id']}/timeline", headers=headers)) == NOT_FOUND
    assert error_of(await market.client.get(f"/api/orders/{new_id()}/timeline", headers=market.as_buyer())) == NOT_FOUND


async def test_the_service_can_change_no_entry(market: Market) -> None:
    await market.paid()
    for statement in ("UPDATE order_history SET event = 'placed'", "DELETE FROM order_history"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await market.fetch(statement)


async def test_a_buyer_s_history_is_among_their_personal_records(market: Market) -> None:
    order = await market.paid()
    response = await market.client.get("/api/personal-records/orders?limit=100", headers=market.as_buyer())
    records = [entry["record"] for entry in data_of(response) if entry["section"] == "orderHistory"]
    assert [(record["orderId"], record["event"]) for record in records] == [
        (order["id"], "escrow_held"),
        (order["id"], "pin_issued"),
    ]


async def test_staff_read_the_cancellations_and_decisions_that_they_made(market: Market) -> None:
    order = await market.paid()
    support = market.as_staff("support_agent")
    response = await market.post(order, "cancel", support, {"reason": "The shop burned down"})
    assert response.status_code == 200
    path = "/api/staff-acts/current"
    (cancelled,) = data_of(await market.client.get(path, headers=support))
    assert (cancelled["act"], cancelled["subjectId"], cancelled["service"]) == (
        "order_cancelled",
        order["id"],
        "orders",
    )
    found = await market.client.get(path, headers=support, params={"subjectId": order["id"]})
    assert [one["act"] for one in data_of(found)] == ["order_cancelled"]
    assert data_of(await market.client.get(path, headers=support, params={"subjectId": str(new_id())})) == []
    resolution = await prepared(market, await disputed(market), "buyer")
    checker = market.as_staff("finance_checker", stepped_up=True)
    assert (await decide(market, resolution, headers=checker)).status_code == 200
    assert [one["act"] for one in data_of(await market.client.get(path, headers=checker))] == ["resolution_approved"]
    assert data_of(await market.client.get(path, headers=market.as_staff("support_agent"))) == []
    # The buyer's own cancellation is that of no member of staff.
    own = await market.paid()
    await market.post(own, "cancel", market.as_buyer(), {"reason": "changed my mind"})
    stored = await market.fetch("SELECT actor_id, actor_role FROM order_history WHERE event = 'buyer_cancels'")
    assert [tuple(row) for row in stored] == [(market.buyer_id, "buyer")]
