import re
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from common.auth.api_keys import KEY_AUDIENCE
from common.primitives.ids import new_id
from testkit.responses import FORBIDDEN, NOT_FOUND, UNAUTHORIZED, error_of, invalid_field_of

from .conftest import Market
from .steps import list_order_ids, visible_ids


@pytest.fixture
async def two_orders(market: Market):
    """One of the buyer at the market's vendor and a hub; one of another buyer at another vendor on another campus."""
    mine = await market.paid(hubId=await market.hub())
    foreign = await market.sell(vendor_id=new_id(), campus_id=new_id())
    theirs = await market.paid(product_id=foreign, buyer_id=new_id())
    return mine, theirs


async def test_row_security_holds_even_when_the_query_forgets_its_filter(market: Market, two_orders) -> None:
    mine, theirs = two_orders
    both = {mine["id"], theirs["id"]}
    for table in ("orders", "order_items"):
        assert await visible_ids(market, table, market.buyer_id) == {mine["id"]}
        assert await visible_ids(market, table, new_id()) == set()
        assert await visible_ids(market, table, new_id(), roles=("buyer", "merchant"), vendor_id=market.vendor_id) == {
            mine["id"]
        }
        assert await visible_ids(market, table, new_id(), roles=("buyer",), vendor_id=market.vendor_id) == set()
        assert await visible_ids(market, table, new_id(), roles=("hub_agent",), hub_id=UUID(mine["hubId"])) == {
            mine["id"]
        }
        assert await visible_ids(market, table, new_id(), roles=("buyer",), campus_id=market.campus_id) == set()
        assert await visible_ids(market, table, new_id(), roles=("support_agent",)) == both
        assert await visible_ids(market, table, new_id(), roles=("auditor",)) == both
        assert await visible_ids(market, table, new_id(), roles=("finance_maker",)) == both
        assert await visible_ids(market, table, new_id(), roles=("ops_oncall", "platform_admin")) == set()


