"""Disputes: who opens one, where the money goes by outcome, and in which order events may arrive
(contract section 6).
"""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from common.primitives.ids import new_id
from orders.timers import fire_timers_once

from .conftest import Market
from .dispute_steps import COMPLAINT, ROUNDS, decide, disputed, events, prepared, shown_dispute
from .factories import escrow_refunded, refund_settled


@pytest.mark.parametrize("dispatched", [False, True])
async def test_the_buyer_disputes_a_paid_order_once_and_it_waits_for_staff(market: Market, dispatched: bool) -> None:
    order = await market.paid()
    if dispatched:
        await market.post(order, "dispatch", market.as_merchant())
    responses = [await market.post(order, "dispute", market.as_buyer(), COMPLAINT) for _ in range(2)]
    assert [(response.status_code, response.json()["data"]["status"]) for response in responses] == [
        (200, "disputed")
    ] * 2
    assert [(event["orderId"], event["reason"]) for event in await events(market, "order_disputed")] == [
        (order["id"], "never came")
    ]
    assert await market.fetch("SELECT 1 FROM order_timers") == []
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        shown = await market.client.get(f"/api/orders/{order['id']}/dispute", headers=headers)
        assert {**COMPLAINT, "cause": "buyer", "raisedBy": order["buyerId"]}.items() <= shown.json()["data"].items()
    outsiders = (market.as_buyer(new_id()), market.as_merchant(vendor_id=new_id()))
    for headers in outsiders:
        assert (await market.client.get(f"/api/orders/{order['id']}/dispute", headers=headers)).status_code == 404


async def test_a_delivery_without_a_proof_in_time_is_disputed_and_resolved_as_any_other(market: Market) -> None:
    order = await market.paid()
    await market.post(order, "dispatch", market.as_merchant())
    market.clock.advance(timedelta(days=14))
    assert await fire_timers_once(market.dependencies) == 1
    shown = await market.client.get(f"/api/orders/{order['id']}/dispute", headers=market.as_buyer())
    assert (shown.json()["data"]["cause"], shown.json()["data"]["details"]) == ("pin_window", None)
    assert (await decide(market, await prepared(market, order, "vendor"))).json()["data"]["status"] == "delivered"


async def test_who_may_not_dispute_and_what_is_no_complaint_changes_nothing(market: Market) -> None:
    order = await market.paid()
    for headers, status in (
        (market.as_merchant(), 403),
        (market.as_staff("support_agent"), 403),
        (market.as_buyer(new_id()), 404),
    ):
        assert (await market.post(order, "dispute", headers, COMPLAINT)).status_code == status
    for body in ({}, {"reason": "x"}, {**COMPLAINT, "status": "paid"}, {"reason": " ", "details": "x"}):
        assert (await market.post(order, "dispute", market.as_buyer(), body)).status_code == 422
    assert await market.status_of(order) == "paid_escrow"
    assert await events(market, "order_disputed") == []


async def test_resolved_for_the_buyer_everything_goes_back(market: Market) -> None:
    order = await disputed(market)
    total = order["totalMinor"]
    resolution = await prepared(market, order, "buyer")
    response = await decide(market, resolution)
    assert (response.status_code, response.json()["data"]["status"]) == (200, "refund_pending"), response.text
    [refund] = await events(market, "refund_requested")
    assert refund["amountMinor"] == total
    [resolved] = await events(market, "dispute_resolved")
    assert (resolved["outcome"], resolved["refundMinor"], resolved["releaseMinor"], resolved["refundId"]) == (
        "buyer",
        total,
        0,
        refund["refundId"],
    )
    await market.receive(escrow_refunded(order, refund["refundId"], total))
    await market.receive(refund_settled(order, refund["refundId"], total))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("refunded", total)


async def test_resolved_for_the_vendor_all_that_is_held_is_released(market: Market) -> None:
    order = await disputed(market)
    response = await decide(market, await prepared(market, order, "vendor"))
    assert (response.status_code, response.json()["data"]["status"]) == (200, "delivered")
    assert await events(market, "refund_requested") == []
    # No second release in addition to the resolution's: the PIN was not accepted.
    assert await events(market, "order_delivered") == []
    [resolved] = await events(market, "dispute_resolved")
    assert (resolved["refundMinor"], resolved["releaseMinor"], resolved.get("refundId")) == (
        0,
        order["totalMinor"],
        None,
    )
    await market.release(order)
    assert await market.status_of(order) == "paid"


