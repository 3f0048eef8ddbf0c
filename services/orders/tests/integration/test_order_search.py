"""Orders are found by their number, and by staff by the buyer's exact address (contract section 6.6)."""

from uuid import uuid4

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged, UserErased
from contracts.permissions import permissions_of
from testkit.events import provisioned
from testkit.responses import data_of

from .conftest import Market

EMAIL = "Ada.Obi@unilag.edu.ng"
PHONE = "+2348031234567"


def provisioned_buyer(market: Market, email=EMAIL, phone=PHONE):
    return provisioned(market.buyer_id, email, phone=phone)


async def found(market: Market, q, headers=None, path="/api/campus-orders"):
    headers = headers or market.as_staff("support_agent")
    return [order["id"] for order in data_of(await market.client.get(path, headers=headers, params={"q": q}))]


async def stored_hashes(market: Market):
    rows = await market.fetch("SELECT email_hash, phone_hash FROM buyer_addresses WHERE user_id = $1", market.buyer_id)
    return [tuple(row) for row in rows]


async def test_an_order_keeps_its_number_in_every_response(market: Market) -> None:
    placed = await market.ordered()
    assert (await market.show(placed))["number"] == placed["number"]
    listed = await market.client.get("/api/orders", headers=market.as_buyer())
    assert [order["number"] for order in listed.json()["data"]] == [placed["number"]]


@pytest.mark.parametrize("path", ["/api/orders", "/api/campus-orders"])
async def test_an_order_is_found_by_its_number_as_users_type_it(market: Market, path: str) -> None:
    order = await market.ordered()
    await market.ordered()
    support = market.as_staff("support_agent")
    symbols = order["number"].removeprefix("CM-").lower()
    forms = [order["number"], f"#{symbols}", f"# CM {symbols.replace('-', ' ')}", symbols.replace("-", "")]
    forms += [order["number"].replace("-", dash) for dash in "\u2010\u2011\u2013\u2014\u2212"]
    forms += [symbols.replace("0", "o").replace("1", "l"), order["id"].upper(), f"#{order['id'].replace('-', '')} "]
    for typed in forms:
        assert await found(market, typed, support, path) == [order["id"]], typed


@pytest.mark.parametrize("path", ["/api/orders", "/api/campus-orders"])
async def test_orders_are_found_by_the_beginning_of_their_number(market: Market, path: str) -> None:
    placed = [await market.ordered() for _ in range(3)]
    for order, number in zip(placed, ("CM-7QZ2-0000", "CM-7QZ2-ZZZZ", "CM-7QZ3-0000"), strict=True):
        await market.fetch("UPDATE orders SET number = $2 WHERE id = $1::text::uuid RETURNING 1", order["id"], number)
    first, last, other = (order["id"] for order in placed)
    support = market.as_staff("support_agent")
    assert await found(market, "CM-7QZ2", support, path) == [last, first]
    assert await found(market, "#cm\u20137qz2-zz", support, path) == [last]
    assert await found(market, "CM-7QZ3-", support, path) == [other]
    assert await found(market, "CM-7QZ", support, path) == []
    assert await found(market, "CM-7QZ2", market.as_buyer(new_id()), "/api/orders") == []


async def test_a_word_of_eight_characters_finds_items(market: Market) -> None:
    order = await market.ordered(await market.sell(name="Mackerel"))
    assert await found(market, "mackerel") == [order["id"]]


async def test_a_number_finds_no_order_of_another_user(market: Market) -> None:
    order = await market.ordered()
    assert await found(market, order["number"], market.as_buyer(new_id()), "/api/orders") == []
    admin_elsewhere = market.as_staff("campus_admin", new_id())
    assert await found(market, order["number"], admin_elsewhere) == []