async def test_the_pins_row_is_its_buyers_alone_and_its_digest_nobodys(market: Market, two_orders) -> None:
    mine, _ = two_orders
    assert await visible_ids(market, "delivery_pins", market.buyer_id) == {mine["id"]}
    for claims in (
        {"roles": ("buyer", "merchant"), "vendor_id": market.vendor_id},
        {"roles": ("hub_agent",), "hub_id": UUID(mine["hubId"])},
        {"roles": ("support_agent",)},
        {"roles": ("auditor",)},
    ):
        assert await visible_ids(market, "delivery_pins", new_id(), **claims) == set()
    caller = await market.runtime.verifier.caller_of(market.token(market.buyer_id))
    for statement in (
        "SELECT digest FROM delivery_pins",
        "UPDATE delivery_pins SET wrong_tries = 0",
        "SELECT * FROM order_timers",
        "SELECT * FROM order_refunds",
        "SELECT * FROM delivery_verifications",
        "UPDATE orders SET status = 'paid'",
        # Stock is written under the policies of merchants (test_merchants); ratings by reviews alone.
        "UPDATE products SET rating_count = 1000",
        "DELETE FROM orders",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with market.unit_of_work(caller) as uow:
                await uow.execute(statement)


async def test_every_table_of_the_api_role_has_row_security(market: Market) -> None:
    rows = await market.fetch(
        """
        SELECT DISTINCT relname FROM pg_class, aclexplode(relacl) AS granted
        WHERE relkind = 'r' AND granted.grantee = 'campus_orders_api'::regrole AND NOT relrowsecurity
        """
    )
    # The outbox is written by every caller's transaction; sequences hold no content.
    assert {row["relname"] for row in rows} <= {"outbox", "outbox_sequences"}


async def test_the_row_policies_of_orders_read_the_caller_once_per_statement(market: Market) -> None:
    """A policy that is evaluated for each row makes the planner expect one row, and a page sorts every order of its
    buyer.
    """
    policies = await market.fetch(
        "SELECT qual FROM pg_policies WHERE tablename IN ('orders', 'order_items') AND cmd = 'SELECT'"
    )
    assert len(policies) == 6
    for policy in policies:
        assert "app_" not in re.sub(r"\( SELECT app_\w+\([^()]*\) AS \w+\)", "", policy["qual"])


async def test_a_foreign_order_equals_an_absent_one(market: Market, two_orders) -> None:
    _, theirs = two_orders
    for path in ("", "/items", "/delivery-pin"):
        foreign = await market.client.get(f"/api/orders/{theirs['id']}{path}", headers=market.as_buyer())
        absent = await market.client.get(f"/api/orders/{new_id()}{path}", headers=market.as_buyer())
        assert error_of(foreign) == NOT_FOUND
        same = ("status", "title", "detail", "code", "invalid_params", "type")
        assert [foreign.json()[name] for name in same] == [absent.json()[name] for name in same]


async def test_a_hub_agent_sees_the_parcels_of_their_own_hub_only(market: Market) -> None:
    near, far = await market.paid(hubId=await market.hub()), await market.paid(hubId=await market.hub())
    without_hub = await market.paid()
    agent = market.as_agent(near)
    same = ("status", "title", "detail", "code", "invalid_params", "type")
    absent = await market.client.get(f"/api/orders/{new_id()}", headers=agent)
    for hidden in (far, without_hub):
        for path in ("", "/items", "/timeline"):
            response = await market.client.get(f"/api/orders/{hidden['id']}{path}", headers=agent)
            assert [response.json()[name] for name in same] == [absent.json()[name] for name in same]
        assert error_of(await market.verify(hidden, await market.pin_of(hidden), headers=agent)) == NOT_FOUND
        assert await list_order_ids(market, agent, q=hidden["number"]) == []
    assert await list_order_ids(market, agent) == await list_order_ids(market, agent, q=near["number"]) == [near["id"]]
    for table in ("orders", "order_items", "order_history"):
        assert await visible_ids(market, table, new_id(), roles=("hub_agent",), hub_id=UUID(near["hubId"])) == {
            near["id"]
        }


async def test_an_agent_whose_token_names_no_hub_sees_no_order(market: Market) -> None:
    """A token of the version before has no `hub_id`, until its next refresh."""
    await market.paid(hubId=await market.hub())
    await market.paid()
    earlier = {"roles": ["hub_agent"], "vendor_id": None, "campus_id": str(market.campus_id)}
    headers = market.as_staff("hub_agent", market.campus_id, app_metadata=earlier)
    assert await list_order_ids(market, headers) == await list_order_ids(market, headers, **{"as": "hub"}) == []
    for table in ("orders", "order_items", "order_history"):
        assert await visible_ids(market, table, new_id(), roles=("hub_agent",), app_metadata=earlier) == set()


async def test_lists_show_each_party_their_orders(market: Market, two_orders) -> None:
    mine, _ = two_orders
    bought = await market.ordered(await market.sell(vendor_id=new_id()), buyer_id=market.merchant_id)
    assert await list_order_ids(market, market.as_buyer()) == [mine["id"]]
    assert await list_order_ids(market, market.as_buyer(new_id())) == []
    assert sorted(await list_order_ids(market, market.as_merchant())) == sorted([mine["id"], bought["id"]])
    assert await list_order_ids(market, market.as_agent(mine)) == [mine["id"]]
    assert len(await list_order_ids(market, market.as_staff("support_agent"))) == 3
    assert error_of(await market.client.get("/api/orders")) == UNAUTHORIZED


@pytest.fixture
async def three_parts(market: Market):
    """Return the merchant's own purchase, a sale of their vendor, and a sale of another vendor at a hub."""
    bought = await market.paid(
        product_id=await market.sell(vendor_id=new_id(), campus_id=new_id()), buyer_id=market.merchant_id
    )
    sold = await market.paid()
    at_hub = await market.ordered(await market.sell(vendor_id=new_id()), buyer_id=new_id(), hubId=await market.hub())
    return bought, sold, at_hub


async def test_a_list_is_narrowed_to_the_caller_s_part(market: Market, three_parts) -> None:
    bought, sold, at_hub = three_parts
    merchant = market.as_merchant()
    assert await list_order_ids(market, merchant, **{"as": "buyer"}) == [bought["id"]]
    assert await list_order_ids(market, merchant, **{"as": "vendor"}) == [sold["id"]]
    assert await list_order_ids(market, merchant, **{"as": "hub"}) == []
    hub = market.as_agent(at_hub)
    assert await list_order_ids(market, hub, **{"as": "hub"}) == [at_hub["id"]]
    assert await list_order_ids(market, hub, **{"as": "buyer"}) == []
    assert await list_order_ids(market, market.as_staff("support_agent"), **{"as": "buyer"}) == []
    assert await list_order_ids(market, market.as_buyer(), **{"as": "vendor"}) == []


async def test_a_list_is_narrowed_by_status_and_time(market: Market) -> None:
    product = await market.sell()
    first = await market.paid(product_id=product)
    market.clock.advance(timedelta(hours=1))
    second = await market.ordered(product)
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("auditor")):
        assert await list_order_ids(market, headers, status="paid_escrow") == [first["id"]]
        assert await list_order_ids(market, headers, status="disputed") == []
        assert await list_order_ids(market, headers, **{"from": second["createdAt"]}) == [second["id"]]
        assert await list_order_ids(market, headers, to=second["createdAt"]) == [first["id"]]
        narrowed = {"from": first["createdAt"], "to": second["createdAt"], "status": "paid_escrow"}
        assert await list_order_ids(market, headers, **narrowed) == [first["id"]]


