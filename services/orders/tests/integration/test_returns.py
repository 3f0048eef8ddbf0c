import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, STEP_UP_REQUIRED, data_of, error_of, invalid_field_of
from testkit.service_kit import second_factor_at

from .conftest import Market
from .factories import escrow_refunded, refund_failed, refund_settled
from .steps import decide_return, delivered_order, request_return, requested_return


async def approved(market: Market, order, *quantities):
    return data_of(await decide_return(market, await requested_return(market, order, *quantities)))


async def refunds(market: Market):
    return [event["amountMinor"] for event in await market.published("orders.refund_requested.v1")]


async def test_a_return_request_of_a_delivered_order_is_visible_to_its_parties(market: Market) -> None:
    order = await delivered_order(market, (150_000, 3))
    request = await requested_return(market, order, 2)
    item = order["items"][0]
    assert (request["status"], request["orderId"], request["refundMinor"]) == ("requested", order["id"], None)
    assert request["items"] == [
        {
            "itemId": item["id"],
            "productId": item["productId"],
            "variantId": None,
            "name": item["name"],
            "quantity": 2,
            "unitPriceMinor": 150_000,
        }
    ]
    [event] = await market.published("orders.return_requested.v1")
    assert (event["returnRequestId"], event["orderId"], event["vendorId"]) == (
        request["id"],
        order["id"],
        order["vendorId"],
    )
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        shown = await market.client.get(f"/api/return-requests/{request['id']}", headers=headers)
        listed = await market.client.get(f"/api/orders/{order['id']}/return-requests", headers=headers)
        assert shown.json()["data"] == request
        assert listed.json()["data"] == [request]
    for headers in (market.as_buyer(new_id()), market.as_merchant(vendor_id=new_id())):
        for path in (f"/api/return-requests/{request['id']}", f"/api/orders/{order['id']}/return-requests"):
            assert (await market.client.get(path, headers=headers)).status_code == 404
        assert (await request_return(market, order, 1, headers=headers)).status_code == 404
    assert (await decide_return(market, request, headers=market.as_merchant(vendor_id=new_id()))).status_code == 404


async def test_staff_decide_a_return_only_with_a_recent_second_factor(market: Market) -> None:
    order = await delivered_order(market, (150_000, 3), (70_000, 1), fee_minor=30_000)
    request = await requested_return(market, order, 1)
    earlier = second_factor_at(market.clock.now() - timedelta(minutes=16))
    for factor in ({"stepped_up": False}, {"amr": [earlier]}):
        for verb in ("approve", "reject"):
            refused = await decide_return(market, request, verb, market.as_staff("support_agent", **factor))
            assert error_of(refused) == STEP_UP_REQUIRED
    shown = await market.client.get(f"/api/return-requests/{request['id']}", headers=market.as_buyer())
    assert shown.json()["data"]["status"] == "requested"


@pytest.mark.parametrize("by", ["vendor", "support"])
async def test_an_approval_refunds_the_items_once(market: Market, by: str) -> None:
    order = await delivered_order(market, (150_000, 3), (70_000, 1), fee_minor=30_000)
    request = await requested_return(market, order, 2)
    headers = market.as_merchant() if by == "vendor" else market.as_staff("support_agent")
    responses = await asyncio.gather(
        *(decide_return(market, request, headers=headers, body={"reason": "sorry"}) for _ in range(5))
    )
    assert {response.status_code for response in responses} == {200}
    decided = responses[0].json()["data"]
    assert (decided["status"], decided["refundMinor"], decided["decisionReason"]) == ("approved", 300_000, "sorry")
    [refund] = await market.published("orders.refund_requested.v1")
    assert (refund["amountMinor"], refund["refundId"]) == (300_000, decided["refundId"])
    [event] = await market.published("orders.return_decided.v1")
    assert (event["outcome"], event["refundMinor"]) == ("approved", 300_000)
    assert await market.status_of(order) == "delivered"
    assert (await decide_return(market, request, "reject", headers)).status_code == 409


