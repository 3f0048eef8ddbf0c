"""Steps that several tests of the service share."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx

from common.primitives.clock import iso
from contracts.identity import ProfileChanged, VendorApproved
from contracts.payments import EscrowHeld, EscrowState, EscrowStated
from testkit.responses import data_of

from .conftest import Market

RETURN_REASON = "It is not what I ordered."
CANCEL_REASON = {"reason": "Sold out at the counter"}


async def approve_vendor(market: Market) -> None:
    """Receive the approval of the market's vendor: from then on it may create products."""
    await market.receive(market.vendor_event(VendorApproved))


async def put_in_cart(
    market: Any, product_id: UUID | str, quantity: Any = 1, buyer_id: UUID | None = None, **body: Any
) -> Any:
    path = f"/api/carts/current/items/{product_id}"
    return await market.client.put(path, json={"quantity": quantity, **body}, headers=market.as_buyer(buyer_id))


async def nothing_happened(market: Market, product_id, stock):
    assert await market.stock_of(product_id) == stock
    assert await market.fetch("SELECT 1 FROM orders") == []
    assert await market.fetch("SELECT 1 FROM outbox") == []


def another_pin(pin):
    """Another PIN than this one."""
    return f"{(int(pin) + 1) % 10 ** len(pin):0{len(pin)}d}"


async def create_sale(market: Any, product_id: UUID, headers: dict[str, str] | None = None, **terms: Any) -> Any:
    now = market.clock.now()
    body = {
        "productId": str(product_id),
        "priceMinor": 600,
        "quantity": 20,
        "perBuyerLimit": 2,
        "startsAt": iso(now),
        "endsAt": iso(now + timedelta(hours=1)),
        **terms,
    }
    return await market.client.post("/api/flash-sales", json=body, headers=headers or market.as_merchant())


async def created_sale(market: Any, product_id: UUID, **terms: Any) -> dict[str, Any]:
    return data_of(await create_sale(market, product_id, **terms), 201)


async def proposed_sale(market: Any, product_id: UUID, **terms: Any) -> dict[str, Any]:
    """Return a sale that staff of the campus propose."""
    staff = market.as_staff("campus_admin", market.campus_id, stepped_up=True)
    response = await create_sale(market, product_id, staff, **terms)
    assert (response.status_code, response.json()["data"]["status"]) == (201, "prepared"), response.text
    return response.json()["data"]


async def approve_sale(market: Any, sale: dict[str, Any], headers: Any = None, body: Any = None) -> httpx.Response:
    path = f"/api/flash-sales/{sale['id']}/approve"
    return await market.client.post(path, json=body, headers=headers or market.as_merchant())


async def change_profile(market: Market, user_id, name, phone, *, proven=True, **delivery):
    event = ProfileChanged(
        user_id=user_id, email=f"{user_id}@unilag.edu.ng", phone=phone, full_name=name, phone_confirmed=proven
    )
    return await market.receive(event, **delivery)


async def list_order_ids(market: Market, headers, **query):
    return [order["id"] for order in data_of(await market.client.get("/api/orders", params=query, headers=headers))]


async def visible_ids(market: Market, table, user_id, **claims):
    """Return the rows of a query without its filter, for this caller."""
    caller = await market.runtime.verifier.caller_of(market.token(user_id, **claims))
    column = "id" if table == "orders" else "order_id"
    async with market.unit_of_work(caller) as uow:
        return {str(row[0]) for row in await uow.fetch(f"SELECT {column} FROM {table}")}


async def delivered_order(market: Market, *lines, fee_minor=0):
    """Return a delivered order of these (price in kobo, quantity), brought to a hub for the fee."""
    products = [await market.sell(price_minor=price, stock=99) for price, _ in lines]
    body = {
        "items": [
            {"productId": str(product), "quantity": quantity}
            for product, (_, quantity) in zip(products, lines, strict=True)
        ]
    }
    if fee_minor:
        body["hubId"] = await market.hub(fee_minor)
    headers = market.as_buyer(idempotency_key=uuid4())
    order = (await market.client.post("/api/orders/checkout", json=body, headers=headers)).json()["data"]
    await market.pay(order)
    response = await market.verify(order, await market.pin_of(order), headers=market.as_merchant())
    assert response.status_code == 200, response.text
    return order


async def request_return(market: Market, order, *quantities, headers=None, **more):
    """Return a return request for so many of the order's lines."""
    items = [
        {"itemId": item["id"], "quantity": quantity}
        for item, quantity in zip(order["items"], quantities, strict=False)
        if quantity
    ]
    body = {"items": items, "reason": RETURN_REASON, **more}
    return await market.post(order, "return-requests", headers or market.as_buyer(), body)


async def requested_return(market: Market, order, *quantities):
    return data_of(await request_return(market, order, *quantities), 201)


async def decide_return(market: Market, request, verb="approve", headers=None, body=None):
    url = f"/api/return-requests/{request['id']}/{verb}"
    return await market.client.post(url, json=body or {}, headers=headers or market.as_merchant())


def order_parties(order):
    return {
        name: UUID(order[key]) for name, key in (("order_id", "id"), ("buyer_id", "buyerId"), ("vendor_id", "vendorId"))
    }


def escrow_state(market: Market, order, *, locked=0, net=0, commission=0, fee=0, held_at=None):
    return EscrowState(
        held_at=iso(held_at or market.clock.now()),
        held_minor=order["totalMinor"],
        locked_minor=locked,
        net_minor=net,
        commission_minor=commission,
        delivery_fee_minor=fee,
    )


async def paid_sale(market: Market, *lines, buyer_id=None, **columns):
    """Return an order of these (price in kobo, quantity), paid now."""
    products = [await market.sell(price_minor=price, stock=99, **columns) for price, _ in lines]
    items = [{"productId": str(one), "quantity": line[1]} for one, line in zip(products, lines, strict=True)]
    headers = market.as_buyer(buyer_id, idempotency_key=uuid4())
    order = data_of(await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers), 201)
    await market.receive(
        EscrowHeld(
            **order_parties(order),
            amount_minor=order["totalMinor"],
            commission_minor=0,
            delivery_fee_minor=0,
            reference="reference",
            held_at=iso(market.clock.now()),
        ),
        sequence=1,
    )
    return order


async def state_escrow(market: Market, order, sequence=2, **amounts):
    event = EscrowStated(**order_parties(order), escrow=escrow_state(market, order, **amounts))
    return await market.receive(event, sequence=sequence)


async def paid_pair(market: Market) -> dict[str, Any]:
    """Return a paid order of two lines: 2 x 150,000 and 1 x 40,000 kobo."""
    rice, beans = await market.sell(), await market.sell(price_minor=40_000)
    items = [{"productId": str(rice), "quantity": 2}, {"productId": str(beans), "quantity": 1}]
    headers = market.as_buyer(idempotency_key=uuid4())
    response = await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)
    order: dict[str, Any] = data_of(response, 201)
    await market.pay(order)
    return order


async def cancel_line(
    market: Market, order: dict[str, Any], position: int = 1, headers: dict[str, str] | None = None
) -> httpx.Response:
    """Cancel a line of the order, by default as its vendor."""
    item = order["items"][position]["id"]
    return await market.post(order, f"items/{item}/cancel", headers or market.as_merchant(), CANCEL_REASON)
