import asyncio
from uuid import UUID, uuid4

import asyncpg
import pytest

from common.primitives.ids import new_id
from contracts.identity import CampusChanged, HubChanged, VendorApproved
from testkit.responses import CONFLICT, FORBIDDEN, UNAUTHORIZED, data_of, error_of, invalid_field_of

from .conftest import Market
from .steps import nothing_happened


async def test_checkout_freezes_prices_reserves_stock_and_publishes(market: Market) -> None:
    rice = await market.sell(price_minor=150_050, stock=10)
    pie = await market.sell(price_minor=70_000, stock=2, name="Meat Pie")
    items = [{"productId": str(rice), "quantity": 2}, {"productId": str(pie), "quantity": 2}]
    body = {"items": items, "deliveryNote": "Room 12", "expectedTotalMinor": 440_100}
    headers = market.as_buyer(idempotency_key=uuid4())
    order = data_of(await market.client.post("/api/orders/checkout", json=body, headers=headers), 201)
    assert order["status"] == "Processing"
    assert (order["totalMinor"], order["total"], order["currency"]) == (440_100, 4401, "NGN")
    assert (order["subtotalMinor"], order["deliveryFeeMinor"], order["refundedMinor"]) == (440_100, 0, 0)
    assert [
        (item["name"], item["quantity"], item["unitPriceMinor"], item["lineTotalMinor"]) for item in order["items"]
    ] == [
        ("Jollof Rice", 2, 150_050, 300_100),
        ("Meat Pie", 2, 70_000, 140_000),
    ]
    assert order["paymentDueAt"] == "2026-01-05T12:15:00.000Z"
    assert (order["buyerId"], order["vendorId"], order["campusId"]) == (
        str(market.buyer_id),
        str(market.vendor_id),
        str(market.campus_id),
    )
    assert "commissionMinor" not in order
    assert await market.show(order) == order
    assert [await market.stock_of(rice), await market.stock_of(pie)] == [8, 0]
    placed = (await market.published("orders.order_placed.v1"))[0]
    assert (placed["orderId"], placed["totalMinor"], placed["commissionMinor"]) == (order["id"], 440_100, 22_005)
    assert placed["paymentDueAt"] == order["paymentDueAt"]
    assert [(item["productId"], item["quantity"], item["lineTotalMinor"]) for item in placed["items"]] == [
        (str(rice), 2, 300_100),
        (str(pie), 2, 140_000),
    ]
    sold_out = await market.published("orders.product_changed.v1")
    assert [(event["productId"], event["inStock"]) for event in sold_out] == [(str(pie), False)]


async def test_the_last_unit_under_fifty_parallel_checkouts_is_sold_once(market: Market) -> None:
    product = await market.sell(stock=1)
    responses = await asyncio.gather(*(market.checkout(product, buyer_id=new_id()) for _ in range(50)))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 49
    assert {response.json()["code"] for response in responses if response.status_code == 409} == {
        "CONCURRENCY_CONFLICT"
    }
    assert await market.stock_of(product) == 0
    assert len(await market.fetch("SELECT 1 FROM orders")) == 1
    assert len(await market.published("orders.order_placed.v1")) == 1


async def test_checkouts_of_the_same_products_in_other_orders_never_deadlock(market: Market) -> None:
    products = [await market.sell(stock=1_000) for _ in range(4)]

    async def buy(turn: int) -> int:
        mixed = products[turn % 4 :] + products[: turn % 4]
        items = [{"productId": str(product), "quantity": 1} for product in (mixed if turn % 2 else mixed[::-1])]
        headers = market.as_buyer(new_id(), idempotency_key=uuid4())
        return (await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)).status_code

    assert await asyncio.gather(*(buy(turn) for turn in range(40))) == [201] * 40
    assert [await market.stock_of(product) for product in products] == [960] * 4


async def test_twenty_parallel_checkouts_under_one_key_are_one_order(market: Market) -> None:
    product, key = await market.sell(stock=1), uuid4()
    responses = await asyncio.gather(*(market.checkout(product, key=key) for _ in range(20)))
    assert [response.status_code for response in responses] == [201] * 20
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    assert await market.stock_of(product) == 0
    assert len(await market.published("orders.order_placed.v1")) == 1