@pytest.mark.parametrize("refund_first", [True, False])
async def test_a_split_ends_paid_whichever_half_payments_posts_first(market: Market, refund_first: bool) -> None:
    order = await disputed(market)
    total, refund_minor = order["totalMinor"], 40_000
    await decide(market, await prepared(market, order, "split", refund_minor))
    [refund] = await events(market, "refund_requested")
    [resolved] = await events(market, "dispute_resolved")
    assert (refund["amountMinor"], resolved["releaseMinor"]) == (refund_minor, total - refund_minor)
    if refund_first:
        await market.receive(
            escrow_refunded(order, refund["refundId"], refund_minor, remaining_minor=total - refund_minor)
        )
        await market.release(order)
    else:
        await market.release(order, remaining_minor=refund_minor)
        assert await market.status_of(order) == "delivered"
        await market.receive(escrow_refunded(order, refund["refundId"], refund_minor))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("paid", refund_minor)
    assert len(await events(market, "order_completed")) == 1


async def test_the_posting_that_arrives_after_its_settlement_still_completes_a_split(market: Market) -> None:
    order = await disputed(market)
    await decide(market, await prepared(market, order, "split", 40_000))
    [refund] = await events(market, "refund_requested")
    await market.release(order, remaining_minor=40_000)
    await market.receive(refund_settled(order, refund["refundId"], 40_000))
    assert await market.status_of(order) == "delivered"
    await market.receive(escrow_refunded(order, refund["refundId"], 40_000))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("paid", 40_000)


@pytest.mark.parametrize(("released_before", "refund", "released"), [(50_000, 60_000, 40_000), (100_000, 60_000, 0)])
async def test_what_staff_released_before_the_dispute_is_not_released_again(
    market: Market, released_before: int, refund: int, released: int
) -> None:
    order = await market.paid()
    total = order["totalMinor"]
    await market.release(order, remaining_minor=total - released_before)
    await market.post(order, "dispute", market.as_buyer(), COMPLAINT)
    await decide(market, await prepared(market, order, "split", refund))
    [resolved] = await events(market, "dispute_resolved")
    assert (total, resolved["refundMinor"], resolved["releaseMinor"]) == (150_000, refund, released)


async def test_an_older_escrow_event_never_overwrites_a_newer_one(market: Market) -> None:
    order = await market.paid()
    await market.release(order, remaining_minor=30_000, sequence=9)
    await market.release(order, remaining_minor=70_000, sequence=8)
    await market.post(order, "dispute", market.as_buyer(), COMPLAINT)
    await decide(market, await prepared(market, order, "vendor"))
    [resolved] = await events(market, "dispute_resolved")
    assert resolved["releaseMinor"] == 30_000


async def test_a_full_release_before_the_freeze_closes_the_dispute_and_is_published(market: Market) -> None:
    order = await disputed(market)
    resolution = await prepared(market, order, "buyer")
    await market.release(order)
    assert await market.status_of(order) == "paid"
    [resolved] = await events(market, "dispute_resolved")
    assert (resolved["refundMinor"], resolved["releaseMinor"]) == (0, 0)
    assert (await decide(market, resolution)).status_code == 409
    assert await events(market, "refund_requested") == []
    assert (await decide(market, resolution, "reject")).status_code == 200
    assert await market.status_of(order) == "paid"
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        dispute = await shown_dispute(market, order, headers)
        assert (dispute["outcome"], dispute["endedAt"]) == ("released", "2026-01-05T12:00:00.000Z")


@pytest.mark.parametrize("outcome", ["buyer", "vendor", "split"])
async def test_a_closed_dispute_shows_its_outcome(market: Market, outcome: str) -> None:
    order = await disputed(market)
    assert [(await shown_dispute(market, order))[name] for name in ("outcome", "endedAt")] == [None, None]
    resolution = await prepared(market, order, outcome, 1 if outcome == "split" else None)
    assert (await decide(market, resolution)).status_code == 200
    dispute = await shown_dispute(market, order)
    assert (dispute["outcome"], dispute["endedAt"]) == (outcome, "2026-01-05T12:00:00.000Z")


async def test_a_dispute_and_the_right_pin_at_once_have_one_end_and_the_money_follows(
    market: Market,
) -> None:
    """Fifty times: the second one is rejected because the order has changed, and publishes nothing."""
    product = await market.sell(stock=ROUNDS)
    outcomes = {"delivered": 0, "disputed": 0}
    for number in range(ROUNDS):
        order = await market.paid(product_id=product)
        pin = await market.pin_of(order)
        both = [
            market.post(order, "dispute", market.as_buyer(), COMPLAINT),
            market.verify(order, pin, key=uuid4(), headers=market.as_merchant()),
        ]
        if number % 2:
            both.reverse()
        responses = await asyncio.gather(*both)
        assert sorted(response.status_code for response in responses) == [200, 409]
        end = next(response for response in responses if response.status_code == 200).json()["data"]["status"]
        assert await market.status_of(order) == end
        outcomes[end] += 1
    delivered = {event["orderId"] for event in await events(market, "order_delivered")}
    frozen = {event["orderId"] for event in await events(market, "order_disputed")}
    assert (len(delivered), len(frozen)) == (outcomes["delivered"], outcomes["disputed"])
    assert not delivered & frozen
    assert all(outcomes.values())