async def test_a_refund_of_items_states_their_commission_and_no_delivery_fee(market: Market) -> None:
    order = await delivered_order(market, (1_000_000, 1), (100, 1), fee_minor=30_000)
    await approved(market, order, 1)
    [refund] = await market.published("orders.refund_requested.v1")
    parts = (refund["amountMinor"], refund["commissionMinor"], refund["deliveryFeeMinor"])
    assert parts == (1_000_000, 50_000, 0)
    # The last one is the rest of the order, with the rest of each part.
    await approved(market, order, 0, 1)
    [_, last] = await market.published("orders.refund_requested.v1")
    assert (last["amountMinor"], "commissionMinor" in last) == (30_100, False)


@pytest.mark.parametrize("released", [False, True])
async def test_refunded_minor_grows_when_the_refund_is_posted_before_and_after_the_release(
    market: Market, released: bool
) -> None:
    order = await delivered_order(market, (100_000, 2))
    if released:
        await market.release(order)
    await approved(market, order, 1)
    assert (await market.show(order))["refundedMinor"] == 0
    [event] = await market.published("orders.refund_requested.v1")
    remaining_minor = 0 if released else 100_000
    await market.receive(escrow_refunded(order, event["refundId"], 100_000, remaining_minor=remaining_minor))
    await market.receive(refund_settled(order, event["refundId"], 100_000))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("paid" if released else "delivered", 100_000)
    if not released:
        await market.release(order)
        assert await market.status_of(order) == "paid"


@pytest.mark.parametrize("released", [False, True])
async def test_when_everything_came_back_the_order_is_refunded_with_its_delivery_fee(
    market: Market, released: bool
) -> None:
    order = await delivered_order(market, (100_000, 2), (50_000, 1), fee_minor=30_000)
    if released:
        await market.release(order)
    assert (await approved(market, order, 1))["refundMinor"] == 100_000
    assert await market.status_of(order) == ("paid" if released else "delivered")
    assert (await approved(market, order, 1, 1))["refundMinor"] == 180_000
    assert await market.status_of(order) == "refunded"
    assert sum(await refunds(market)) == order["totalMinor"]
    assert (await request_return(market, order, 1)).status_code == 409


@pytest.mark.parametrize("fails_first", [False, True])
async def test_a_completely_returned_order_is_refunded_when_none_of_its_refunds_is_failed(
    market: Market, fails_first: bool
) -> None:
    order = await delivered_order(market, (100_000, 2))
    await approved(market, order, 1)
    first = (await market.published("orders.refund_requested.v1"))[-1]["refundId"]
    if fails_first:
        await market.receive(refund_failed(order, first, 100_000))
        assert await market.status_of(order) == "delivered"
    await approved(market, order, 1)
    second = (await market.published("orders.refund_requested.v1"))[-1]["refundId"]
    if not fails_first:
        assert await market.status_of(order) == "refunded"
        await market.receive(refund_failed(order, first, 100_000))
    assert await market.status_of(order) == "refund_pending"
    await market.receive(refund_settled(order, second, 100_000))
    assert await market.status_of(order) == "refund_pending"
    await market.receive(refund_settled(order, first, 100_000))
    assert await market.status_of(order) == "refunded"


async def test_returned_units_do_not_return_to_the_stock(market: Market) -> None:
    order = await delivered_order(market, (100_000, 1))
    await approved(market, order, 1)
    assert await market.stock_of(UUID(order["items"][0]["productId"])) == 98


async def test_after_a_split_dispute_returns_are_refunded_in_proportion(market: Market) -> None:
    product = await market.sell(price_minor=100_001, stock=9)
    order = await market.paid(product_id=product, quantity=3)
    await market.post(order, "dispute", market.as_buyer(), {"reason": "late", "details": "very"})
    split = {"outcome": "split", "refundMinor": 100_000}
    resolved = await market.post(order, "resolve", market.as_staff("support_agent"), split)
    assert (await market.approve_resolution(resolved.json()["data"]["resolutionId"])).status_code == 200
    worth = [(await approved(market, order, 1))["refundMinor"] for _ in range(3)]
    assert worth == [66_667, 66_668, 66_668]
    assert sum(await refunds(market)) == order["totalMinor"]
    assert await market.status_of(order) == "refunded"