async def test_the_key_stays_bound_to_its_order_for_good(market: Market) -> None:
    product, key = await market.sell(stock=3), uuid4()
    order = await market.ordered(product, key=key)
    await market.fetch("UPDATE products SET price_minor = 1, stock = 0 WHERE id = $1", product)
    again = await market.checkout(product, key=str(key).upper())
    assert (again.status_code, again.json()["data"]) == (201, order)
    other = await market.checkout(product, 2, key=key)
    assert other.status_code == 422
    assert other.json()["invalid_params"][0]["name"] == "Idempotency-Key"


async def test_the_same_key_of_another_caller_is_independent(market: Market) -> None:
    product, key = await market.sell(), uuid4()
    mine = await market.ordered(product, key=key)
    theirs = await market.ordered(product, key=key, buyer_id=new_id())
    assert mine["id"] != theirs["id"]


@pytest.mark.parametrize("key", [None, "", "no uuid", "018cc251-f400-7001-8000-000000000001"])
async def test_without_a_uuid_v4_as_key_nothing_is_ordered(market: Market, key: str | None) -> None:
    product = await market.sell(stock=5)
    headers = market.as_buyer(idempotency_key=key)
    body = {"items": [{"productId": str(product), "quantity": 1}]}
    response = await market.client.post("/api/orders/checkout", json=body, headers=headers)
    assert response.status_code == 422
    assert response.json()["invalid_params"][0]["name"] == "Idempotency-Key"
    await nothing_happened(market, product, 5)


async def test_a_price_that_moved_from_what_the_buyer_saw_is_refused(market: Market) -> None:
    product = await market.sell(price_minor=150_000, stock=5)
    response = await market.checkout(product, expectedTotalMinor=149_999)
    assert error_of(response) == CONFLICT
    assert response.json()["totalMinor"] == 150_000
    await nothing_happened(market, product, 5)


async def test_more_than_is_left_is_rejected_and_reserves_nothing_of_the_rest(market: Market) -> None:
    plenty, scarce = await market.sell(stock=5), await market.sell(stock=1)
    items = [{"productId": str(plenty), "quantity": 1}, {"productId": str(scarce), "quantity": 2}]
    headers = market.as_buyer(idempotency_key=uuid4())
    response = await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)
    assert error_of(response) == CONFLICT
    assert [param["name"] for param in response.json()["invalid_params"]] == ["items.1.quantity"]
    await nothing_happened(market, plenty, 5)


async def test_products_of_two_vendors_are_refused(market: Market) -> None:
    mine, other = await market.sell(stock=5), await market.sell(vendor_id=new_id())
    items = [{"productId": str(product), "quantity": 1} for product in (mine, other)]
    headers = market.as_buyer(idempotency_key=uuid4())
    response = await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)
    assert invalid_field_of(response) == (422, "items")
    await nothing_happened(market, mine, 5)


@pytest.mark.parametrize("removed", [False, True])
async def test_an_unknown_or_removed_product_is_named(market: Market, removed: bool) -> None:
    known = await market.sell(stock=5)
    absent = await market.sell(removed_at=market.clock.now()) if removed else new_id()
    items = [{"productId": str(product), "quantity": 1} for product in (known, absent)]
    headers = market.as_buyer(idempotency_key=uuid4())
    response = await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)
    assert invalid_field_of(response) == (422, "items.1.productId")
    await nothing_happened(market, known, 5)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"items": []}, "items"),
        ({"items": [{"productId": str(new_id()), "quantity": 0}]}, "items.0.quantity"),
        ({"items": [{"productId": str(new_id()), "quantity": 100}]}, "items.0.quantity"),
        ({"items": [{"productId": str(new_id()), "quantity": "1"}]}, "items.0.quantity"),
        ({"items": [{"productId": "x", "quantity": 1}]}, "items.0.productId"),
        ({"items": [{"productId": str(new_id()), "quantity": 1, "unitPriceMinor": 1}]}, "items.0.unitPriceMinor"),
        ({"totalMinor": 1}, "totalMinor"),
        ({"expectedTotalMinor": 1.5}, "expectedTotalMinor"),
        ({"deliveryNote": "a\x00b"}, "body"),
        ({"hubId": str(new_id())}, "hubId"),
        ({"campusId": str(new_id())}, "campusId"),
    ],
)
async def test_a_body_that_breaks_the_schema_orders_nothing(market: Market, change, name: str) -> None:
    product = await market.sell(stock=5)
    body = {"items": [{"productId": str(product), "quantity": 1}], **change}
    headers = market.as_buyer(idempotency_key=uuid4())
    response = await market.client.post("/api/orders/checkout", json=body, headers=headers)
    assert response.status_code == 422, response.text
    assert name in [param["name"] for param in response.json()["invalid_params"]]
    await nothing_happened(market, product, 5)


