"""The part of `GET /api/work` that orders counts (contract section 13.6)."""

from datetime import timedelta

import pytest

from common.primitives.clock import iso
from common.primitives.ids import new_id
from testkit.work import work_of

from .conftest import Market
from .dispute_steps import decide, disputed, prepared
from .steps import delivered_order, proposed_sale, requested_return


async def test_paid_orders_wait_for_their_vendor_until_the_idle_window_ends(market: Market) -> None:
    await market.paid()
    dispatched = await market.paid()
    await market.post(dispatched, "dispatch", market.as_merchant())
    paid_at = market.clock.now()
    market.clock.advance(timedelta(minutes=10))
    waiting = (await work_of(market.client, market.as_merchant()))["orders_to_dispatch"]
    assert waiting == {
        "kind": "orders_to_dispatch",
        "count": 1,
        "oldestAt": iso(paid_at),
        "respondBy": iso(paid_at + timedelta(hours=72)),
        "link": "/api/orders?as=vendor&status=paid_escrow",
    }
    assert await work_of(market.client, market.as_merchant(vendor_id=new_id())) == {}


async def test_a_proposed_sale_waits_for_its_vendor_alone(market: Market) -> None:
    sale = await proposed_sale(market, await market.sell(price_minor=1_000, stock=30))
    work = await work_of(market.client, market.as_merchant())
    assert (work["flash_sales_to_approve"]["count"], work["flash_sales_to_approve"]["respondBy"]) == (1, sale["endsAt"])
    campus_admin = market.as_staff("campus_admin", market.campus_id)
    assert await work_of(market.client, campus_admin) == {}
    await market.client.post(f"/api/flash-sales/{sale['id']}/approve", json={}, headers=market.as_merchant())
    assert await work_of(market.client, market.as_merchant()) == {}


async def test_a_dispute_waits_for_support_and_then_for_a_checker(market: Market) -> None:
    first, second = await disputed(market), await disputed(market)
    support, checker = market.as_staff("support_agent"), market.as_staff("finance_checker")
    assert (await work_of(market.client, support))["disputes_to_resolve"]["count"] == 2
    assert await work_of(market.client, checker) == {}
    resolution = await prepared(market, first, "buyer")
    assert (await work_of(market.client, support))["disputes_to_resolve"]["count"] == 1
    assert (await work_of(market.client, checker))["dispute_resolutions_to_approve"]["count"] == 1
    await decide(market, resolution, "reject")
    assert (await work_of(market.client, support))["disputes_to_resolve"]["count"] == 2
    await decide(market, await prepared(market, first, "buyer"))
    await decide(market, await prepared(market, second, "vendor"))
    assert await work_of(market.client, support) == await work_of(market.client, checker) == {}


async def test_a_prepared_resolution_does_not_wait_for_its_maker_under_another_role(market: Market) -> None:
    order, maker = await disputed(market), new_id()
    both = market.headers(maker, roles=("support_agent", "finance_checker"))
    await market.post(order, "resolve", both, {"outcome": "buyer"})
    assert await work_of(market.client, both) == {}
    assert (await work_of(market.client, market.as_staff("finance_checker")))["dispute_resolutions_to_approve"]


async def test_no_user_is_shown_a_decision_on_an_order_of_their_own(market: Market) -> None:
    order, other = await disputed(market), await disputed(market)
    await prepared(market, other, "buyer")
    buyer = market.headers(market.buyer_id, roles=("buyer", "support_agent", "finance_checker"))
    vendor = market.headers(
        new_id(), roles=("merchant", "support_agent", "finance_checker"), vendor_id=market.vendor_id
    )
    for party in (buyer, vendor):
        assert await work_of(market.client, party) == {}
        resolved = await market.post(order, "resolve", party, {"outcome": "buyer"})
        assert resolved.status_code == 403


async def test_a_return_request_waits_for_its_vendor_and_support_until_the_decision(market: Market) -> None:
    order = await delivered_order(market, (1_000, 2))
    requested = await requested_return(market, order, 1)
    support, link = market.as_staff("support_agent"), "/api/return-requests?awaiting=decision"
    for headers in (market.as_merchant(), support):
        waiting = (await work_of(market.client, headers))["return_requests_to_decide"]
        assert (waiting["count"], waiting["link"]) == (1, link)
    # The buyer decides on nothing, whatever else they are.
    buyer = market.headers(market.buyer_id, roles=("buyer", "merchant", "support_agent"), vendor_id=market.vendor_id)
    assert await work_of(market.client, buyer) == {}
    assert await work_of(market.client, market.as_merchant(vendor_id=new_id())) == {}
    await market.client.post(f"/api/return-requests/{requested['id']}/approve", json={}, headers=support)
    assert await work_of(market.client, support) == await work_of(market.client, market.as_merchant()) == {}


@pytest.mark.parametrize("role", ["auditor", "hub_agent", "finance_maker", "platform_admin"])
async def test_who_decides_nothing_has_no_work(market: Market, role: str) -> None:
    await disputed(market)
    await market.paid()
    assert await work_of(market.client, market.as_staff(role, market.campus_id)) == {}


async def test_work_is_for_staff_and_vendors_and_has_no_parameters(market: Market) -> None:
    assert (await market.client.get("/api/work", headers=market.as_buyer())).status_code == 403
    assert (await market.client.get("/api/work")).status_code == 401
    refused = await market.client.get("/api/work?kind=alerts", headers=market.as_merchant())
    assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "kind")


async def test_a_dead_letter_waits_for_on_call_staff_until_its_replay(market: Market) -> None:
    letter_id = new_id()
    await market.fetch(
        "INSERT INTO dead_letters (id, queue, event_type, body, headers, error, attempts) "
        "VALUES ($1, 'orders', 'payments.escrow_held.v1', '', '{}', 'boom', 6)",
        letter_id,
    )
    ops = market.as_staff("ops_oncall")
    assert (await work_of(market.client, ops))["dead_letters"]["link"] == "/api/dead-letters/orders?awaiting=replay"
    await market.fetch("UPDATE dead_letters SET replayed_at = now() WHERE id = $1", letter_id)
    assert await work_of(market.client, ops) == {}
    shown = await market.client.get("/api/dead-letters/orders", headers=ops)
    assert shown.json()["meta"]["total"] == 1