async def test_q_finds_own_orders_with_all_words_in_one_item(market: Market) -> None:
    jollof = await market.ordered(await market.sell(name="Jollof rice with Ẹ̀wà"))
    fried = await market.ordered(await market.sell(name="Fried rice"))
    foreign = await market.ordered(await market.sell(name="Jollof rice"), buyer_id=new_id())
    mine = market.as_buyer()
    assert await list_order_ids(market, mine, q="rice") == [fried["id"], jollof["id"]]
    assert await list_order_ids(market, mine, q="JOL ric") == [jollof["id"]]
    assert await list_order_ids(market, mine, q="ewa") == [jollof["id"]]
    for nothing in ("fried jollof", "beans", "!!!", "rice' | '"):
        assert foreign["id"] not in await list_order_ids(market, mine, q=nothing)
    assert await list_order_ids(market, mine, q="fried jollof") == await list_order_ids(market, mine, q="!!!") == []
    assert foreign["id"] in await list_order_ids(market, market.as_staff("support_agent"), q="jollof")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("as", "staff"),
        ("status", "lost"),
        ("from", "yesterday"),
        ("to", "1"),
        ("q", ""),
        ("q", "x" * 201),
        ("vendor", "x"),
    ],
)
async def test_a_filter_that_is_none_is_named(market: Market, name: str, value) -> None:
    response = await market.client.get("/api/orders", params={name: value}, headers=market.as_buyer())
    assert invalid_field_of(response) == (422, name)


async def test_a_cursor_belongs_to_its_filters_and_walks_within_them(market: Market) -> None:
    product = await market.sell()
    paid = [(await market.paid(product_id=product))["id"] for _ in range(3)]
    await market.ordered(product)
    query = {"status": "paid_escrow", "limit": 2}
    first = (await market.client.get("/api/orders", params=query, headers=market.as_buyer())).json()
    cursor = first["meta"]["next_cursor"]
    rest = await list_order_ids(market, market.as_buyer(), **query, cursor=cursor)
    assert {order["id"] for order in first["data"]} | set(rest) == set(paid)
    for other in ({"status": "delivered"}, {}, {"status": "paid_escrow", "as": "buyer"}):
        response = await market.client.get("/api/orders", params={**other, "cursor": cursor}, headers=market.as_buyer())
        assert invalid_field_of(response) == (422, "cursor")


async def test_the_commission_is_shown_to_the_vendor_and_to_staff_only(market: Market, two_orders) -> None:
    mine, _ = two_orders
    seen = {
        name: "commissionMinor" in await market.show(mine, headers)
        for name, headers in {
            "buyer": market.as_buyer(),
            "vendor": market.as_merchant(),
            "hub": market.as_agent(mine),
            "support": market.as_staff("support_agent"),
            "auditor": market.as_staff("auditor"),
        }.items()
    }
    assert seen == {"buyer": False, "vendor": True, "hub": True, "support": True, "auditor": True}


async def test_the_items_of_an_order_have_row_security_of_their_own(market: Market, two_orders) -> None:
    mine, _ = two_orders
    response = await market.client.get(f"/api/orders/{mine['id'].upper()}/items", headers=market.as_buyer())
    assert (response.status_code, response.json()["data"]) == (200, mine["items"])