async def test_a_product_listed_twice_is_rejected(market: Market) -> None:
    product = await market.sell(stock=5)
    items = [{"productId": str(product), "quantity": 1}] * 2
    headers = market.as_buyer(idempotency_key=uuid4())
    response = await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)
    assert invalid_field_of(response) == (422, "items")
    await nothing_happened(market, product, 5)


async def test_only_who_may_buy_checks_out(market: Market) -> None:
    product = await market.sell(stock=5)
    body = {"items": [{"productId": str(product), "quantity": 1}]}
    assert error_of(await market.client.post("/api/orders/checkout", json=body)) == UNAUTHORIZED
    headers = market.as_staff("auditor", idempotency_key=uuid4())
    assert error_of(await market.client.post("/api/orders/checkout", json=body, headers=headers)) == FORBIDDEN
    await nothing_happened(market, product, 5)


async def test_the_hubs_fee_and_the_vendors_own_commission_are_frozen(market: Market) -> None:
    hub, other_campus = new_id(), new_id()
    receive = market.receive
    await receive(HubChanged(hub_id=hub, campus_id=other_campus, name="Gate", delivery_fee_minor=30_000, active=True))
    await receive(market.vendor_event(VendorApproved, commission_basis_points=750))
    product = await market.sell(price_minor=100_100)
    order = await market.ordered(product, hubId=str(hub), expectedTotalMinor=130_100)
    assert (order["subtotalMinor"], order["deliveryFeeMinor"], order["totalMinor"]) == (100_100, 30_000, 130_100)
    assert (order["hubId"], order["campusId"]) == (str(hub), str(other_campus))
    # 7.5 % of 100,100 is 7,507.5: half to even.
    assert (await market.show(order, market.as_merchant()))["commissionMinor"] == 7_508
    await receive(HubChanged(hub_id=hub, campus_id=other_campus, name="Gate", delivery_fee_minor=1, active=False))
    assert (await market.show(order))["deliveryFeeMinor"] == 30_000
    assert invalid_field_of(await market.checkout(product, hubId=str(hub))) == (422, "hubId")


async def test_an_order_may_go_to_another_campus_that_is_known(market: Market) -> None:
    campus = new_id()
    await market.receive(CampusChanged(campus_id=campus, name="Ibadan", active=True))
    assert (await market.ordered(campusId=str(campus)))["campusId"] == str(campus)


async def test_a_checkout_that_fails_before_its_commit_changes_nothing(market: Market) -> None:
    product = await market.sell(stock=5)
    async with market.crashing():
        response = await market.checkout(product)
    assert error_of(response) == (500, "INTERNAL_ERROR")
    await nothing_happened(market, product, 5)


async def test_a_get_of_checkout_is_405(market: Market) -> None:
    response = await market.client.get("/api/orders/checkout", headers=market.as_buyer())
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_a_buyer_cannot_write_an_order_in_another_name_or_state_even_in_sql(market: Market) -> None:
    order = await market.ordered()
    columns = (
        "id, number, buyer_id, vendor_id, campus_id, status, currency, total_amount, subtotal_minor, delivery_fee_minor"
    )
    more = (
        "commission_minor, refunded_minor, payment_due_at, idempotency_key, fingerprint, revision, created_at, "
        "updated_at"
    )
    caller = await market.runtime.verifier.caller_of(market.token(market.buyer_id))
    for change in ({"buyer_id": "gen_random_uuid()"}, {"status": "'paid_escrow'"}):
        shown = {
            "id": "gen_random_uuid()",
            "number": "'CM-0000-0000'",
            "idempotency_key": "gen_random_uuid()",
            **change,
        }
        source = ", ".join(shown.get(name.strip(), name.strip()) for name in f"{columns}, {more}".split(","))
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with market.unit_of_work(caller) as uow:
                await uow.execute(
                    f"INSERT INTO orders ({columns}, {more}) SELECT {source} FROM orders WHERE id = $1",
                    UUID(order["id"]),
                )