async def test_a_number_in_use_is_drawn_again(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    product_id = await market.sell(stock=10)
    first = await market.ordered(product_id)
    drawn = iter([first["number"], first["number"], "CM-0000-0001"])
    monkeypatch.setattr("orders.domain.checkouts.new_number", lambda kind: next(drawn))
    assert (await market.ordered(product_id))["number"] == "CM-0000-0001"
    assert await market.stock_of(product_id) == 8


async def test_the_database_refuses_a_number_that_exists(market: Market) -> None:
    first, second = await market.ordered(), await market.ordered()
    with pytest.raises(asyncpg.UniqueViolationError, match="orders_number_once"):
        await market.fetch("UPDATE orders SET number = $1 WHERE number = $2", first["number"], second["number"])


@pytest.mark.parametrize(
    "typed",
    [
        EMAIL,
        EMAIL.lower(),
        PHONE,
        "0803 123 4567",
        "\u202a00234 803\u2011123\u20114567\u202c",
        "\uff10803\u200e1234567",
    ],
)
async def test_support_finds_orders_by_the_buyers_exact_address(market: Market, typed) -> None:
    await market.receive(provisioned_buyer(market))
    order = await market.ordered()
    await market.ordered(buyer_id=new_id())
    assert await found(market, typed) == [order["id"]]


@pytest.mark.parametrize("typed", ["ada.obi", "unilag.edu.ng", "@unilag.edu.ng", "803123"])
async def test_a_part_of_an_address_finds_nothing(market: Market, typed: str) -> None:
    await market.receive(provisioned_buyer(market))
    await market.ordered()
    assert await found(market, typed) == []


@pytest.mark.parametrize("typed", [EMAIL, PHONE])
async def test_a_campus_admin_finds_orders_of_the_own_campus_by_the_buyers_address(market: Market, typed) -> None:
    await market.receive(provisioned_buyer(market))
    order = await market.ordered()
    await market.ordered(buyer_id=new_id())
    assert await found(market, typed, market.as_staff("campus_admin", market.campus_id)) == [order["id"]]
    assert await found(market, typed, market.as_staff("campus_admin", new_id())) == []


@pytest.mark.parametrize("typed", [EMAIL, PHONE])
async def test_no_user_without_the_permission_finds_orders_by_an_address(market: Market, typed) -> None:
    await market.receive(provisioned_buyer(market))
    await market.ordered()
    for headers in (market.as_buyer(), market.as_merchant()):
        assert await found(market, typed, headers, "/api/orders") == []


async def test_the_database_shows_the_hashes_to_holders_of_the_permission_only(market: Market) -> None:
    await market.receive(provisioned_buyer(market))
    await market.ordered()
    campuses = (("support_agent", None, 1), ("campus_admin", market.campus_id, 1), ("campus_admin", new_id(), 0))
    for role, campus_id, seen in (*campuses, ("buyer", market.campus_id, 0), ("merchant", market.campus_id, 0)):
        caller = Caller(user_id=new_id(), permissions=permissions_of([role]), campus_id=campus_id)
        async with market.unit_of_work(caller) as uow:
            assert len(await uow.fetch("SELECT user_id FROM buyer_addresses")) == seen


async def test_a_changed_address_replaces_the_one_before(market: Market) -> None:
    first = await market.receive(provisioned_buyer(market))
    order = await market.ordered()
    await market.receive(ProfileChanged(user_id=market.buyer_id, email="new@unilag.edu.ng"))
    assert await found(market, EMAIL) == []
    assert await found(market, PHONE) == []
    assert await found(market, "new@unilag.edu.ng") == [order["id"]]
    await market.receive(provisioned_buyer(market), event_id=uuid4(), sequence=first.sequence)
    assert await found(market, EMAIL) == []


async def test_an_address_is_stored_as_a_hmac_only(market: Market) -> None:
    await market.receive(provisioned_buyer(market))
    ((email_hash, phone_hash),) = await stored_hashes(market)
    assert (len(email_hash), len(phone_hash)) == (32, 32)
    for table in ("buyer_addresses", "inbox", "dead_letters"):
        rows = await market.fetch(f"SELECT t::text AS line FROM {table} AS t")
        assert not [row for row in rows if EMAIL.lower() in row["line"].lower() or PHONE in row["line"]]


async def test_erasure_removes_the_hashes_for_good(market: Market) -> None:
    late = await market.receive(provisioned_buyer(market))
    await market.ordered()
    await market.receive(UserErased(user_id=market.buyer_id))
    assert await stored_hashes(market) == [(None, None)]
    # An event from before the erasure arrives late.
    await market.receive(provisioned_buyer(market), event_id=uuid4(), sequence=late.sequence)
    assert await stored_hashes(market) == [(None, None)]
    assert await found(market, EMAIL) == []


async def test_an_erasure_that_arrives_first_keeps_later_deliveries_out(market: Market) -> None:
    erased = await market.receive(UserErased(user_id=market.buyer_id), sequence=10)
    await market.receive(provisioned_buyer(market), sequence=erased.sequence - 1)
    assert await stored_hashes(market) == [(None, None)]


@pytest.mark.parametrize(
    ("search", "index"),
    [
        ("orders WHERE number = 'CM-0000-0000'", "orders_number_once"),
        ("orders WHERE purchase_id = '00000000-0000-0000-0000-000000000000'", "orders_of_purchase"),
        ("purchases WHERE number = 'CP-0000-0000'", "purchases_number_once"),
        ("buyer_addresses WHERE email_hash = '\\x00'", "buyer_addresses_email"),
        ("buyer_addresses WHERE phone_hash = '\\x00'", "buyer_addresses_phone"),
    ],
)
async def test_each_search_has_an_index(market: Market, search: str, index: str) -> None:
    async with market.database.unit_of_work(
        acting_as=Caller(user_id=new_id(), permissions=permissions_of(["support_agent"]))
    ) as uow:
        await uow.execute("SET LOCAL enable_seqscan = off")
        plan = await uow.fetch(f"EXPLAIN SELECT 1 FROM {search}")
    assert any(index in row[0] for row in plan), plan
