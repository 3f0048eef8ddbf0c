"""Flash sales: price, quantity and limit hold under concurrent checkouts."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from common.auth.caller import Caller
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from operations.audit.invariants import INVARIANTS
from orders.timers import fire_timers_once
from testkit.responses import CONFLICT, STEP_UP_REQUIRED, error_of

from .conftest import Market
from .steps import approve_sale, create_sale, created_sale, proposed_sale


async def sale_of(market: Any, sale: dict[str, Any]) -> dict[str, Any]:
    return (await market.client.get(f"/api/flash-sales/{sale['id']}")).json()["data"]


async def insisting_checkout(market: Any, product_id: UUID) -> httpx.Response:
    """Return a new buyer who repeats the request with the same key after a 503 of a busy machine."""
    buyer_id, key = new_id(), uuid4()
    while (response := await market.checkout(product_id, buyer_id=buyer_id, key=key)).status_code == 503:
        assert response.headers["retry-after"]
    return response


async def test_five_hundred_buyers_at_once_for_twenty_units_give_twenty_sale_orders(
    market: Market,
) -> None:
    product_id = await market.sell(price_minor=1_000, stock=100)
    sale = await created_sale(market, product_id)
    responses = await asyncio.gather(*(insisting_checkout(market, product_id) for _ in range(500)))
    placed = [response.json()["data"] for response in responses if response.status_code == 201]
    assert [order["totalMinor"] for order in placed] == [600] * 20
    refused = [response.json() for response in responses if response.status_code != 201]
    assert {(problem["status"], problem["code"]) for problem in refused} == {CONFLICT}
    shown = await sale_of(market, sale)
    assert (shown["remaining"], shown["status"], await market.stock_of(product_id)) == (0, "sold_out", 80)
    assert len(await market.fetch("SELECT FROM orders")) == 20


async def test_one_buyer_gets_no_more_than_the_limit_by_any_number_of_requests_at_once(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=100)
    await created_sale(market, product_id, perBuyerLimit=3)
    responses = await asyncio.gather(*(market.checkout(product_id) for _ in range(12)))
    assert sorted(response.status_code for response in responses) == [201] * 3 + [409] * 9
    assert (await market.checkout(product_id, 3, buyer_id=new_id())).status_code == 201
    too_many = await market.checkout(product_id, 4, buyer_id=new_id())
    assert (too_many.status_code, "at most 3" in too_many.json()["detail"]) == (409, True)


async def test_a_sale_holds_from_its_start_to_its_end_and_freezes_the_price(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=100)
    now = market.clock.now()
    starts_at, ends_at = now + timedelta(minutes=10), now + timedelta(minutes=20)
    sale = await created_sale(market, product_id, startsAt=iso(starts_at), endsAt=iso(ends_at))
    assert sale["status"] == "upcoming"
    assert (await market.ordered(product_id))["totalMinor"] == 1_000
    market.clock.advance(timedelta(minutes=10))
    order = await market.ordered(product_id)
    assert (order["totalMinor"], (await sale_of(market, sale))["status"]) == (600, "running")
    market.clock.advance(timedelta(minutes=10))
    assert (await market.ordered(product_id, buyer_id=new_id()))["totalMinor"] == 1_000
    assert (await sale_of(market, sale))["status"] == "ended"
    assert (await market.show(order))["totalMinor"] == 600


async def test_a_stopped_order_frees_units_that_a_late_charge_reserves_or_is_refunded(
    market: Market,
) -> None:
    product_id = await market.sell(price_minor=1_000, stock=100)
    sale = await created_sale(market, product_id, quantity=2, perBuyerLimit=1)
    first, second = await market.ordered(product_id), await market.ordered(product_id, buyer_id=new_id())
    assert (await market.checkout(product_id, buyer_id=new_id())).status_code == 409
    market.clock.advance(timedelta(minutes=16))
    await fire_timers_once(market.dependencies)
    assert (await market.status_of(first), await market.status_of(second)) == ("expired", "expired")
    assert (await sale_of(market, sale))["remaining"] == 2

    await market.pay(first)
    assert (await market.status_of(first), (await sale_of(market, sale))["remaining"]) == ("paid_escrow", 1)
    assert (await market.checkout(product_id)).status_code == 409, "the buyer's share is used again"
    await market.ordered(product_id, buyer_id=new_id())
    await market.pay(second)
    assert (await market.status_of(second), (await sale_of(market, sale))["remaining"]) == ("refund_pending", 0)
    assert await market.stock_of(product_id) == 98


async def test_late_charges_of_ended_orders_bring_a_buyer_no_more_than_their_share(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=100)
    sale = await created_sale(market, product_id, quantity=10, perBuyerLimit=2)
    closed = []
    for _ in range(2):
        closed.append(await market.ordered(product_id, 2))
        market.clock.advance(timedelta(minutes=16))
        await fire_timers_once(market.dependencies)
    kept = await market.ordered(product_id)
    # Three payment pages are open, and all of them are paid at once: one unit is left of the buyer's share, and each
    # asks for two.
    await asyncio.gather(*(market.pay(order) for order in (kept, *closed)))
    assert [await market.status_of(order) for order in (kept, *closed)] == ["paid_escrow", *["refund_pending"] * 2]
    assert ((await sale_of(market, sale))["remaining"], await market.stock_of(product_id)) == (9, 99)


async def test_of_two_late_charges_at_once_one_reserves_the_last_of_the_buyers_share(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=100)
    sale = await created_sale(market, product_id, quantity=10, perBuyerLimit=2)
    closed = []
    for _ in range(3):
        closed.append(await market.ordered(product_id, 2))
        market.clock.advance(timedelta(minutes=16))
        await fire_timers_once(market.dependencies)
    await asyncio.gather(*(market.pay(order) for order in closed))
    assert sorted([await market.status_of(order) for order in closed]) == ["paid_escrow", *["refund_pending"] * 2]
    assert ((await sale_of(market, sale))["remaining"], await market.stock_of(product_id)) == (8, 98)


async def test_the_audit_names_a_sale_that_sold_more_than_orders_took_or_a_buyers_share(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=100)
    sale = await created_sale(market, product_id, quantity=10, perBuyerLimit=2)
    await market.ordered(product_id, 2)
    [offending] = [line.offending for line in INVARIANTS if line.rule.startswith("the sold units of a flash sale")]
    assert await market.fetch(offending) == []
    for change in ("sold = sold + 1", "per_buyer_limit = 1"):
        before = "sold = sold - 1" if change.startswith("sold") else "per_buyer_limit = 2"
        await market.fetch(f"UPDATE flash_sales SET {change} RETURNING id")
        assert [str(row["id"]) for row in await market.fetch(offending)] == [sale["id"]]
        await market.fetch(f"UPDATE flash_sales SET {before} RETURNING id")
    assert await market.fetch(offending) == []


async def test_a_sale_needs_the_right_caller_and_valid_terms(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    other_campus = market.as_staff("campus_admin", new_id(), stepped_up=True)
    own_campus = market.as_staff("campus_admin", market.campus_id, stepped_up=True)
    now = market.clock.now()
    errors = {
        "buyer": (await create_sale(market, product_id, market.as_buyer()), 403),
        "another vendor": (await create_sale(market, product_id, market.as_merchant(new_id())), 403),
        "another campus": (await create_sale(market, product_id, other_campus), 403),
        "no product": (await create_sale(market, new_id()), 422),
        "not cheaper": (await create_sale(market, product_id, priceMinor=1_000), 422),
        "free": (await create_sale(market, product_id, priceMinor=0), 422),
        "more than the stock": (await create_sale(market, product_id, quantity=31), 422),
        "limit above quantity": (await create_sale(market, product_id, perBuyerLimit=21), 422),
        "over": (await create_sale(market, product_id, startsAt=iso(now - timedelta(hours=2)), endsAt=iso(now)), 422),
        "backwards": (await create_sale(market, product_id, startsAt=iso(now + timedelta(hours=2))), 422),
        "for a year": (await create_sale(market, product_id, endsAt=iso(now + timedelta(days=365))), 422),
        "no zone": (await create_sale(market, product_id, startsAt="2026-01-05T12:00:00"), 422),
        "unknown field": (await create_sale(market, product_id, sold=3), 422),
    }
    assert {case: response.status_code for case, (response, _) in errors.items()} == {
        case: status for case, (_, status) in errors.items()
    }
    assert await market.fetch("SELECT * FROM flash_sales") == []
    assert (await create_sale(market, product_id, own_campus)).status_code == 201
    assert (await create_sale(market, product_id)).status_code == 201, (
        "a proposal of staff blocks no sale of the vendor"
    )
    assert (await create_sale(market, product_id)).status_code == 409


async def test_a_sale_of_staff_holds_nothing_before_the_vendor_consents(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    sale, client = await proposed_sale(market, product_id), market.client
    assert (await market.ordered(product_id))["totalMinor"] == 1_000
    assert (await client.get(f"/api/products/{product_id}")).json()["data"]["flashSale"] is None
    mine = (await client.get("/api/products/mine", headers=market.as_merchant())).json()["data"]
    assert [product["flashSale"] for product in mine] == [None]
    cart = await client.put(f"/api/carts/current/items/{product_id}", json={"quantity": 1}, headers=market.as_buyer())
    assert cart.json()["data"]["totalMinor"] == 1_000

    approved = await approve_sale(market, sale)

    assert approved.status_code == 200, approved.text
    assert (approved.json()["data"]["status"], approved.json()["data"]["hash"]) == ("running", None)
    assert approved.json()["data"]["approvedAt"] is not None
    assert (await market.ordered(product_id))["totalMinor"] == 600
    assert (await sale_of(market, sale))["remaining"] == 19
    again = await approve_sale(market, sale, body={"hash": sale["hash"]})
    assert (again.status_code, again.json()["data"]["approvedAt"]) == (200, approved.json()["data"]["approvedAt"])


async def test_a_proposed_sale_is_shown_to_its_vendor_and_the_campus_staff_only(market: Market) -> None:
    sale, client = await proposed_sale(market, await market.sell(price_minor=1_000, stock=30)), market.client
    staff = market.as_staff("campus_admin", market.campus_id, stepped_up=True)
    for headers, sees in (
        (market.as_merchant(), True),
        (staff, True),
        (market.as_merchant(new_id()), False),
        (market.as_staff("campus_admin", new_id()), False),
        (market.as_buyer(), False),
        ({}, False),
    ):
        one = await client.get(f"/api/flash-sales/{sale['id']}", headers=headers)
        waiting = await client.get("/api/flash-sales?status=prepared", headers=headers)
        assert one.status_code == (200 if sees else 404)
        assert [row["id"] for row in waiting.json()["data"]] == ([sale["id"]] if sees else [])
        for query in ("", "?status=upcoming", "?status=running", "?status=ended"):
            assert (await client.get(f"/api/flash-sales{query}", headers=headers)).json()["data"] == []
    assert (await client.get(f"/api/flash-sales/{sale['id']}", headers=staff)).json()["data"]["hash"] == sale["hash"]


async def test_only_the_vendor_consents_and_to_what_was_read(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    sale, other = await proposed_sale(market, product_id), await proposed_sale(market, product_id, priceMinor=1)
    rows = await market.fetch("SELECT * FROM flash_sales ORDER BY id")
    staff = market.as_staff("campus_admin", market.campus_id, stepped_up=True)
    for headers, status in ((staff, 403), (market.as_buyer(), 403), (market.as_merchant(new_id()), 404)):
        assert (await approve_sale(market, sale, headers)).status_code == status
    assert (await approve_sale(market, sale, body={"hash": other["hash"]})).status_code == 409
    assert (await approve_sale(market, {"id": uuid4()})).status_code == 404
    assert await market.fetch("SELECT * FROM flash_sales ORDER BY id") == rows
    assert (await approve_sale(market, sale, body={"hash": sale["hash"]})).status_code == 200


async def test_a_consent_that_comes_too_late_is_none(market: Market) -> None:
    now = market.clock.now()
    product_id = await market.sell(price_minor=1_000, stock=30)
    past = await proposed_sale(market, product_id, endsAt=iso(now + timedelta(minutes=1)))
    dearer = await proposed_sale(market, product_id, priceMinor=999)
    await market.fetch("UPDATE products SET price_minor = 900 RETURNING id")
    declined = await proposed_sale(
        market, product_id, startsAt=iso(now + timedelta(hours=1)), endsAt=iso(now + timedelta(hours=2))
    )
    path = f"/api/flash-sales/{declined['id']}/end"
    closed = await market.client.post(path, json={}, headers=market.as_merchant())
    assert (closed.status_code, closed.json()["data"]["status"]) == (200, "expired")
    market.clock.advance(timedelta(minutes=2))
    rows = await market.fetch("SELECT * FROM flash_sales ORDER BY id")
    for sale in (past, dearer, declined):
        assert error_of(await approve_sale(market, sale)) == CONFLICT
    shown = await market.client.get(f"/api/flash-sales/{past['id']}", headers=market.as_merchant())
    assert shown.json()["data"]["status"] == "expired"
    assert await market.fetch("SELECT * FROM flash_sales ORDER BY id") == rows
    assert (await market.ordered(product_id))["totalMinor"] == 900


async def test_of_two_proposals_for_one_time_one_holds(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    sales = [await proposed_sale(market, product_id) for _ in range(4)]
    responses = await asyncio.gather(*(approve_sale(market, sale) for sale in sales))
    assert sorted(response.status_code for response in responses) == [200, 409, 409, 409]


async def test_staff_touch_sales_with_a_second_factor_only(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    staff = market.as_staff("campus_admin", market.campus_id, stepped_up=False)
    sale = await created_sale(market, product_id)
    ending = await market.client.post(f"/api/flash-sales/{sale['id']}/end", json={}, headers=staff)
    for refused in (await create_sale(market, product_id, staff), ending):
        assert error_of(refused) == STEP_UP_REQUIRED
    assert (await sale_of(market, sale))["status"] == "running"


async def test_the_database_gives_no_role_the_vendors_consent(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    sale = await proposed_sale(market, product_id)
    permissions = permissions_of(["campus_admin"])
    staff = Caller(user_id=new_id(), campus_id=market.campus_id, permissions=permissions)
    merchant = Caller(user_id=market.merchant_id, vendor_id=market.vendor_id, permissions=permissions_of(["merchant"]))
    database = market.database
    copy = (
        "INSERT INTO flash_sales (id, product_id, vendor_id, campus_id, price_minor, quantity, per_buyer_limit, "
        "starts_at, "
        "ends_at, created_by, created_at, approved_at) SELECT $1, product_id, vendor_id, campus_id, 1, 1, 1, "
        "starts_at, "
        "ends_at, created_by, created_at, now() FROM flash_sales"
    )
    for caller, statement, values in (
        (staff, "UPDATE flash_sales SET approved_at = now()", ()),
        (merchant, "UPDATE flash_sales SET approved_at = now()", ()),
        (staff, copy, (new_id(),)),
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=caller) as uow:
                await uow.execute(statement, *values)
    with pytest.raises(asyncpg.CheckViolationError, match="flash_sales_sold_with_consent"):
        await market.fetch("UPDATE flash_sales SET sold = 1 WHERE id = $1 RETURNING 1", UUID(sale["id"]))


async def test_of_two_concurrent_sales_of_one_product_one_is_created(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    responses = await asyncio.gather(*(create_sale(market, product_id) for _ in range(5)))
    assert sorted(response.status_code for response in responses) == [201, 409, 409, 409, 409]


async def test_its_keeper_ends_a_sale_and_another_may_follow(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    sale = await created_sale(market, product_id)
    path, client = f"/api/flash-sales/{sale['id']}/end", market.client
    assert (await client.post(path, json={}, headers=market.as_merchant(new_id()))).status_code == 403
    for _ in range(2):
        closed = await client.post(path, json={}, headers=market.as_merchant())
        assert (closed.status_code, closed.json()["data"]["status"]) == (200, "ended")
    assert (await market.ordered(product_id))["totalMinor"] == 1_000
    assert (await client.get("/api/flash-sales")).json()["data"] == []
    assert [row["id"] for row in (await client.get("/api/flash-sales?status=ended")).json()["data"]] == [sale["id"]]
    assert (await create_sale(market, product_id)).status_code == 201
    assert (
        await client.post(f"/api/flash-sales/{uuid4()}/end", json={}, headers=market.as_merchant())
    ).status_code == 404


async def test_the_list_is_walked_by_cursor_and_filtered(market: Market) -> None:
    sales = []
    for _ in range(3):
        market.clock.advance(timedelta(seconds=1))
        sales.append((await created_sale(market, await market.sell(price_minor=1_000, stock=30)))["id"])
    client, seen, cursor = market.client, [], ""
    while True:
        page = (await client.get(f"/api/flash-sales?limit=2&vendorId={market.vendor_id}{cursor}")).json()
        seen += [row["id"] for row in page["data"]]
        if not page["meta"]["has_more"]:
            break
        cursor = f"&cursor={page['meta']['next_cursor']}"
    assert seen == sales[::-1]
    assert (await client.get(f"/api/flash-sales?vendorId={new_id()}")).json()["data"] == []
    assert (await client.get(f"/api/flash-sales?campusId={market.campus_id}&limit=2{cursor}")).status_code == 422


async def test_the_database_lets_no_role_write_sold_units_or_reserve_without_an_order(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    sale = await created_sale(market, product_id)
    merchant = Caller(
        user_id=market.merchant_id, vendor_id=market.vendor_id, permissions=permissions_of(["buyer", "merchant"])
    )
    outsider = Caller(user_id=new_id(), vendor_id=new_id(), permissions=permissions_of(["buyer", "merchant"]))
    database = market.database
    order = await market.ordered(await market.sell())
    for statement in (
        "UPDATE flash_sales SET sold = 0",
        "UPDATE flash_sales SET quantity = 1000",
        "DELETE FROM flash_sales",
        (
            "INSERT INTO flash_sale_units VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), "
            "gen_random_uuid(), 1)"
        ),
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=merchant) as uow:
                await uow.execute(statement)
    async with database.unit_of_work(acting_as=outsider) as uow:
        assert await uow.execute("UPDATE flash_sales SET ends_at = now() + interval '1 year'") == 0
        for order_id in (new_id(), UUID(order["id"])):
            reserved = await uow.fetch_value(
                "SELECT take_sale_units($1, $2, $3, now())", order_id, [UUID(sale["id"])], [1]
            )
            assert reserved is False
    assert (await sale_of(market, sale))["remaining"] == 20


async def test_the_cart_shows_the_sale_s_price_while_it_runs(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    await created_sale(market, product_id)
    path = f"/api/carts/current/items/{product_id}"
    shown = await market.client.put(path, json={"quantity": 2}, headers=market.as_buyer())
    assert shown.json()["data"]["totalMinor"] == 1_200
    market.clock.advance(timedelta(hours=2))
    later = (await market.client.get("/api/carts/current", headers=market.as_buyer())).json()["data"]
    assert (later["totalMinor"], later["items"][0]["priceChanged"]) == (2_000, True)


async def test_the_product_shows_its_sale_while_it_runs(market: Market) -> None:
    product_id = await market.sell(price_minor=1_000, stock=30)
    now = market.clock.now()
    starts_at, ends_at = now + timedelta(minutes=1), now + timedelta(minutes=2)
    sale = await created_sale(market, product_id, startsAt=iso(starts_at), endsAt=iso(ends_at))

    async def shown_sales() -> list[Any]:
        one = (await market.client.get(f"/api/products/{product_id}")).json()["data"]
        page = (await market.client.get("/api/products")).json()["data"]
        found = (await market.client.get("/api/products?q=jollof")).json()["data"]
        return [one["flashSale"], *(row["flashSale"] for row in (*page, *found))]

    assert await shown_sales() == [None] * 3
    market.clock.advance(timedelta(minutes=1))
    await market.ordered(product_id)
    running = {
        "id": sale["id"],
        "priceMinor": 600,
        "quantity": 20,
        "remaining": 19,
        "perBuyerLimit": 2,
        "variantId": None,
        "startsAt": sale["startsAt"],
        "endsAt": sale["endsAt"],
    }
    assert await shown_sales() == [running] * 3
    market.clock.advance(timedelta(minutes=1))
    assert await shown_sales() == [None] * 3