async def test_open_and_approved_requests_bound_what_is_left_and_rejected_ones_free_it(market: Market) -> None:
    order = await delivered_order(market, (100_000, 3))
    first = await requested_return(market, order, 2)
    assert invalid_field_of(await request_return(market, order, 2)) == (409, "items.0.quantity")
    rejected = await decide_return(market, first, "reject", body={"reason": "worn"})
    assert (rejected.json()["data"]["status"], rejected.json()["data"]["decisionReason"]) == ("rejected", "worn")
    assert (await decide_return(market, first, "reject")).status_code == 200
    assert (await decide_return(market, first)).status_code == 409
    assert await refunds(market) == []
    [event] = await market.published("orders.return_decided.v1")
    assert event["outcome"] == "rejected"
    await approved(market, order, 2)
    assert (await request_return(market, order, 2)).status_code == 409
    await requested_return(market, order, 1)
    assert (await request_return(market, order, 1)).status_code == 409


async def test_twenty_concurrent_return_requests_never_exceed_the_quantity_bought(market: Market) -> None:
    order = await delivered_order(market, (100_000, 7))
    responses = await asyncio.gather(*(request_return(market, order, 2) for _ in range(20)))
    assert sorted(response.status_code for response in responses) == [201] * 3 + [409] * 17
    requests = [response.json()["data"] for response in responses if response.status_code == 201]
    decided = await asyncio.gather(*(decide_return(market, request) for request in requests for _ in range(2)))
    assert {response.status_code for response in decided} == {200}
    assert await refunds(market) == [200_000] * 3


async def test_an_invalid_return_request_is_rejected_and_not_stored(market: Market) -> None:
    order = await delivered_order(market, (100_000, 2))
    item = order["items"][0]["id"]
    for items in (
        [],
        [{"itemId": item, "quantity": 3}],
        [{"itemId": item, "quantity": 0}],
        [{"itemId": item, "quantity": "1"}],
        [{"itemId": item, "quantity": 1}, {"itemId": item, "quantity": 1}],
        [{"itemId": str(new_id()), "quantity": 1}],
        [{"itemId": item}],
        [{"itemId": item, "quantity": 1, "refundMinor": 5}],
    ):
        assert error_of(await request_return(market, order, items=items)) == INVALID, items
    assert (await request_return(market, order, 1, reason=" ")).status_code == 422
    assert (await request_return(market, order, 1, headers=market.as_merchant())).status_code == 403
    assert await market.fetch("SELECT 1 FROM return_requests") == []


async def test_the_return_window_closes_seven_days_after_delivery(market: Market) -> None:
    order, late = await delivered_order(market, (100_000, 1)), await delivered_order(market, (100_000, 1))
    await market.release(late)
    market.clock.advance(timedelta(days=7) - timedelta(milliseconds=1))
    request = await requested_return(market, order, 1)
    market.clock.advance(timedelta(milliseconds=1))
    assert error_of(await request_return(market, late, 1)) == CONFLICT
    # A request that was made in time is decided at any later time.
    market.clock.advance(timedelta(days=30))
    assert (await decide_return(market, request)).status_code == 200


async def test_what_staff_released_without_a_delivery_may_come_back_as_long(market: Market) -> None:
    order = await market.paid()
    await market.release(order)
    assert (await market.show(order))["returnDueAt"] == "2026-01-12T12:00:00.000Z"
    market.clock.advance(timedelta(days=6))
    assert (await approved(market, order, 1))["refundMinor"] == order["totalMinor"]
    assert await market.status_of(order) == "refunded"


