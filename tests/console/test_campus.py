"""A campus admin: an application is read beside what is checked, approved, and the vendor appears."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest_asyncio

from contracts.demo import ADA, AKOKA_HUB, LAGOS
from operations.journey import Marketplace, SignedInUser
from tests.console.browser import Visitor
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import a_product

LAGOS_TIME = ZoneInfo("Africa/Lagos")
SCREENS = (
    "/vendor-applications",
    "/vendors",
    f"/vendors/{ADA.id}",
    "/campuses",
    f"/campuses/{LAGOS.id}",
    "/campus-sales",
    "/campus-sales?groupBy=day",
    "/campus-flash-sales",
    "/listings",
    "/product-takedowns",
    f"/hubs/{AKOKA_HUB.id}",
)


@pytest_asyncio.fixture(loop_scope="session")
async def campus_admin(users: Users) -> SignedInUser:
    return users.campus


async def applied(market: Marketplace, name: str) -> Any:
    """Return an application of a new student, whose description is hostile."""
    address = f"bisi.{uuid4().hex[:12]}@unilag.edu.ng"
    student = await market.sign_up(address, "Bisi Adewale", f"+234803{uuid4().int % 10**7:07d}")
    body = {
        "businessName": name,
        "legalName": "Bisi Adewale Foods",
        "campusId": str(LAGOS.id),
        "category": "food",
        "description": "<script>alert(1)</script> Small chops & cakes",
    }
    return {**await market.post("/api/vendor-applications", body, student), "address": address}


async def test_an_application_is_approved_and_the_vendor_appears(
    visitor: Arrival, market: Marketplace, campus_admin: SignedInUser
) -> None:
    name = f"Bisi {uuid4().hex[:8]}"
    application = await applied(market, name)
    one = await visitor(campus_admin)
    await one.open("/vendor-applications?awaiting=decision")
    await one.check_page()
    await one.click(name, "link")
    text = await one.text()
    assert application["address"] in text
    assert "<script>alert(1)</script> Small chops & cakes" in text
    assert await result_of(one, "The mail address is proven") == "in order"
    assert await result_of(one, "The legal name fits the person") == "in order"
    assert await result_of(one, "The applicant owns no vendor yet") == "in order"
    await one.check_page()
    await one.open_section("Approve")
    await one.click("Approve the application")
    assert (await one.notice()).startswith("The application is approved.")
    assert name in await one.heading()
    await one.check_page()
    await one.open("/vendors")
    listed = await market.get("/api/vendors", campus_admin, params={"status": "active", "limit": 100})
    assert name in [vendor["businessName"] for vendor in listed]
    await one.open(f"/vendor-applications/{application['id']}")
    assert await one.page.get_by_role("button", name="Approve the application").count() == 0


async def result_of(one: Visitor, check: str) -> str:
    """Return the result of a row of what is checked."""
    return await one.page.locator("tr", has_text=check).locator(".badge").inner_text()


async def test_a_name_in_use_is_shown_and_the_application_is_rejected_with_its_reason(
    visitor: Arrival, market: Marketplace, campus_admin: SignedInUser
) -> None:
    application = await applied(market, "ada's  KITCHEN")
    one = await visitor(campus_admin)
    await one.open(f"/vendor-applications/{application['id']}")
    assert await result_of(one, "No vendor has this business name") == "look at it"
    await one.open_section("Reject")
    await one.fill("Reason", "The name belongs to another vendor")
    await one.click("Reject the application")
    assert (await one.notice()).startswith("The application is rejected.")
    assert "The name belongs to another vendor" in await one.text()
    shown = await market.get(f"/api/vendor-applications/{application['id']}", campus_admin)
    assert (shown["status"], shown["reason"]) == ("rejected", "The name belongs to another vendor")


async def test_a_vendor_is_suspended_and_reinstated(
    visitor: Arrival, market: Marketplace, campus_admin: SignedInUser
) -> None:
    application = await applied(market, f"Bisi {uuid4().hex[:8]}")
    approved = await market.post(f"/api/vendor-applications/{application['id']}/approve", {}, campus_admin)
    one = await visitor(campus_admin)
    await one.open(f"/vendors/{approved['vendorId']}")
    await one.open_section("Suspend the vendor")
    await one.fill("Reason", "Sells nothing that was ordered")
    await one.click("Suspend the vendor")
    assert "Suspended: Sells nothing that was ordered" in await one.text()
    await one.open_section("Reinstate the vendor")
    await one.click("Reinstate the vendor")
    assert await one.notice() == "The vendor is active again."


async def test_a_hub_is_opened_and_its_fee_changed(
    visitor: Arrival, market: Marketplace, campus_admin: SignedInUser
) -> None:
    name = f"Hub {uuid4().hex[:8]}"
    one = await visitor(campus_admin)
    await one.open(f"/campuses/{LAGOS.id}")
    await one.open_section("Open a hub")
    await one.fill("Name of the hub", name)
    await one.fill("Address", "Behind the library")
    await one.fill("Delivery fee in naira", "much")
    await one.click("Open the hub")
    assert "write an amount in naira" in await one.text()
    assert await one.page.get_by_label("Name of the hub", exact=True).input_value() == name
    await one.fill("Delivery fee in naira", "250.50")
    await one.click("Open the hub")
    await one.click(name, "link")
    assert "₦250.50" in await one.text()
    await one.fill("Delivery fee in naira", "300")
    # A closed hub takes no order of another test.
    await one.page.get_by_label("Open for orders", exact=True).select_option("no")
    await one.click("Save the hub")
    assert "₦300.00" in await one.text()
    await one.check_page()


async def test_a_flash_sale_is_proposed_and_waits_for_the_vendor(visitor: Arrival, market: Marketplace) -> None:
    product = await a_product(market)
    one = await visitor("campus")
    await one.open(f"/campus-flash-sales/propose/{product['id']}")
    await one.fill("Price in naira", f"{product['priceMinor'] // 200}.00")
    await one.fill("Quantity", "1")
    starts = datetime.now(LAGOS_TIME) + timedelta(days=2)
    await one.fill("Starts", f"{starts:%Y-%m-%d}T08:00")
    await one.fill("Ends", f"{starts:%Y-%m-%d}T20:00")
    await one.check_page()
    await one.click("Propose the flash sale")
    text = await one.page.locator("body").inner_text()
    assert "waits for the vendor's consent" in text
    assert f"{starts:%-d %b %Y}, 08:00" in text
    await one.check_page()
    await one.open_section("End it")
    await one.click("End the flash sale")
    assert await one.notice() == "The flash sale is ended."


async def test_every_screen_of_the_campus_is_accessible(visitor: Arrival, campus_admin: SignedInUser) -> None:
    one = await visitor(campus_admin)
    for path in SCREENS:
        assert (await one.open(path)).status == 200, path
        await one.check_page()


async def test_no_other_user_opens_a_screen_of_the_campus(visitor: Arrival) -> None:
    one = await visitor("vendor")
    for path in SCREENS:
        assert (await one.fetch(path)).status == 403, path


async def test_a_product_is_delisted_with_a_reason_and_restored(
    visitor: Arrival, market: Marketplace, users: Users, campus_admin: SignedInUser
) -> None:
    name = f"Rice {uuid4().hex[:8]}"
    body = {"name": name, "description": "Jollof", "category": "meals", "priceMinor": 250_000, "stock": 5}
    product = await market.post("/api/products", body, users.vendor)
    one = await visitor(campus_admin)
    await one.open(f"/listings/{product['id']}")
    await one.check_page()
    await one.open_section("Take the product down")
    await one.fill("Reason", "The photo shows another product")
    await one.click("Take the product down")
    assert (await one.notice()).startswith("The product is taken down.")
    assert "The photo shows another product" in await one.text()
    await one.check_page()
    await one.open("/product-takedowns?open=true")
    assert product["name"] in await one.text()
    await one.check_page()
    await one.open(f"/listings/{product['id']}")
    await one.open_section("Restore the product")
    await one.fill("Note", "The photo is corrected")
    await one.click("Restore the product")
    assert (await one.notice()).startswith("The takedown is over.")
    listed = await market.get(f"/api/products/{product['id']}", users.buyer)
    assert listed["id"] == product["id"]


async def test_an_agent_of_a_hub_is_appointed(
    visitor: Arrival, market: Marketplace, campus_admin: SignedInUser
) -> None:
    address = f"agent.{uuid4().hex[:12]}@unilag.edu.ng"
    await market.sign_up(address, "Tolu Bello", f"+234803{uuid4().int % 10**7:07d}")
    one = await visitor(campus_admin)
    await one.open(f"/hubs/{AKOKA_HUB.id}")
    await one.check_page()
    await one.open_section("Appoint an agent")
    await one.fill("Mail address of the account", address)
    await one.page.get_by_label("Reason").first.fill("Works at the gate")
    await one.click("Appoint the agent")
    assert (await one.notice()).startswith("The agent is appointed.")
    assert address in await one.text()
    await one.check_page()
