"""Finance reads one charged order by its id, with its money and without its buyer (contract section 6.7)."""

from typing import Any
from uuid import UUID

import pytest
from msgspec import structs

from contracts.payments import ChargeQuarantined
from orders.domain.order_updates import OrderNotReceived
from testkit.responses import FORBIDDEN, NOT_FOUND, data_of, error_of

from .conftest import Market
from .steps import list_order_ids, visible_ids

FINANCE = ("finance_maker", "finance_checker")


def quarantined(order_id: str | None) -> ChargeQuarantined:
    return ChargeQuarantined(
        reference="charge",
        amount_minor=1,
        currency="NGN",
        reason="underpaid",
        order_id=None if order_id is None else UUID(order_id),
    )


async def quarantined_order(market: Market) -> dict[str, Any]:
    order = await market.ordered()
    await market.receive(quarantined(order["id"]))
    return order


@pytest.mark.parametrize("role", FINANCE)
@pytest.mark.parametrize("charged", [Market.paid, quarantined_order])
async def test_finance_reads_a_charged_order_with_its_items_and_timeline(
    market: Market, charged: Any, role: str
) -> None:
    order, finance = await charged(market), market.as_staff(role)
    shown = await market.show(order, finance)
    assert (shown["number"], shown["totalMinor"], shown["items"]) == (
        order["number"],
        order["totalMinor"],
        order["items"],
    )
    assert shown["commissionMinor"] is not None
    path = f"/api/orders/{order['id']}"
    assert data_of(await market.client.get(f"{path}/items", headers=finance)) == order["items"]
    assert data_of(await market.client.get(f"{path}/timeline", headers=finance))[0]["event"] == "placed"


@pytest.mark.parametrize("role", FINANCE)
async def test_finance_finds_no_order_without_a_charge(market: Market, role: str) -> None:
    order = await market.ordered()
    for path in ("", "/items", "/timeline"):
        response = await market.client.get(f"/api/orders/{order['id']}{path}", headers=market.as_staff(role))
        assert error_of(response) == NOT_FOUND


@pytest.mark.parametrize("role", FINANCE)
async def test_finance_lists_no_orders(market: Market, role: str) -> None:
    order, finance = await market.paid(), market.as_staff(role)
    for query in ({}, {"as": "buyer"}, {"q": order["items"][0]["name"]}, {"q": order["number"], "as": "buyer"}):
        assert await list_order_ids(market, finance, **query) == []
    for path in ("", "/export"):
        assert error_of(await market.client.get(f"/api/campus-orders{path}", headers=finance)) == FORBIDDEN


@pytest.mark.parametrize("role", FINANCE)
async def test_finance_finds_a_charged_order_by_its_number_alone(market: Market, role: str) -> None:
    paid, unpaid = await market.paid(), await market.ordered()
    finance = market.as_staff(role)
    for typed in (paid["number"], paid["number"].lower().replace("-", " "), paid["number"][:-1], paid["id"]):
        assert await list_order_ids(market, finance, q=typed) == [paid["id"]]
    for typed in (unpaid["number"], unpaid["number"][:-1], unpaid["id"]):
        assert await list_order_ids(market, finance, q=typed) == []


@pytest.mark.parametrize("role", FINANCE)
async def test_finance_sees_neither_the_buyer_nor_where_the_order_goes(market: Market, role: str) -> None:
    order = await market.ordered(deliveryNote="Room 12, call 0803 000 0000")
    await market.fetch(
        (
            "INSERT INTO user_contacts (user_id, short_name, contact_encrypted, sequence) VALUES ($1, 'Ada O.', '', "
            "1) RETURNING 1"
        ),
        market.buyer_id,
    )
    await market.pay(order)
    hub_id = UUID(int=7)
    await market.fetch("UPDATE orders SET status = 'disputed', hub_id = $1 RETURNING 1", hub_id)
    auditor = await market.show(order, market.as_staff("auditor"))
    assert (auditor["buyerName"], auditor["deliveryNote"], auditor["hubId"]) == (
        "Ada O.",
        order["deliveryNote"],
        str(hub_id),
    )
    shown = await market.show(order, market.as_staff(role))
    for name in ("buyerName", "contact", "deliveryNote", "hubId"):
        assert shown[name] is None, name
    for table in ("user_contacts", "buyer_addresses", "delivery_pins"):
        caller = await market.runtime.verifier.caller_of(market.token(UUID(int=1), roles=(role,)))
        async with market.unit_of_work(caller) as uow:
            assert await uow.fetch_value(f"SELECT count(*) FROM {table}") == 0


async def test_a_buyer_who_is_finance_too_reads_the_own_order_in_whole(market: Market) -> None:
    order = await market.ordered(deliveryNote="Room 12")
    await market.pay(order)
    shown = await market.show(order, market.as_buyer(roles=("buyer", *FINANCE)))
    assert shown["deliveryNote"] == "Room 12"


async def test_row_security_shows_finance_charged_orders_only(market: Market) -> None:
    paid, quarantined_one = await market.paid(), await quarantined_order(market)
    await market.ordered()
    for table in ("orders", "order_items"):
        shown = await visible_ids(market, table, UUID(int=1), roles=FINANCE)
        assert shown == {paid["id"], quarantined_one["id"]}


async def test_a_quarantined_charge_of_an_unknown_order_is_retried_and_one_of_none_ignored(market: Market) -> None:
    with pytest.raises(OrderNotReceived):
        await market.receive(quarantined(str(UUID(int=1))))
    await market.receive(quarantined(None))


async def test_a_quarantined_charge_of_a_purchase_shows_finance_each_of_its_orders(market: Market) -> None:
    orders = [await market.ordered() for _ in range(3)]
    other = await market.ordered()
    event = structs.replace(quarantined(orders[0]["id"]), order_ids=tuple(UUID(order["id"]) for order in orders))
    await market.receive(event)
    await market.receive(event)
    assert await visible_ids(market, "orders", UUID(int=1), roles=FINANCE) == {order["id"] for order in orders}
    assert (await market.show(orders[2], market.as_staff(FINANCE[0])))["number"] == orders[2]["number"]
    response = await market.client.get(f"/api/orders/{other['id']}", headers=market.as_staff(FINANCE[0]))
    assert error_of(response) == NOT_FOUND


async def test_a_quarantined_charge_of_a_purchase_waits_for_all_its_orders(market: Market) -> None:
    order = await market.ordered()
    event = structs.replace(quarantined(order["id"]), order_ids=(UUID(order["id"]), UUID(int=1)))
    with pytest.raises(OrderNotReceived):
        await market.receive(event)
    assert await visible_ids(market, "orders", UUID(int=1), roles=FINANCE) == set()


async def test_a_second_quarantined_charge_keeps_the_instant_of_the_first(market: Market) -> None:
    order, first = await quarantined_order(market), market.clock.now()
    other = await quarantined_order(market)
    market.clock.advance(market.dependencies.windows.returns)
    await market.receive(quarantined(order["id"]))
    rows = await market.fetch("SELECT id, charge_quarantined_at FROM orders")
    assert {str(row["id"]): row["charge_quarantined_at"] for row in rows} == {order["id"]: first, other["id"]: first}