@pytest.mark.parametrize("state", ["Processing", "paid_escrow", "dispatched", "disputed", "refund_pending"])
async def test_only_what_was_delivered_can_be_returned(market: Market, state: str) -> None:
    order = await market.ordered()
    if state != "Processing":
        await market.pay(order)
    if state == "dispatched":
        await market.post(order, "dispatch", market.as_merchant())
    if state == "disputed":
        await market.post(order, "dispute", market.as_buyer(), {"reason": "x", "details": "y"})
    if state == "refund_pending":
        await market.post(order, "cancel", market.as_buyer(), {"reason": "x"})
    assert await market.status_of(order) == state
    assert (await request_return(market, order, 1)).status_code == 409


async def test_only_the_vendor_and_support_decide_and_never_the_buyer(market: Market) -> None:
    order = await delivered_order(market, (100_000, 1))
    request = await requested_return(market, order, 1)
    buyer_as_support = market.headers(market.buyer_id, roles=("support_agent",))
    for headers in (market.as_buyer(), market.as_staff("auditor"), buyer_as_support):
        for verb in ("approve", "reject"):
            assert error_of(await decide_return(market, request, verb, headers)) == FORBIDDEN
    merchant_who_bought_it = market.headers(market.buyer_id, roles=("buyer", "merchant"), vendor_id=new_id())
    assert (await decide_return(market, request, headers=merchant_who_bought_it)).status_code == 403
    for headers in (market.as_merchant(), market.as_staff("support_agent")):
        assert (await decide_return(market, {"id": new_id()}, headers=headers)).status_code == 404
    assert (await decide_return(market, request, body={"refundMinor": 1})).status_code == 422
    assert await refunds(market) == []


@pytest.mark.parametrize("verb", ["approve", "reject"])
async def test_without_the_right_role_a_decision_is_refused_before_the_row_is_looked_for(
    market: Market, verb: str
) -> None:
    """The order of checks (contract section 5): without the permission, known and unknown requests get the same
    response.
    """

    known = await requested_return(market, await delivered_order(market, (100_000, 1)), 1)
    for headers in (
        market.as_buyer(),
        market.as_buyer(new_id()),
        market.as_staff("auditor"),
        market.as_staff("finance_checker"),
        market.as_staff("hub_agent", market.campus_id),
    ):
        for request in (known, {"id": new_id()}):
            for body in ({}, {"unknown": 1}):
                assert error_of(await decide_return(market, request, verb, headers, body)) == FORBIDDEN
    assert (await decide_return(market, {"id": new_id()}, verb, body={"unknown": 1})).status_code == 422


async def test_an_approval_that_fails_before_its_commit_changes_nothing(market: Market) -> None:
    order = await delivered_order(market, (100_000, 1))
    request = await requested_return(market, order, 1)
    async with market.crashing():
        assert (await decide_return(market, request)).status_code == 500
    assert await market.status_of(order) == "delivered"
    assert await market.fetch("SELECT 1 FROM order_refunds") == []
    assert (await decide_return(market, request)).status_code == 200


async def test_the_requests_of_an_order_are_walked_by_cursor(market: Market) -> None:
    order = await delivered_order(market, (100_000, 5))
    made = [(await requested_return(market, order, 1))["id"] for _ in range(5)]
    url, seen, query = f"/api/orders/{order['id']}/return-requests", [], {"limit": 2}
    while True:
        response = (await market.client.get(url, params=query, headers=market.as_buyer())).json()
        seen += [request["id"] for request in response["data"]]
        if not response["meta"]["has_more"]:
            break
        query["cursor"] = response["meta"]["next_cursor"]
    assert seen == made[::-1]
    assert (await market.client.get(url, params=query, headers=market.as_merchant())).status_code == 422


async def test_a_bare_select_shows_return_requests_to_their_parties_only(market: Market) -> None:
    await requested_return(market, await delivered_order(market, (100_000, 1)), 1)
    buyer = {"user_id": market.buyer_id, "permissions": permissions_of(["buyer"])}
    other = {"user_id": new_id(), "permissions": permissions_of(["buyer"])}
    vendor = {"user_id": new_id(), "permissions": permissions_of(["merchant"]), "vendor_id": market.vendor_id}
    support = {"user_id": new_id(), "permissions": permissions_of(["support_agent"])}
    for claims, seen in ((buyer, 1), (other, 0), (vendor, 1), (support, 1)):
        async with market.unit_of_work(Caller(**claims)) as uow:
            for table in ("return_requests", "return_request_items"):
                assert len(await uow.fetch(f"SELECT * FROM {table}")) == seen