@pytest.mark.parametrize("role", ["buyer", "merchant", "auditor"])
async def test_a_walk_through_orders_while_others_are_placed_gives_each_exactly_once(market: Market, role: str) -> None:
    product = await market.sell(stock=1_000)
    headers = {
        "buyer": market.as_buyer(),
        "merchant": market.as_merchant(),
        "auditor": market.as_staff("auditor"),
    }[role]
    existing = []
    for number in range(11):
        if number % 4 == 0:
            market.clock.advance(timedelta(seconds=1))
        existing.append((await market.ordered(product))["id"])
    walked, cursor = [], None
    while True:
        query = {"limit": 3} if cursor is None else {"limit": 3, "cursor": cursor}
        response = (await market.client.get("/api/orders", params=query, headers=headers)).json()
        walked += [order["id"] for order in response["data"]]
        assert response["meta"]["limit"] == 3
        assert response["meta"]["has_more"] == (response["meta"]["next_cursor"] is not None)
        cursor = response["meta"]["next_cursor"]
        if cursor is None:
            break
        market.clock.advance(timedelta(seconds=1))
        await market.ordered(product)
    assert walked == sorted(walked, key=walked.index)
    assert len(walked) == len(set(walked)) == 11
    assert set(walked) == set(existing)


async def test_a_changed_or_foreign_cursor_is_422(market: Market) -> None:
    product = await market.sell()
    for _ in range(3):
        await market.ordered(product)
    page = await market.client.get("/api/orders", params={"limit": 1}, headers=market.as_buyer())
    cursor = page.json()["meta"]["next_cursor"]
    for headers, sent in (
        (market.as_buyer(), cursor[:-1] + ("A" if cursor[-1] != "A" else "B")),
        (market.as_buyer(new_id()), cursor),
        (market.as_buyer(), "x" * 600),
        (market.as_buyer(), "é"),
    ):
        response = await market.client.get("/api/orders", params={"cursor": sent}, headers=headers)
        assert invalid_field_of(response) == (422, "cursor")


@pytest.mark.parametrize("limit", ["0", "101", "-1", "x", ""])
async def test_a_limit_outside_1_to_100_is_422(market: Market, limit: str) -> None:
    for path in ("/api/orders", "/api/products"):
        response = await market.client.get(path, params={"limit": limit}, headers=market.as_buyer())
        assert invalid_field_of(response) == (422, "limit")


async def test_an_order_is_read_in_whole_by_its_id(market: Market, two_orders) -> None:
    mine, _ = two_orders
    shown = await market.show(mine)
    assert UUID(shown["id"])
    assert {**mine, "status": "paid_escrow", "revision": 2} == shown


async def test_the_items_of_an_order_are_a_list_like_any_other(market: Market) -> None:
    products = [await market.sell() for _ in range(3)]
    lines = [{"productId": str(product_id), "quantity": 1} for product_id in products]
    headers = market.as_buyer(idempotency_key=uuid4())
    order = (await market.client.post("/api/orders/checkout", json={"items": lines}, headers=headers)).json()
    path, client = f"/api/orders/{order['data']['id']}/items", market.client
    first = (await client.get(f"{path}?limit=2", headers=market.as_buyer())).json()
    assert (first["meta"]["has_more"], first["meta"]["limit"], len(first["data"])) == (True, 2, 2)
    cursor = first["meta"]["next_cursor"]
    rest = (await client.get(f"{path}?limit=2&cursor={cursor}", headers=market.as_buyer())).json()
    assert (rest["meta"]["has_more"], rest["meta"]["next_cursor"]) == (False, None)
    assert [item["productId"] for item in (*first["data"], *rest["data"])] == [str(one) for one in products]
    for query in ("limit=0", "limit=abc", "cursor=zzz", f"cursor={cursor}x"):
        assert (await client.get(f"{path}?{query}", headers=market.as_buyer())).status_code == 422


async def test_an_api_key_reads_the_orders_of_its_shop_only(market: Market, two_orders) -> None:
    mine, theirs = two_orders
    key = {"vendor_id": market.vendor_id, "aud": KEY_AUDIENCE}
    # The id of a key is its subject: it reads no order of a buyer.
    reader = market.headers(new_id(), scope="shop_orders:read", **key)
    listed = await market.client.get("/api/orders", headers=reader)
    assert [order["id"] for order in listed.json()["data"]] == [mine["id"]]
    for order, status in ((mine, 200), (theirs, 404)):
        assert (await market.client.get(f"/api/orders/{order['id']}", headers=reader)).status_code == status
    assert error_of(await market.client.post(f"/api/orders/{mine['id']}/dispatch", headers=reader)) == FORBIDDEN
    writer = market.headers(new_id(), scope="shop_products:write", **key)
    assert error_of(await market.client.get("/api/orders", headers=writer)) == FORBIDDEN
    sender = market.headers(new_id(), scope="shop_orders:dispatch", **key)
    dispatched = await market.client.post(f"/api/orders/{mine['id']}/dispatch", headers=sender)
    assert dispatched.json()["data"]["status"] == "dispatched"
