"""The names of an order's parties, and their contacts while the order is on its way."""

from uuid import UUID

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import (
    UserErased,
    VendorApproved,
    VendorClosed,
)
from contracts.permissions import permissions_of
from orders.queries.orders import ORDER_COLUMNS
from testkit.events import provisioned
from testkit.responses import data_of

from .conftest import Market
from .dispute_steps import COMPLAINT
from .steps import change_profile

BUYER_PHONE, OWNER_PHONE = "+2348030000001", "+2348030000002"
BUYER = {"name": "Ada Ngozi Obi", "phone": BUYER_PHONE}
OWNER = {"name": "Yetunde Bello", "phone": OWNER_PHONE}


async def known_parties(market: Market):
    await market.receive(market.vendor_event(VendorApproved, business_name="Yetunde's Kitchen"))
    await change_profile(market, market.buyer_id, BUYER["name"], BUYER_PHONE)
    await change_profile(market, market.merchant_id, OWNER["name"], OWNER_PHONE)


async def contacts_of(market: Market, order, *readers):
    return [(await market.show(order, headers))["contact"] for headers in readers]


async def test_an_order_names_its_vendor_and_its_buyer_in_each_response(market: Market) -> None:
    hub_id = await market.hub()
    earlier = await market.ordered(hubId=hub_id)
    assert (earlier["vendorName"], earlier["buyerName"], earlier["contact"]) == (None, None, None)
    await known_parties(market)
    order = await market.ordered(hubId=hub_id)
    responses = [order, await market.show(order), await market.show(earlier, market.as_merchant())]
    responses += data_of(await market.client.get("/api/orders", headers=market.as_buyer()))
    responses += data_of(await market.client.get("/api/orders", headers=market.as_agent(order)))
    admin = market.as_staff("campus_admin", market.campus_id)
    responses += data_of(await market.client.get("/api/campus-orders", headers=admin))
    named = {(shown["vendorName"], shown["buyerName"], shown["contact"]) for shown in responses}
    assert (len(responses), named) == (9, {("Yetunde's Kitchen", "Ada O.", None)})


async def test_the_parties_see_each_other_s_contact_from_payment_to_delivery(market: Market) -> None:
    await known_parties(market)
    order = await market.ordered(hubId=await market.hub())
    agent = market.as_agent(order)
    readers = (market.as_buyer(), market.as_merchant(), agent)
    assert await contacts_of(market, order, *readers) == [None] * 3
    await market.pay(order)
    assert await contacts_of(market, order, *readers) == [OWNER, BUYER, BUYER]
    dispatched = data_of(await market.post(order, "dispatch", market.as_merchant()))
    assert dispatched["contact"] == BUYER
    [listed] = data_of(await market.client.get("/api/orders", headers=market.as_buyer()))
    assert listed["contact"] == OWNER
    await market.verify(order, await market.pin_of(order))
    assert await contacts_of(market, order, *readers) == [None] * 3


async def test_staff_see_the_buyer_s_contact_of_a_disputed_order_only(market: Market) -> None:
    await known_parties(market)
    order = await market.paid()
    staff = [market.as_staff("support_agent"), market.as_staff("auditor")]
    admin = market.as_staff("campus_admin", market.campus_id)
    assert await contacts_of(market, order, *staff, admin) == [None] * 3
    await market.post(order, "dispute", market.as_buyer(), COMPLAINT)
    assert await contacts_of(market, order, *staff, admin) == [BUYER, BUYER, None]
    assert await contacts_of(market, order, market.as_buyer(), market.as_merchant()) == [OWNER, BUYER]


