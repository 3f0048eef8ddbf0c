"""Several people work for one shop: the owner's members, a manager's day, a packer's day (decisions 206, 214)."""

import re
from uuid import uuid4

from console.formats import naira
from operations.journey import Marketplace
from tests.console.browser import NARROW, Visitor
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import paid_order

AN_AMOUNT = re.compile("\N{NAIRA SIGN}|NGN|naira|kobo")


async def test_an_owner_invites_a_packer_and_removes_them(visitor: Arrival, market: Marketplace, users: Users) -> None:
    address = f"packer.{uuid4().hex}@unilag.edu.ng"
    # Members of other tests stay in the shop, some with a name like this one.
    name = f"Bisi {uuid4().hex[:8]}"
    student = await market.sign_up(address, name, f"+234803{uuid4().int % 10**7:07d}")
    owner = await visitor("vendor")
    await owner.open("/shop-members")
    await owner.fill("Mail address", address)
    await owner.click("Invite")
    assert await owner.notice() == f"{address} is invited for seven days."
    await owner.check_page()
    invited = await visitor(student)
    await invited.open("/")
    await invited.click("Answer the invitation", "link")
    await invited.check_page()
    await invited.click("Accept")
    assert "Sign in to start." in await invited.notice()
    packer = await visitor(await market.sign_in(address))
    await packer.open("/packing-orders")
    assert await packer.heading() == "To pack"
    await owner.open("/shop-members")
    assert address in await owner.text()
    await owner.open_section("Remove a member")
    await (
        owner.page.get_by_role("form", name="Remove a member")
        .get_by_label("Member")
        .select_option(label=f"{name} (packer)")
    )
    await owner.click("Remove the member")
    assert await owner.notice() == "The member is removed and signed out."

    async def is_signed_out() -> bool:
        await packer.open("/packing-orders")
        return await packer.heading() != "To pack"

    # The edge learns of the removal by an event.
    await market.until("the packer is signed out", is_signed_out, 30)


async def notice_of(one: Visitor, market: Marketplace, number: str) -> str:
    """Return the row of the notice that an order waits to be packed, once it is there."""

    async def row() -> str | None:
        await one.open("/notifications")
        rows = await one.page.get_by_role("row").all_inner_texts()
        return next((text for text in rows if number in text), None)

    return await market.until("the notice of the order", row, 60, every=1)


async def test_a_managers_day(visitor: Arrival, market: Marketplace, users: Users) -> None:
    """Invited, accepts, sees an order, hands it over, enters the PIN, counts the stock, and reaches no money."""
    address = f"manager.{uuid4().hex}@unilag.edu.ng"
    student = await market.sign_up(address, "Musa Idowu", f"+234803{uuid4().int % 10**7:07d}")
    owner, invited = await visitor("vendor"), await visitor(student)
    await owner.open("/shop-members")
    await owner.fill("Mail address", address)
    await owner.page.get_by_label("Role", exact=True).select_option("manager")
    await owner.click("Invite")
    await invited.open("/shop-invitations")
    assert "invited you as manager" in await invited.text()
    await invited.click("Accept")
    manager = await visitor(await market.sign_in(address))
    order = await paid_order(market, users, quantity=2)
    notice = await notice_of(manager, market, order["number"])
    assert notice.startswith("Order to pack")
    assert not AN_AMOUNT.search(notice)
    await manager.check_page()
    await manager.open(f"/orders?q={order['number']}")
    row = manager.page.get_by_role("row").filter(has_text=order["number"])
    [listed] = await row.all_inner_texts()
    assert naira(order["totalMinor"]) in listed
    assert "Chidi O." in listed
    await manager.page.get_by_role("link", name=order["number"]).click()
    assert naira(order["totalMinor"]) in await manager.text()
    await manager.click("Handed over")
    await manager.click("Enter the buyer's PIN", "link")
    await manager.fill("PIN of the buyer", await market.delivery_pin(users.buyer, order["id"]))
    await manager.click("Confirm the delivery")
    assert (await manager.notice()).startswith("The PIN is right.")
    for reader in (manager, owner):
        await reader.open(f"/orders/{order['id']}/fulfil")
        lines = await reader.page.locator(".timeline").inner_text()
        for line in (
            "Placed, by Chidi O. (the buyer)",
            "Dispatched, by Musa I. (the shop)",
            "Delivered: the PIN was accepted, by Musa I. (the shop)",
        ):
            assert line in lines
        await reader.check_page()
    await _counts_the_stock(manager, market, users)
    menu = await manager.page.get_by_role("navigation", name="Screens").inner_text()
    assert {"Wallet", "Payouts", "Bank details", "Members", "API keys"}.isdisjoint(menu.splitlines())
    for path in ("/wallet", "/wallet/payouts", "/wallet/statements", "/bank-details", "/shop-members", "/api-keys"):
        assert (await manager.open(path)).status == 403, path
        assert not AN_AMOUNT.search(await manager.text())
    shown = await market.http.get(f"/api/orders/{order['id']}/timeline", headers=users.buyer.headers)
    assert "Musa" not in shown.text


async def _counts_the_stock(manager: Visitor, market: Marketplace, users: Users) -> None:
    offered = {"name": f"Zobo {uuid4().hex[:6]}", "description": "Cold.", "category": "drinks", "priceMinor": 70_000}
    product = await market.post("/api/products", {**offered, "stock": 5}, users.vendor)
    await manager.open(f"/products/{product['id']}")
    await manager.fill("Counted stock", "12")
    await manager.click("Save the stock")
    assert await manager.notice() == "The stock is saved."
    assert (await market.get(f"/api/products/{product['id']}", users.vendor))["stock"] == 12


async def test_a_packers_day_on_a_phone_has_no_amount(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users)
    packer = await visitor(await market.sign_in("packer@unilag.edu.ng"))
    await packer.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    assert not AN_AMOUNT.search(await notice_of(packer, market, order["number"]))
    await packer.check_width()
    await packer.page.get_by_role("link", name="Order to pack").first.click()
    await packer.page.wait_for_url("**/packing-orders/*/deliver")
    await packer.open("/")
    assert "Orders to pack" in await packer.text()
    assert not AN_AMOUNT.search(await packer.page.content())
    await packer.open("/packing-orders")
    assert not AN_AMOUNT.search(await packer.text())
    await packer.check_page()
    await packer.page.get_by_role("form", name=f"Hand over {order['number']}").get_by_role("button").click()
    assert (await packer.notice()).startswith(f"{order['number']} is handed over.")
    await packer.open(f"/packing-orders/{order['id']}/deliver")
    await packer.check_page()
    await packer.fill("PIN of the buyer", await market.delivery_pin(users.buyer, order["id"]))
    await packer.click("Confirm the delivery")
    assert await packer.notice() == f"The PIN is right. {order['number']} is delivered."
    for path in ("/orders", "/wallet", "/payouts", "/sales", f"/orders/{order['id']}/fulfil"):
        assert (await packer.open(path)).status in (403, 404)
        assert not AN_AMOUNT.search(await packer.text())