async def listed(market: Market, headers, **query):
    """All pages of a list of return requests, as ids."""
    seen, params = [], {"limit": 1, **query}
    while True:
        response = await market.client.get("/api/return-requests", params=params, headers=headers)
        seen += [request["id"] for request in data_of(response)]
        if not response.json()["meta"]["has_more"]:
            return seen
        params["cursor"] = response.json()["meta"]["next_cursor"]


async def test_each_party_lists_own_return_requests_and_support_lists_all(market: Market) -> None:
    first = await requested_return(market, await delivered_order(market, (100_000, 1)), 1)
    market.clock.advance(timedelta(seconds=1))
    second = await requested_return(market, await delivered_order(market, (100_000, 1)), 1)
    assert (await decide_return(market, first)).status_code == 200
    newest_first = [second["id"], first["id"]]
    for headers in (market.as_buyer(), market.as_merchant(), *map(market.as_staff, ("support_agent", "auditor"))):
        assert await listed(market, headers) == newest_first
        assert await listed(market, headers, status="requested") == [second["id"]]
        assert await listed(market, headers, status="approved") == [first["id"]]
        assert await listed(market, headers, status="rejected") == []
    for headers in (market.as_buyer(new_id()), market.as_merchant(new_id()), market.as_staff("campus_admin")):
        assert await listed(market, headers) == []
    own = await market.client.get("/api/return-requests", headers=market.as_buyer())
    one = await market.client.get(f"/api/return-requests/{second['id']}", headers=market.as_buyer())
    assert data_of(own)[0] == data_of(one)


async def test_a_buyer_who_is_a_vendor_lists_return_requests_of_both_sides(market: Market) -> None:
    sold = await requested_return(market, await delivered_order(market, (100_000, 1)), 1)
    other_vendor = new_id()
    market.vendor_id, vendor_id = other_vendor, market.vendor_id
    market.clock.advance(timedelta(seconds=1))
    market.buyer_id, buyer_id = market.merchant_id, market.buyer_id
    bought = await requested_return(market, await delivered_order(market, (100_000, 1)), 1)
    market.vendor_id, market.buyer_id = vendor_id, buyer_id
    assert await listed(market, market.as_merchant()) == [bought["id"], sold["id"]]


async def test_a_list_of_return_requests_rejects_unknown_parameters_and_foreign_cursors(market: Market) -> None:
    order = await delivered_order(market, (100_000, 2))
    for _ in range(2):
        await requested_return(market, order, 1)
    first = await market.client.get("/api/return-requests", params={"limit": 1}, headers=market.as_buyer())
    cursor = first.json()["meta"]["next_cursor"]
    rejected = [
        ({"status": "open"}, market.as_buyer(), "status"),
        ({"vendorId": str(market.vendor_id)}, market.as_buyer(), "vendorId"),
        ({"cursor": cursor, "status": "requested"}, market.as_buyer(), "cursor"),
        ({"cursor": cursor}, market.as_merchant(), "cursor"),
    ]
    for params, headers, name in rejected:
        response = await market.client.get("/api/return-requests", params=params, headers=headers)
        assert invalid_field_of(response) == (422, name)


async def test_a_return_request_repeated_under_its_key_gets_the_first_response(market: Market) -> None:
    order = await delivered_order(market, (150_000, 3))
    headers = market.as_buyer(idempotency_key=uuid4())
    first = data_of(await request_return(market, order, 1, headers=headers), 201)
    assert data_of(await request_return(market, order, 1, headers=headers), 201) == first
    assert error_of(await request_return(market, order, 2, headers=headers)) == INVALID
    assert len(await market.published("orders.return_requested.v1")) == 1