async def test_only_a_proven_number_is_shown_and_a_late_event_restores_none(market: Market) -> None:
    order = await market.paid()
    await market.receive(
        provisioned(market.buyer_id, "ada@unilag.edu.ng", phone=BUYER_PHONE, full_name="Ada Obi"),
        sequence=1,
    )
    assert await contacts_of(market, order, market.as_merchant()) == [{"name": "Ada Obi", "phone": None}]
    await change_profile(market, market.buyer_id, "Ada Obi", BUYER_PHONE, sequence=3)
    await change_profile(market, market.buyer_id, "Late Name", "+2348039999999", sequence=2)
    assert await contacts_of(market, order, market.as_merchant()) == [{"name": "Ada Obi", "phone": BUYER_PHONE}]
    await change_profile(market, market.buyer_id, "Ada Obi", BUYER_PHONE, proven=False, sequence=4)
    assert await contacts_of(market, order, market.as_merchant()) == [{"name": "Ada Obi", "phone": None}]


async def test_erasure_empties_names_and_contacts(market: Market) -> None:
    await known_parties(market)
    order = await market.paid()
    await market.receive(UserErased(user_id=market.buyer_id), sequence=9)
    await change_profile(market, market.buyer_id, "Ada Obi", BUYER_PHONE, sequence=8)
    await market.receive(UserErased(user_id=market.merchant_id), sequence=9)
    closed = VendorClosed(vendor_id=market.vendor_id, owner_user_id=market.merchant_id, campus_id=market.campus_id)
    await market.receive(closed, sequence=9)
    for headers in (market.as_buyer(), market.as_merchant()):
        shown = await market.show(order, headers)
        assert (shown["vendorName"], shown["buyerName"], shown["contact"]) == (None, None, None)
    rows = await market.fetch("SELECT DISTINCT short_name, contact_encrypted FROM user_contacts")
    assert [tuple(row) for row in rows] == [(None, "")]


async def test_names_and_numbers_are_encrypted_at_rest(market: Market) -> None:
    await known_parties(market)
    rows = await market.fetch("SELECT t::text AS stored FROM user_contacts AS t")
    assert len(rows) == 2
    for row in rows:
        assert not any(text in row["stored"] for text in (BUYER_PHONE, OWNER_PHONE, "Ngozi", "Bello"))


async def test_a_list_of_orders_checks_only_the_contacts_that_it_shows(market: Market) -> None:
    """Few contacts are one page of a table: a scan would call the policy's function for each of them and each order."""
    await known_parties(market)
    await market.paid()
    await market.fetch_as_owner(
        "INSERT INTO user_contacts (user_id, contact_encrypted, sequence) "
        "SELECT gen_random_uuid(), '', 1 FROM generate_series(1, 12)"
    )
    await market.fetch_as_owner("ANALYZE user_contacts")
    caller = Caller(market.buyer_id, new_id(), permissions=permissions_of(["buyer"]))
    async with market.dependencies.database.unit_of_work(acting_as=caller) as uow:
        plan = [row[0] for row in await uow.fetch(f"EXPLAIN SELECT {ORDER_COLUMNS} FROM orders")]
    scans = [line for line in plan if "on user_contacts" in line]
    assert len(scans) == 2, plan
    assert all("Index Scan using user_contacts_pkey" in line for line in scans), plan


async def test_a_bare_select_shows_contacts_to_the_other_side_only(market: Market) -> None:
    await known_parties(market)
    order = await market.paid(hubId=await market.hub())

    async def seen_by(role, user_id=None, **claims):
        caller = Caller(user_id or new_id(), new_id(), permissions=permissions_of([role]), **claims)
        async with market.dependencies.database.unit_of_work(acting_as=caller) as uow:
            rows = await uow.fetch("SELECT user_id FROM user_contacts")
        return {row["user_id"] for row in rows}

    buyer, owner = market.buyer_id, market.merchant_id
    assert await seen_by("buyer", buyer) == {buyer, owner}
    assert await seen_by("merchant", owner, vendor_id=market.vendor_id) == {buyer, owner}
    assert await seen_by("hub_agent", hub_id=UUID(order["hubId"])) == {buyer}
    assert await seen_by("auditor") == {buyer, owner}
    for role, claims in (
        ("buyer", {}),
        ("merchant", {"vendor_id": new_id()}),
        ("hub_agent", {"campus_id": market.campus_id}),
    ):
        assert await seen_by(role, **claims) == set()
