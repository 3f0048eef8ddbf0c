"""Packers of a shop see and send its orders, and read no amount (decision 206)."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest

from campus_tools.endpoints import endpoints
from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of

from .conftest import Market
from .steps import another_pin, change_profile

PACKING = "/api/packing-orders"
AN_AMOUNT = re.compile(r"(?i)(minor|amount|price|total|fee|commission|naira)")
# The catalog, which every caller reads.
OPEN_RELATIONS = {"listed_products", "shelf", "products"}
# The endpoints that return something of the shop to a packer.
OF_PACKERS = (PACKING, "/api/work", "/api/staff-acts")
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


def keys_of(value: Any) -> Iterator[str]:
    """Yield every key of a response, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def amounts_in(value: Any) -> list[str]:
    return [key for key in keys_of(value) if AN_AMOUNT.search(key)]


def without_own_id(data: Any) -> Any:
    """Return the data of a response without the id of an empty cart, which its user has alone."""
    return {key: value for key, value in data.items() if key != "id"} if isinstance(data, dict) else data


async def packing(market: Market, headers: dict[str, str] | None = None, **query: str) -> Any:
    response = await market.client.get(PACKING, params=query, headers=headers or market.as_packer())
    return data_of(response)


async def send(
    market: Market, order: dict[str, Any], verb: str, headers: dict[str, str], body: Any = None, key: UUID | None = None
) -> Any:
    sent = {**headers, "Idempotency-Key": str(key or uuid4())}
    return await market.client.post(f"{PACKING}/{order['id']}/{verb}", json=body or {}, headers=sent)


async def test_a_packer_lists_the_orders_to_pack_oldest_first(market: Market) -> None:
    first = await market.paid(hubId=await market.hub(50_000), deliveryNote="Ring twice")
    second = await market.paid()
    await market.ordered()
    listed = await packing(market)
    assert [one["id"] for one in listed] == [first["id"], second["id"]]
    [item] = listed[0].pop("items")
    assert listed[0] == {
        "id": first["id"],
        "number": first["number"],
        "status": "paid_escrow",
        "buyerName": None,
        "hubId": first["hubId"],
        "hubName": "Gate",
        "deliveryNote": "Ring twice",
        "createdAt": first["createdAt"],
        "updatedAt": listed[0]["updatedAt"],
        "arrivedAt": None,
        "deliveredAt": None,
        "revision": 2,
    }
    assert item == {
        "id": first["items"][0]["id"],
        "productId": first["items"][0]["productId"],
        "variantId": None,
        "name": "Jollof Rice",
        "quantity": 1,
    }
    page = await market.client.get(PACKING, params={"limit": 1}, headers=market.as_packer())
    after = await packing(market, limit="1", cursor=page.json()["meta"]["next_cursor"])
    assert [one["id"] for one in after] == [second["id"]]
    assert await packing(market, status="dispatched") == []


async def test_a_cancelled_item_is_not_packed(market: Market) -> None:
    order = await market.paid()
    await market.fetch("UPDATE order_items SET cancelled_at = now() WHERE order_id = $1", UUID(order["id"]))
    [listed] = await packing(market)
    assert listed["items"] == []


async def test_a_packer_dispatches_and_hands_over_an_order(market: Market) -> None:
    await change_profile(market, market.packer_id, "Chidi Okafor", "+2348030000001")
    order = await market.paid()
    packer, pin = market.as_packer(), await market.pin_of(order)
    sent = data_of(await send(market, order, "dispatch", packer))
    assert sent["status"] == "dispatched"
    assert data_of(await send(market, order, "dispatch", packer)) == sent
    wrong = await send(market, order, "verify-delivery", packer, {"pin": another_pin(pin)})
    assert wrong.status_code == 400
    assert amounts_in(wrong.json()) == []
    assert data_of(await send(market, order, "verify-delivery", packer, {"pin": pin}))["status"] == "delivered"
    own = data_of(await market.client.get("/api/staff-acts/current", headers=packer))
    assert {entry["act"] for entry in own} == {"order_dispatched", "order_delivered"}


@pytest.mark.parametrize(("verb", "status"), [("dispatch", "dispatched"), ("verify-delivery", "delivered")])
async def test_an_order_disputed_right_after_its_change_is_returned_as_changed(
    market: Market, monkeypatch: pytest.MonkeyPatch, verb: str, status: str
) -> None:
    order = await market.paid()
    body = {"pin": await market.pin_of(order)} if verb == "verify-delivery" else None
    commit = Database.unit_of_work

    @asynccontextmanager
    async def commit_and_dispute(database: Database, **options: Any) -> AsyncIterator[UnitOfWork]:
        async with commit(database, **options) as uow:
            yield uow
        async with commit(database, acting_as=THE_SERVICE) as dispute:
            await dispute.execute("UPDATE orders SET status = 'disputed' WHERE id = $1", UUID(order["id"]))

    with monkeypatch.context() as patch:
        patch.setattr(Database, "unit_of_work", commit_and_dispute)
        changed = data_of(await send(market, order, verb, market.as_packer(), body))
    assert (changed["status"], await market.status_of(order)) == (status, "disputed")
    path = f"{PACKING}/{order['id']}"
    assert error_of(await market.client.get(path, headers=market.as_packer())) == NOT_FOUND


async def test_a_repeated_hand_over_of_a_disputed_order_has_its_first_result(market: Market) -> None:
    order, packer, key = await market.paid(), market.as_packer(), uuid4()
    body = {"pin": await market.pin_of(order)}
    data_of(await send(market, order, "dispatch", packer))
    first = data_of(await send(market, order, "verify-delivery", packer, body, key))
    await market.fetch("UPDATE orders SET status = 'disputed' WHERE id = $1", UUID(order["id"]))
    assert data_of(await send(market, order, "verify-delivery", packer, body, key)) == first
    # The packer changes nothing anymore, and reads why.
    for verb, sent in (("dispatch", None), ("verify-delivery", body)):
        assert error_of(await send(market, order, verb, packer, sent)) == CONFLICT
    # Another packer has not changed the order; a packer of another shop never sees it.
    colleague = market.headers(new_id(), roles=("buyer", "shop_packer"), packing_vendor_id=market.vendor_id)
    for headers in (colleague, market.as_packer(new_id())):
        assert error_of(await send(market, order, "verify-delivery", headers, body, key)) == NOT_FOUND
    assert await market.status_of(order) == "disputed"


async def test_an_order_in_another_state_is_not_dispatched(market: Market) -> None:
    order = await market.paid()
    packer = market.as_packer()
    data_of(await send(market, order, "dispatch", packer))
    data_of(await send(market, order, "verify-delivery", packer, {"pin": await market.pin_of(order)}))
    assert error_of(await send(market, order, "dispatch", packer)) == CONFLICT


async def test_an_order_of_another_shop_does_not_exist_for_a_packer(market: Market) -> None:
    order = await market.paid()
    foreign = market.as_packer(new_id())
    assert await packing(market, foreign) == []
    assert error_of(await market.client.get(f"{PACKING}/{order['id']}", headers=foreign)) == NOT_FOUND
    for verb, body in (("dispatch", None), ("verify-delivery", {"pin": "0000"})):
        assert error_of(await send(market, order, verb, foreign, body)) == NOT_FOUND
    for headers in (market.as_buyer(), market.as_merchant()):
        assert error_of(await market.client.get(PACKING, headers=headers)) == FORBIDDEN


async def test_a_packer_sees_unpaid_and_ended_orders_nowhere(market: Market) -> None:
    order = await market.paid()
    for status in ("Processing", "cancelled", "expired", "disputed", "refund_pending", "refunded"):
        await market.fetch("UPDATE orders SET status = $2 WHERE id = $1", UUID(order["id"]), status)
        path = f"{PACKING}/{order['id']}"
        assert error_of(await market.client.get(path, headers=market.as_packer())) == NOT_FOUND


async def test_no_endpoint_shows_a_packer_an_amount_of_the_shop(market: Market) -> None:
    """Every GET of the service returns to a packer what it returns to another buyer, but for the orders to pack."""
    order = await market.paid(hubId=await market.hub(50_000))
    data_of(await market.post(order, "dispatch", market.as_merchant()))
    await market.paid()
    ids = {"vendor_id": market.vendor_id, "product_id": order["items"][0]["productId"], "month": "2026-01"}
    packer, other_buyer = market.as_packer(), market.as_buyer(new_id())
    own, compared, different = [], 0, []
    for endpoint in endpoints():
        if endpoint.service != "orders" or endpoint.method != "GET":
            continue
        path = PARAMETER.sub(lambda found: str(ids.get(found[1], order["id"])), endpoint.route.path)
        shown = await market.client.get(path, headers=packer)
        if path.startswith(OF_PACKERS):
            own.append(path)
            assert (path, shown.status_code, amounts_in(shown.json())) == (path, 200, [])
            continue
        expected = await market.client.get(path, headers=other_buyer)
        compared += 1
        if shown.status_code != expected.status_code:
            different.append(path)
        elif shown.status_code == 200 and shown.headers["content-type"] == "application/json":
            data = [without_own_id(response.json()["data"]) for response in (shown, expected)]
            different += [path] if data[0] != data[1] else []
    assert different == []
    assert len(own) == 4
    assert compared > 20


async def test_a_bare_statement_of_a_packer_reads_no_row_of_the_shop(market: Market) -> None:
    order = await market.paid()
    await market.ordered()
    packer = Caller(
        market.packer_id,
        permissions=permissions_of(("buyer", "shop_packer")),
        packing_vendor_id=market.vendor_id,
        roles=frozenset({"buyer", "shop_packer"}),
    )
    readable = await market.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') "
        "AND has_table_privilege('campus_orders_api', oid, 'SELECT') ORDER BY relname"
    )
    async with market.unit_of_work(packer) as uow:
        for (name,) in readable:
            columns = await uow.fetch(
                "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = 'vendor_id' "
                "AND attnum > 0",
                name,
            )
            if name not in OPEN_RELATIONS and columns:
                rows = await uow.fetch(f"SELECT FROM {name} WHERE vendor_id = $1", market.vendor_id)
                assert (name, len(rows)) == (name, 0)
        [row] = await uow.fetch("SELECT * FROM packing_orders")
    assert row["id"] == UUID(order["id"])
    assert [name for name in dict(row) if AN_AMOUNT.search(name)] == []


@pytest.mark.parametrize("verb", ["dispatch", "verify-delivery"])
async def test_a_packer_uses_the_own_endpoints_only(market: Market, verb: str) -> None:
    order = await market.paid()
    body = {"pin": "0000"} if verb == "verify-delivery" else None
    key = {"Idempotency-Key": str(uuid4())}
    response = await market.client.post(
        f"/api/orders/{order['id']}/{verb}", json=body or {}, headers={**market.as_packer(), **key}
    )
    assert error_of(response) in (FORBIDDEN, NOT_FOUND)
    assert await market.status_of(order) == "paid_escrow"
